import FoundationEssentials
import Glibc
import Testing

/// Commands that somebody interrupts while they wait for others.
@Suite(.timeLimit(.minutes(2))) struct InterruptTests {
    /// A link to a box that does not exist.
    private var link: String {
        func text(_ byte: UInt8, _ count: Int) -> String {
            Data(repeating: byte, count: count).base64EncodedString().replacing("=", with: "")
                .replacing("+", with: "-").replacing("/", with: "_")
        }
        return "https://app.ftw.energy/p#v2.\(text(7, 32)).\(text(8, 16))..\(text(9, 32))"
    }

    @Test(arguments: [
        (["send", "garage", "control", "plan"], SIGINT), (["status"], SIGTERM), (["check"], SIGINT),
    ])
    func aCommandThatWaitsForTheBrokerEndsAtOnce(words: [String], number: Int32) async throws {
        let broker = try FakeBroker { _ in .silence }
        let program = Program(try TestFolder())
        try program.configure(broker: broker.port, relay: try Loopback.freePort())
        let run = try program.start(words)
        _ = try await eventually("a connection") { broker.levels.isEmpty ? nil : true }
        run.child.signal(number)
        #expect(try await run.child.ended(within: .seconds(5)) == 128 + number)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func aPairingThatWaitsForTheBoxEndsAtOnce(number: Int32) async throws {
        let program = Program(try TestFolder())
        try program.configure(broker: 1, relay: try Loopback.freePort())
        let run = try program.start(["pair", "-"], input: link + "\n")
        _ = try await eventually("what it waits for") { run.output.contains("relay") ? true : nil }
        run.child.signal(number)
        #expect(try await run.child.ended(within: .seconds(5)) == 128 + number)
    }
}
