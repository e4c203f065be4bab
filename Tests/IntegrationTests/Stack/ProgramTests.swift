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

/// The program itself, as processes: what it says, how it ends, what it leaves.
@Suite(.needsBroker, .timeLimit(.minutes(4))) struct ProgramTests {
    /// Everything that must not get out of a paired program.
    private func secrets(_ program: Program, link: String, password: String) throws -> Secrets {
        var secrets = Secrets()
        secrets.add("password", Array(password.utf8))
        let parts =
            link.split(separator: "#").last?.split(separator: ".", omittingEmptySubsequences: false) ?? []
        for (name, index) in [("code", 2), ("rendezvous secret", 4)] {
            secrets.add(name, try #require(Base64URLText.bytes(String(parts[index]))))
        }
        let record = try JSONValue(
            parsing: Array(Data(contentsOf: URL(filePath: "\(program.stateFolder)/pairing-home.json"))))
        let key = try #require(Self.find("private_key", in: record)?.stringValue)
        secrets.add("private key", try #require(Base64URLText.bytes(key)))
        return secrets
    }

    private static func find(_ name: String, in value: JSONValue) -> JSONValue? {
        if let found = value[name] { return found }
        return (value.objectValue ?? [:]).values.compactMap { find(name, in: $0) }.first
    }

    @Test func pairCheckRunStatusAndUnpairFromEndToEnd() async throws {
        let password = #"pa#ss@w%20:ö"'\ $x"#
        var options = Stage.Options()
        options.broker.users = [("bridge", password)]
        let stage = try await Stage(options)
        let program = Program(stage.folder)
        try program.configure(
            broker: stage.broker.port, relay: stage.relay.port, user: "bridge", password: password)
        var onlooker = stage.onlooker
        onlooker.credentials = .init(user: "bridge", password: password)
        func picture() async throws -> RetainedPicture {
            RetainedPicture(messages: try await TestClient.retained(onlooker))
        }

        let early = try await program.run(["check", "--offline"])
        // Not being paired yet is all that is wrong.
        #expect(early.code == 1, "\(early.output)")
        #expect(
            early.output.contains(
                "ok     state folder   \(program.stateFolder) is not there yet; ftw-mqtt pair"))
        #expect(early.output.contains("wrong  pairing        not paired"))
        mkdir(program.stateFolder, 0o755)
        chmod(program.stateFolder, 0o755)
        let open = try await program.run(["check"])
        #expect(open.code == 4)
        for line in [
            "wrong  state folder", "chmod 700", "ok     broker", "wrong  pairing        cannot be looked at",
        ] {
            #expect(open.output.contains(line), "\(line) is not in\n\(open.output)")
        }
        rmdir(program.stateFolder)
        let wrongLink = try await program.run(["pair", "-"], input: "https://app.ftw.energy/p#v2.xx\n")
        #expect(wrongLink.code == 2, "\(wrongLink.output)")

        let link = await stage.box.pairingLink()
        let paired = try await program.run(["pair", "-"], input: link + "\n")
        #expect(paired.code == 0, "\(paired.output)")
        #expect(paired.output.contains("Paired: Home (home)."))
        #expect(paired.output.contains("an owner"))
        let secrets = try secrets(program, link: link, password: password)
        let again = try await program.run(["pair", "-", "--seconds", "5"], input: link + "\n")
        #expect(again.code == 0 || again.code == 6 || again.code == 5, "\(again.output)")

        let check = try await program.run(["check"])
        #expect(check.code == 0, "\(check.output)")
        #expect(check.output.contains("MQTT 5.0"))

        let nobody = try await program.run(["status"])
        #expect(nobody.code == 1)
        #expect(nobody.output.contains("is the bridge running?"))

        let daemon = try program.start(["run"])
        let live = try await stage.eventually("a live house") {
            let now = try await picture()
            return now.isLive ? now : nil
        }
        let second = try await program.run(["run"])
        #expect(second.code == 4, "\(second.output)")

        let status = try await program.run(["status"])
        #expect(status.code == 0, "\(status.output)")
        #expect(status.output.contains("Connected to the box."))
        #expect(status.output.contains("exported") || status.output.contains("imported"))
        let running = try await program.run(["check"])
        #expect(running.code == 0, "\(running.output)")
        #expect(running.output.contains("the running bridge"))

        daemon.child.signal(SIGTERM)
        #expect(try await daemon.child.ended() == 0)
        let left = try await picture()
        #expect(left.text("bridge/availability") == "offline")
        #expect(left.document("power")?["live"] == false)
        let asleep = try await program.run(["status"])
        #expect(asleep.code == 1)
        #expect(asleep.output.contains("not live"))

        let unsure = try await program.run(["unpair", "home"])
        #expect(unsure.code == 1)
        #expect(try await picture().paths == live.paths)
        let gone = try await program.run(["unpair", "home", "--yes"])
        #expect(gone.code == 0, "\(gone.output)")
        #expect(try await picture().messages.filter { !$0.key.hasPrefix("test/") }.isEmpty)
        #expect(access("\(program.stateFolder)/pairing-home.json", F_OK) != 0)
        let forgotten = try await program.run(["unpair", "home", "--yes"])
        #expect(forgotten.code == 1)

        let outputs = try FileManager.default.contentsOfDirectory(atPath: stage.folder.path)
            .filter { $0.hasPrefix("output-") }
        #expect(outputs.count >= 10)
        for name in outputs {
            #expect(secrets.found(in: stage.folder.read(name)) == [], "\(name)")
        }
        #expect(live.contains(secrets) == [])
        #expect(left.contains(secrets) == [])
        await stage.close()
    }

    @Test func aWrongPasswordIsInNoOutputOfAnyVerb() async throws {
        let password = "n0t-the-right-one-ö#%"
        var options = Stage.Options()
        options.broker.users = [("bridge", "right")]
        let stage = try await Stage(options)
        let program = Program(stage.folder)
        try program.configure(
            broker: stage.broker.port, relay: stage.relay.port, user: "bridge", password: password)
        let link = await stage.box.pairingLink()
        #expect(try await program.run(["pair", "-"], input: link + "\n").code == 0)
        let secrets = try secrets(program, link: link, password: password)
        let check = try await program.run(["check"])
        #expect(check.code == 5, "\(check.output)")
        #expect(check.output.contains("user name"))
        let daemon = try program.start(["run"])
        _ = try await stage.eventually("the daemon to say what is wrong") {
            daemon.output.contains("user name") ? true : nil
        }
        // Not by a crash either.
        daemon.child.signal(SIGABRT)
        #expect(try await daemon.child.ended() == -SIGABRT)
        #expect(secrets.found(in: daemon.output + check.output) == [])
        await stage.close()
    }

    @Test func anAbruptDeathLeavesTheWillAndTheNextStartTakesItBack() async throws {
        let stage = try await Stage()
        let program = Program(stage.folder)
        try program.configure(broker: stage.broker.port, relay: stage.relay.port)
        let link = await stage.box.pairingLink()
        #expect(try await program.run(["pair", "-"], input: link + "\n").code == 0)
        let first = try program.start(["run"])
        let cold = try await stage.settled()
        // The picture is saved some seconds after the first values.
        _ = try await stage.eventually("the picture on disk") {
            access("\(program.stateFolder)/memory-home.picture.json", F_OK) == 0 ? true : nil
        }
        first.child.signal(SIGKILL)
        #expect(try await first.child.ended() == -SIGKILL)
        let dead = try await stage.picture("the will") { $0.text("bridge/availability") == "offline" }
        let will = try #require(dead.messages["ftw/home/bridge/availability"])
        #expect(will.retained && will.qos == .atLeastOnce && will.expirySeconds == nil)

        await stage.relay.stop()
        let second = try program.start(["run"])
        let known = try await stage.picture("the last known picture") {
            $0.text("bridge/availability") == "online" && $0.document("power")?["live"] == false
        }
        #expect(known.document("power")?["grid"] == cold.document("power")?["grid"])
        #expect(known.document("power")?["at"]?.stringValue != nil)
        #expect(known.text("box/availability") == "offline")
        try await stage.relay.start()
        try await stage.becomes(cold, after: "kill -9 and a start")

        // Frozen for longer than the broker waits, then thawed: the will, then the birth again.
        second.child.signal(SIGTERM)
        #expect(try await second.child.ended() == 0)
        await stage.close()
    }

    @Test func theDemoReachesAKnownSetOfTopics() async throws {
        let broker = try TestBroker()
        let program = Program(try TestFolder())
        let demo = try program.start(
            ["demo", "--broker", "127.0.0.1:\(broker.port)", "--seconds", "120", "--plain"],
            configured: false)
        let expected: Set = [
            "bridge/availability", "bridge/info", "bridge/health", "box/availability", "box/link", "power",
            "battery", "control", "mode", "source/grid-meter", "source/grid-meter/availability",
            "source/roof-pv", "source/roof-pv/availability", "source/house-battery",
            "source/house-battery/availability", "source/garage-charger",
            "source/garage-charger/availability",
        ]
        let onlooker = broker.settings(clientID: "onlooker")
        let picture = try await eventually("the topics of the demo") {
            let picture = RetainedPicture(messages: try await TestClient.retained(onlooker))
            return picture.isLive && picture.paths.isSuperset(of: expected) ? picture : nil
        }
        #expect(picture.discovery.count >= 2)
        // Whoever tries the demo gave the consent that its box wants for goals.
        let asker = try await TestClient.subscribed(onlooker, to: ["ftw/home/result"])
        asker.client.publish(Message("ftw/home/car/garage/goal/set", #"{"level":73,"by":"07:00"}"#))
        _ = try await eventually("the goal of the demo") {
            let picture = RetainedPicture(messages: try await TestClient.retained(onlooker))
            return picture.document("car/garage/goal")?["level"] == 73 ? true : nil
        }
        await asker.close()
        demo.child.signal(SIGINT)
        #expect(try await demo.child.ended() == 0)
        // Somebody's own broker is left as it was.
        let left = try await TestClient.retained(onlooker).keys.filter { !$0.hasPrefix("test/") }
        #expect(left == [])
        #expect(demo.output.contains("topics and entities were cleared on 127.0.0.1:\(broker.port)."))
        #expect(demo.output.contains("Demo ended."))
        #expect(demo.output.contains("power"))
    }

    @Test func theDemoBringsItsOwnBrokerAndEndsByItself() async throws {
        let program = Program(try TestFolder())
        let demo = try await program.run(["demo", "--seconds", "4", "--plain"], configured: false)
        #expect(demo.code == 0, "\(demo.output)")
        #expect(demo.output.contains("mosquitto, started for this demo"))
        #expect(demo.output.contains("bridge/availability"))
    }
}

/// base64url without padding (RFC 4648 §5), for reading what tests find.
enum Base64URLText {
    static func bytes(_ text: String) -> [UInt8]? {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        return Data(base64Encoded: standard + padding).map(Array.init)
    }
}
