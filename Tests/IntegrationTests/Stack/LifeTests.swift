import Ambient
import BoxLink
import BoxSession
import BoxSimulator
import Configuration
import EnergyModel
import FoundationEssentials
import JSONText
import MQTTClient
import MQTTTypes
import Persistence
import Testing

/// The bridge's own coming and going, as the broker keeps it.
@Suite(.needsBroker, .timeLimit(.minutes(4))) struct LifeTests {
    @Test func aStartShowsTheLastKnownPictureDatedAndNotLive() async throws {
        let stage = try await Stage()
        let first = try stage.bridge()
        let cold = try await stage.settled()
        await first.stop()
        let left = try await stage.picture()
        #expect(left.text("bridge/availability") == "offline")
        #expect(left.text("box/availability") == "offline")
        #expect(left.document("power")?["live"] == false)
        #expect(left.document("control")?["in_control"] == .null)
        for path in cold.paths where path.hasSuffix("/availability") {
            #expect(left.text(path) == "offline", "\(path)")
        }
        // A box that cannot be reached, and a broker that forgot: all there is, is the memory.
        try stage.broker.restart()
        await stage.relay.stop()
        let second = try stage.bridge()
        let known = try await stage.picture("the last known picture") {
            $0.text("bridge/availability") == "online"
        }
        for member in ["grid", "solar", "battery", "car", "house"] {
            #expect(
                known.document("power")?[member] == cold.document("power")?[member], "\(member)")
        }
        let at = try #require(known.document("power")?["at"]?.stringValue)
        #expect(at <= left.document("power")?["at"]?.stringValue ?? "")
        #expect(known.document("power")?["live"] == false)
        #expect(known.document("battery")?["live"] == false)
        #expect(known.document("battery")?["level"] == cold.document("battery")?["level"])
        #expect(known.document("mode")?["live"] == false)
        #expect(known.document("mode")?["key"] == cold.document("mode")?["key"])
        #expect(known.document("control")?["in_control"] == .null)
        #expect(known.text("box/availability") == "offline")
        #expect(known.text("source/grid-meter/availability") == "offline")
        #expect(known.discovery == cold.discovery)
        try await stage.relay.start()
        try await stage.becomes(cold, after: "a start from memory")
        await second.stop()
        await stage.close()
    }

    @Test func birthGoodbyeAndWillAreOneTopicWithTheSameFlags() async throws {
        let stage = try await Stage()
        let wire = try TestWire(to: stage.broker.port)
        defer { wire.stop() }
        let watcher = try await TestClient.subscribed(
            stage.onlooker, to: ["ftw/home/bridge/availability"])
        let bridge = try stage.bridge { $0.mqtt.portWritten = wire.port }
        _ = try await stage.settled()
        // The path breaks without a goodbye: the broker says it for us, and we take it back.
        for round in 1...3 {
            wire.cut()
            _ = try await stage.eventually("will and birth, round \(round)") {
                let texts = Self.texts(watcher)
                return texts.count >= 2 * round + 1 && texts.last == "online" ? true : nil
            }
            try await live(on: bridge, stage)
        }
        #expect(Self.texts(watcher).filter { $0 == "offline" }.count == 3)
        let born = try await stage.picture("the birth") { $0.text("bridge/availability") == "online" }
        await bridge.stop()
        let gone = try await stage.picture("the goodbye") { $0.text("bridge/availability") == "offline" }
        let topic = "ftw/home/bridge/availability"
        let birth = try #require(born.messages[topic])
        let goodbye = try #require(gone.messages[topic])
        #expect(birth.retained && goodbye.retained)
        #expect(birth.qos == .atLeastOnce && goodbye.qos == .atLeastOnce)
        // The birth ends by itself with a broker that dies with us; the goodbye stays.
        #expect((1...180).contains(birth.expirySeconds ?? 0))
        #expect(goodbye.expirySeconds == nil)
        await watcher.close()
        await stage.close()
    }

    /// Lets a connection stand for some beats of the box: four that end at once,
    /// one after the other, are taken for a quarrel over the client id.
    private func live(on bridge: RunningBridge, _ stage: Stage) async throws {
        let frames = await bridge.session.counters().frames
        _ = try await stage.eventually("some beats") {
            await bridge.session.counters().frames > frames + 2 ? true : nil
        }
    }

    private static func texts(_ client: TestClient) -> [String] {
        client.seen.compactMap { if case .message(let message) = $0 { message.text } else { nil } }
    }

    @Test func everyCutIsFollowedByAWholePicture() async throws {
        let stage = try await Stage()
        let wire = try TestWire(to: stage.broker.port)
        defer { wire.stop() }
        let bridge = try stage.bridge { $0.mqtt.portWritten = wire.port }
        let cold = try await stage.settled()
        for round in 1...8 {
            let connects = bridge.client.counters().connects
            wire.cut()
            _ = try await stage.eventually("a connection after cut \(round)") {
                bridge.client.counters().connects > connects ? true : nil
            }
            try await stage.becomes(cold, after: "cut \(round)")
            try await live(on: bridge, stage)
        }
        // The box never noticed: the relay saw its socket and ours, and no other.
        #expect(stage.relay.counters.opened == 2)
        await bridge.stop()
        await stage.close()
    }

    @Test func aFrozenBrokerCostsNothingAndGetsOnlyTheNewest() async throws {
        let stage = try await Stage()
        let wire = try TestWire(to: stage.broker.port)
        defer { wire.stop() }
        let bridge = try stage.bridge { settings in
            settings.mqtt.portWritten = wire.port
            settings.mqtt.keepAliveSeconds = 5
            settings.mqtt.rate = .fast
        }
        let cold = try await stage.settled()
        wire.freeze()
        let before = await bridge.session.counters()
        for round in 0..<8 {
            await stage.box.setSource("roof-pv", round % 2 == 0 ? .offline : .answering)
            try await Task.sleep(for: .milliseconds(400))
        }
        _ = try await stage.eventually("frames of the box while the broker is frozen") {
            await bridge.session.counters().frames > before.frames + 5 ? true : nil
        }
        #expect(await bridge.session.counters().sessions == before.sessions)
        wire.thaw()
        try await stage.becomes(cold, after: "a frozen broker")
        #expect(bridge.client.counters().queueHighWater < 200)
        await bridge.stop()
        await stage.close()
    }

    @Test(arguments: [2_048, 20_000])
    func aBrokerThatTakesOnlySmallPacketsGetsAllInPiecesThatFit(_ limit: Int) async throws {
        var options = Stage.Options()
        options.broker.maximumPacketBytes = limit
        let stage = try await Stage(options)
        let bridge = try stage.bridge()
        let picture = try await stage.settled()
        #expect(picture.document("power")?["live"] == true)
        #expect(bridge.client.counters().connects == 1)
        // The same entities as anywhere, whole devices or one by one.
        let wide = try await Stage()
        let wideBridge = try wide.bridge()
        let expected = try await wide.picture("every device") {
            $0.isLive && $0.discovery.count == RetainedPicture.announcements
        }
        func entities(_ picture: RetainedPicture) -> Set<String> {
            Set(
                picture.discovery.values.flatMap { document -> [String] in
                    let parts = (document["components"] ?? document["cmps"])?.objectValue
                    return (parts.map { Array($0.values) } ?? [document]).compactMap {
                        ($0["default_entity_id"] ?? $0["def_ent_id"])?.stringValue
                    }
                })
        }
        try await stage.picture("the same entities") { entities($0) == entities(expected) }
        let leftOut = stage.lines.containing("left out")
        #expect(!leftOut.contains { $0.contains("homeassistant/") }, "\(leftOut)")
        await wideBridge.stop()
        await wide.close()
        await bridge.stop()
        await stage.close()
    }

    @Test func itStartsWithoutBrokerRelayAndBoxAndServesThemAsTheyCome() async throws {
        var options = Stage.Options()
        options.boxIsThere = false
        let stage = try await Stage(options)
        stage.broker.stop()
        await stage.relay.stop()
        let bridge = try stage.bridge()
        try await stage.line("cannot be reached")
        try stage.broker.start()
        let alone = try await stage.picture("the broker") {
            $0.document("box/link")?["reason"] == "relay_unreachable"
        }
        #expect(alone.text("bridge/availability") == "online")
        #expect(alone.document("box/link")?["state"] == "connecting")
        // Nothing is known, and nothing is said to be zero.
        for member in ["grid", "solar", "battery", "car", "house", "at"] {
            #expect(alone.document("power")?[member] == .null, "\(member)")
        }
        #expect(alone.document("battery")?["level"] == .null)
        try await stage.relay.start()
        try await stage.picture("the relay") { $0.document("box/link")?["reason"] == "box_away" }
        stage.sendInBox()
        let picture = try await stage.settled()
        #expect(picture.document("box/link")?["state"] == "live")
        await bridge.stop()
        await stage.close()
    }

    @Test func homeAssistantsBirthIsAnsweredWithEverything() async throws {
        let stage = try await Stage()
        let bridge = try stage.bridge()
        let cold = try await stage.settled()
        // Somebody wipes the broker under us; nothing of ours changes, so nothing would be sent.
        let wiper = TestClient(stage.onlooker)
        try await wiper.connected()
        for topic in cold.messages.keys where topic.hasPrefix("homeassistant/") {
            wiper.client.publish(Message(topic, [], retained: true))
        }
        wiper.client.publish(Message("homeassistant/status", "online"))
        await wiper.client.drain(limit: .seconds(10))
        try await stage.becomes(cold, after: "Home Assistant's birth")
        await wiper.close()
        await bridge.stop()
        await stage.close()
    }
}
