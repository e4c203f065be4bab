import FoundationEssentials
import Glibc
import JSONText
import Testing

/// The demo as a process whose house is steered from its standard input.
@Suite(.needsBroker, .timeLimit(.minutes(3))) struct ConsoleTests {
    /// The lines that are answers.
    private func answers(_ run: Program.Run) -> [String] {
        run.output.split(separator: "\n").map(String.init).filter { $0.hasPrefix("= ") || $0.hasPrefix("! ") }
    }

    @Test func eachLineIsAnsweredByOneAndTheBridgeShowsIt() async throws {
        let broker = try TestBroker()
        let program = Program(try TestFolder())
        let lines = [
            "# a remark", "", "where", "car situation car_live 61", "phone hold pause", "nonsense",
            "prices today 5", "prices today 1 2", "box restart", "state",
        ]
        let demo = try program.start(
            [
                "demo", "--broker", "127.0.0.1:\(broker.port)", "--console", "--no-print", "--plain",
                "--start",
                "2026-10-25T00:30:00+02:00",
            ], input: lines.joined(separator: "\n"), configured: false)
        let onlooker = broker.settings(clientID: "onlooker")
        let picture = try await eventually("the house as it was arranged") {
            let picture = RetainedPicture(messages: try await TestClient.retained(onlooker))
            let isSo =
                picture.isLive && picture.document("car/garage/level")?["level"] == 61
                && picture.text("car/garage/control") == "paused"
                && picture.document("price/now")?["spot"]?.doubleValue == 0.05
            return isSo ? picture : nil
        }
        #expect(picture.document("price/now")?["start"] == "2026-10-25T00:30:00+02:00")
        let said = answers(demo)
        #expect(said.count == 8, "\(said)")
        #expect(said.map { $0.prefix(2) } == ["= ", "= ", "= ", "! ", "= ", "! ", "= ", "= "])
        #expect(said[1].hasPrefix("= garage: plugged in, 61 % confirmed"))
        #expect(said[4].hasSuffix("; a bridge reads prices again after box restart"))
        #expect(said[5] == "! today takes 1, 25 or 100 values, not 2")
        let truth = try JSONValue(parsing: String(said[7].dropFirst(2)))
        #expect(truth["cars"]?[0]?["hold"]?["power_w"]?.doubleValue == 0)
        // The input ended long ago, and the demo goes on.
        demo.child.signal(SIGTERM)
        #expect(try await demo.child.ended() == 0)
        #expect(demo.output.contains("Demo ended."))
    }

    @Test func aHouseAloneIsJoinedByBridgesAndComesBackAsTheSame() async throws {
        let broker = try TestBroker()
        let program = Program(try TestFolder())
        let port = try Loopback.freePort()
        try program.configure(broker: broker.port, relay: port)
        func house(_ input: String) throws -> Program.Run {
            try program.start(
                [
                    "demo", "--broker", "127.0.0.1:\(broker.port)", "--console", "--no-bridge", "--no-print",
                    "--relay-port", "\(port)", "--state", "\(program.folder.path)/box.json",
                ], input: input, configured: false)
        }
        let first = try house("link\n")
        let link = try await eventually("a link") { answers(first).first.map { String($0.dropFirst(2)) } }
        let paired = try await program.run(["pair", "-"], input: link + "\n")
        #expect(paired.code == 0, "\(paired.output)")
        let bridge = try program.start(["run"])
        let onlooker = broker.settings(clientID: "onlooker")
        func picture(_ what: String, _ isSo: (RetainedPicture) -> Bool) async throws {
            _ = try await eventually(what) {
                isSo(RetainedPicture(messages: try await TestClient.retained(onlooker))) ? true : nil
            }
        }
        try await picture("a live house", \.isLive)
        first.child.signal(SIGKILL)
        #expect(try await first.child.ended() == -SIGKILL)
        try await picture("no box") { $0.text("box/availability") == "offline" }
        let second = try house("car unplug\n")
        try await picture("the same box again") { $0.isLive }
        try await picture("its car away") { $0.document("car/garage/level")?["unplugged"] == true }
        for run in [bridge, second] {
            run.child.signal(SIGTERM)
            #expect(try await run.child.ended() == 0)
        }
    }
}
