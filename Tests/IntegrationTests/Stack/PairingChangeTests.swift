import BoxSimulator
import FoundationEssentials
import Glibc
import JSONText
import MQTTClient
import MQTTTypes
import Testing

/// What a running daemon makes of a pairing that is taken away or made again.
@Suite(.needsBroker, .timeLimit(.minutes(4))) struct PairingChangeTests {
    private func pair(_ program: Program, _ stage: Stage) async throws {
        let pair = try await program.run(["pair", "-"], input: await stage.box.pairingLink() + "\n")
        guard pair.code == 0 else { throw TestSetupError("not paired: \(pair.output)") }
    }

    private func started(_ stage: Stage) async throws -> (Program, Program.Run) {
        let program = Program(stage.folder)
        try program.configure(broker: stage.broker.port, relay: stage.relay.port)
        try await pair(program, stage)
        let daemon = try program.start(["run"])
        _ = try await stage.settled()
        return (program, daemon)
    }

    private func ours(_ stage: Stage) async throws -> [String] {
        try await stage.picture().messages.keys.filter { !$0.hasPrefix("test/") }.sorted()
    }

    @Test func unpairingWhileItRunsClearsEverythingForGood() async throws {
        let stage = try await Stage()
        let (program, daemon) = try await started(stage)
        // A command leaves a topic that was not there before.
        let asker = try await TestClient.subscribed(stage.onlooker, to: ["ftw/home/result"])
        asker.client.publish(Message("ftw/home/car/garage/control/set", #"{"value":"charge_now"}"#))
        try await stage.picture("the last command") { $0.text("car/garage/last_command") != nil }
        await asker.close()

        let gone = try await program.run(["unpair", "home", "--yes"])
        #expect(gone.code == 0, "\(gone.output)")
        #expect(try await ours(stage) == [])
        #expect(daemon.output.contains("its pairing was removed"))
        let check = try await program.run(["check"])
        #expect(check.code == 1 && check.output.contains("not paired"), "\(check.output)")
        #expect(try await ours(stage) == [])
        #expect(!daemon.output.contains("is put back"))

        // The same daemon shows the house that is paired next.
        try await pair(program, stage)
        _ = try await stage.settled()
        #expect(try await program.run(["unpair", "home", "--yes"]).code == 0)
        daemon.child.signal(SIGTERM)
        #expect(try await daemon.child.ended() == 0)
        #expect(try await ours(stage) == [])
        await stage.close()
    }

    @Test func aBridgeThatWasRemovedIsToldSoAndComesBackWhenPairedAgain() async throws {
        let stage = try await Stage()
        let (program, daemon) = try await started(stage)
        let well = try await program.run(["check"])
        #expect(well.code == 0 && well.output.contains("Connected to the box."), "\(well.output)")
        await stage.box.revokeAll()
        try await stage.picture("the removal") { $0.document("box/link")?["state"] == "revoked" }
        let check = try await program.run(["check"])
        #expect(check.code == 6, "\(check.output)")
        #expect(check.output.contains("The box removed this bridge; pair again."))
        #expect(check.output.contains("ftw-mqtt pair - --site home"))
        let status = try await program.run(["status"])
        #expect(status.output.contains("not live, last answered "), "\(status.output)")
        try await pair(program, stage)
        _ = try await stage.settled()
        daemon.child.signal(SIGTERM)
        #expect(try await daemon.child.ended() == 0)
        await stage.close()
    }

    @Test func aPairingThatCannotBeReadKeepsItsEntitiesAndComesBack() async throws {
        let stage = try await Stage()
        let (program, first) = try await started(stage)
        func announced() async throws -> [String] {
            try await stage.picture().messages.keys.filter { $0.hasPrefix("homeassistant/") }.sorted()
        }
        let before = try await announced()
        #expect(!before.isEmpty)
        first.child.signal(SIGTERM)
        #expect(try await first.child.ended() == 0)

        let file = "\(program.stateFolder)/pairing-home.json"
        chmod(file, 0o644)
        let daemon = try program.start(["run"])
        let picture = try await stage.picture("what is wrong") {
            $0.document("box/link")?["reason"] == "pairing_unreadable"
        }
        #expect(picture.document("box/link")?["state"] == "unpaired")
        #expect(try await announced() == before)
        #expect(daemon.output.contains("run: chmod 600 \(file)"), "\(daemon.output)")
        let check = try await program.run(["check"])
        #expect(check.code == 4 && check.output.contains("run: chmod 600 \(file)"), "\(check.output)")
        let status = try await program.run(["status"])
        #expect(status.output.contains("cannot be read; ftw-mqtt check says"), "\(status.output)")

        chmod(file, 0o600)
        _ = try await stage.settled()
        #expect(try await announced() == before)
        // A session that works needs no file.
        chmod(file, 0o644)
        _ = try await stage.eventually("a word about it") {
            daemon.output.contains("It runs on with what it has read") ? true : nil
        }
        #expect(try await stage.picture().isLive)
        daemon.child.signal(SIGTERM)
        #expect(try await daemon.child.ended() == 0)
        await stage.close()
    }

    @Test func aPairingThatWasKilledIsTakenUpByTheDaemonOrByTheSameLink() async throws {
        var options = Stage.Options()
        options.boxIsThere = false
        let stage = try await Stage(options)
        let program = Program(stage.folder)
        try program.configure(broker: stage.broker.port, relay: stage.relay.port)
        let draft = "\(program.stateFolder)/pairing-home.new.json"
        let link = await stage.box.pairingLink() + "\n"
        func key() throws -> JSONValue? {
            let document = try JSONValue(parsing: Array(Data(contentsOf: URL(filePath: draft))))
            return document["body"]?["private_key"]
        }
        func killed() async throws -> JSONValue? {
            let pair = try program.start(["pair", "-"], input: link)
            // It waits for a box that is not there; key and code are written down before.
            _ = try await stage.eventually("what it waits for") { pair.output.isEmpty ? nil : true }
            let key = try key()
            pair.child.signal(SIGKILL)
            #expect(try await pair.child.ended() == -SIGKILL)
            return key
        }
        let first = try await killed()
        #expect(first != nil)
        #expect(try await killed() == first)
        let check = try await program.run(["check", "--offline"])
        #expect(check.code == 1 && check.output.contains("begun"), "\(check.output)")

        stage.sendInBox()
        let daemon = try program.start(["run"])
        _ = try await stage.settled()
        #expect(access(draft, F_OK) != 0)
        daemon.child.signal(SIGTERM)
        #expect(try await daemon.child.ended() == 0)
        await stage.close()
    }
}
