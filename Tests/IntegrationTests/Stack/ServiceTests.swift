import Ambient
import BoxLink
import BoxSession
import BoxSimulator
import Configuration
import EnergyModel
import FoundationEssentials
import Glibc
import JSONText
import MQTTClient
import MQTTTypes
import Persistence
import Testing

/// The daemon under a service manager.
@Suite(.needsBroker, .timeLimit(.minutes(4))) struct ServiceTests {
    /// Paired, configured, not started.
    private func program(_ stage: Stage) async throws -> Program {
        let program = Program(stage.folder)
        try program.configure(broker: stage.broker.port, relay: stage.relay.port)
        let link = await stage.box.pairingLink()
        let pair = try await program.run(["pair", "-"], input: link + "\n")
        guard pair.code == 0 else { throw TestSetupError("not paired: \(pair.output)") }
        return program
    }

    @Test func itIsReadyBeforeTheBrokerAndFeedsTheWatchdog() async throws {
        let stage = try await Stage()
        let program = try await program(stage)
        stage.broker.stop()
        await stage.relay.stop()
        let notify = try NotifySocket(in: stage.folder)
        let daemon = try program.start(
            ["run"], variables: ["NOTIFY_SOCKET": notify.path, "WATCHDOG_USEC": "1000000"])
        _ = try await stage.eventually("READY=1 without a broker") {
            notify.lines().contains("READY=1") ? true : nil
        }
        _ = try await stage.eventually("signs of life without a broker") {
            notify.lines().filter { $0 == "WATCHDOG=1" }.count >= 3 ? true : nil
        }
        // The journal's form, as nobody named a journal and a service manager waits.
        #expect(daemon.output.hasPrefix("<5>"))
        try stage.broker.start()
        try await stage.relay.start()
        _ = try await stage.settled()
        let pings = notify.lines().filter { $0 == "WATCHDOG=1" }.count
        _ = try await stage.eventually("signs of life at work") {
            notify.lines().filter { $0 == "WATCHDOG=1" }.count >= pings + 3 ? true : nil
        }
        // A process that stands still gives none.
        daemon.child.signal(SIGSTOP)
        try await Task.sleep(for: .milliseconds(300))
        let frozen = notify.lines().count
        try await Task.sleep(for: .seconds(2))
        #expect(notify.lines().count == frozen)
        daemon.child.signal(SIGCONT)
        _ = try await stage.eventually("signs of life again") { notify.lines().count > frozen ? true : nil }
        #expect(!notify.lines().contains("STOPPING=1"))
        daemon.child.signal(SIGTERM)
        #expect(try await daemon.child.ended() == 0)
        #expect(notify.lines().last { $0 != "WATCHDOG=1" } == "STOPPING=1")
        #expect(notify.lines().filter { $0 == "READY=1" }.count == 1)
        await stage.close()
    }

    @Test func itSaysGoodbyeInOrder() async throws {
        let stage = try await Stage()
        let program = try await program(stage)
        let daemon = try program.start(["run"])
        _ = try await stage.settled()
        let watcher = try await TestClient.subscribed(stage.onlooker, to: ["ftw/#"])
        daemon.child.signal(SIGTERM)
        #expect(try await daemon.child.ended() == 0)
        _ = try await stage.eventually("the goodbye") {
            Self.news(watcher).last?.text == "offline" ? true : nil
        }
        let news = Self.news(watcher)
        let last = try #require(news.last)
        #expect(last.topic == "ftw/home/bridge/availability")
        let power = try #require(news.last { $0.topic == "ftw/home/power" })
        #expect(try JSONValue(parsing: power.payload)["live"] == false)
        #expect(news.contains { $0.topic == "ftw/home/box/availability" && $0.text == "offline" })
        // Our own word, and not a second one from the broker.
        #expect(news.filter { $0.topic == last.topic && $0.text == "offline" }.count == 1)
        #expect(daemon.output.contains("stopping"))
        await watcher.close()
        await stage.close()
    }

    private static func news(_ client: TestClient) -> [Message] {
        client.seen.compactMap {
            if case .message(let message) = $0, !message.retained { message } else { nil }
        }
    }

    @Test func aReloadTakesOverWhatItCanAndSaysTheRest() async throws {
        let stage = try await Stage()
        let program = try await program(stage)
        let daemon = try program.start(["run"])
        _ = try await stage.settled()
        func reload(_ words: String) async throws {
            daemon.child.signal(SIGHUP)
            _ = try await stage.eventually("\(words) in the log") {
                daemon.output.contains(words) ? true : nil
            }
        }
        try await reload("nothing changed")
        try program.configure(
            broker: stage.broker.port, relay: stage.relay.port, more: "read_only: true\nlanguage: sv\n")
        try await reload("taken over: read_only")
        #expect(daemon.output.contains("only after a restart: language"))
        // What is said to be taken over has its effect.
        try await stage.picture("a house that takes no commands") {
            $0.isLive && $0.text("car/garage/commands/availability") == "offline"
        }
        try program.configure(
            broker: stage.broker.port, relay: stage.relay.port, more: "langauge: sv\n")
        try await reload("the old one stays in force")
        #expect(daemon.output.contains("langauge"))
        #expect(daemon.output.contains("language"))
        _ = try await stage.settled()
        daemon.child.signal(SIGTERM)
        #expect(try await daemon.child.ended() == 0)
        await stage.close()
    }

    @Test func aPairingMadeWhileItRunsIsNoticed() async throws {
        let stage = try await Stage()
        let program = Program(stage.folder)
        try program.configure(broker: stage.broker.port, relay: stage.relay.port)
        let daemon = try program.start(["run"])
        try await stage.picture("a site without a box") {
            $0.document("box/link")?["state"] == "unpaired" && $0.text("bridge/availability") == "online"
        }
        let link = await stage.box.pairingLink()
        let pair = try await program.run(["pair", "-"], input: link + "\n")
        #expect(pair.code == 0, "\(pair.output)")
        _ = try await stage.settled()
        daemon.child.signal(SIGTERM)
        #expect(try await daemon.child.ended() == 0)
        await stage.close()
    }

    @Test func aFreezeLongerThanTheBrokerWaitsEndsWithOnline() async throws {
        let stage = try await Stage()
        let program = Program(stage.folder)
        try program.configure(
            broker: stage.broker.port, relay: stage.relay.port, more: "  keep_alive_s: 5\n")
        let link = await stage.box.pairingLink()
        #expect(try await program.run(["pair", "-"], input: link + "\n").code == 0)
        let daemon = try program.start(["run"])
        let cold = try await stage.settled()
        daemon.child.signal(SIGSTOP)
        try await stage.picture("the will") { $0.text("bridge/availability") == "offline" }
        daemon.child.signal(SIGCONT)
        try await stage.becomes(cold, after: "a freeze")
        daemon.child.signal(SIGTERM)
        #expect(try await daemon.child.ended() == 0)
        await stage.close()
    }
}
