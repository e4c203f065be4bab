import MQTTClient
import MQTTTypes
import Testing

@Suite(.needsBroker, .timeLimit(.minutes(2))) struct SessionTests {
    @Test(arguments: [MQTTSettings.ProtocolPreference.newest, .v5, .v311])
    func theBrokerAcceptsUs(_ preference: MQTTSettings.ProtocolPreference) async throws {
        let broker = try TestBroker()
        var settings = broker.settings(clientID: "bridge")
        settings.protocolPreference = preference
        let client = TestClient(settings)
        let session = try await client.connected()
        #expect(session == BrokerSession(version: preference == .v311 ? .v311 : .v5))
        #expect(client.client.counters().version == session.version)
        await client.close()
        #expect(
            client.seen.last
                == .disconnected(BrokerLoss(code: .stopped, sentence: "The connection was ended by us.")))
        #expect(client.client.counters().version == nil)
    }

    @Test func aMessageArrivesWithAllItsProperties() async throws {
        let broker = try TestBroker()
        let reader = try await TestClient.subscribed(broker.settings(clientID: "reader"), to: ["t/#"])
        let writer = TestClient(broker.settings(clientID: "writer"))
        try await writer.connected()
        let sent = Message(
            "t/å/1", [0, 1, 0xFF, 0x80], qos: .atLeastOnce, expirySeconds: 90, responseTopic: "answers/ö",
            correlationData: [0, 7, 0, 255])
        writer.client.publish(sent)
        #expect(try await reader.message(sent.topic) == sent)
        await writer.close()
        await reader.close()
    }

    @Test func on311ExpiryAndResponseTopicAreLeftOut() async throws {
        let broker = try TestBroker()
        let reader = try await TestClient.subscribed(broker.settings(clientID: "reader"), to: ["t"])
        var settings = broker.settings(clientID: "writer")
        settings.protocolPreference = .v311
        settings.will = Will(Message("w", "gone", retained: true, expirySeconds: 60))
        let writer = TestClient(settings)
        try await writer.connected()
        writer.client.publish(
            Message("t", Array("x".utf8), expirySeconds: 9, responseTopic: "r", correlationData: [1]))
        #expect(try await reader.message("t") == Message("t", "x"))
        await writer.close()
        await reader.close()
    }

    @Test func retainedMessagesOfOneSessionAreFoundByTheNext() async throws {
        let broker = try TestBroker()
        let writer = TestClient(broker.settings(clientID: "writer"))
        try await writer.connected()
        for number in 0..<500 {
            writer.client.publish(
                Message(
                    "r/\(number)", "\(number)", qos: number % 2 == 0 ? .atLeastOnce : .atMostOnce,
                    retained: true))
        }
        await writer.client.drain(limit: .seconds(20))
        let counters = writer.client.counters()
        #expect(counters.publishes == 500)
        #expect(counters.dropped == 0 && counters.queued == 0)
        await writer.close()
        let dump = try await TestClient.retained(broker.settings(clientID: ""))
        #expect(dump.count == 500)
        #expect(dump["r/77"] == Message("r/77", "77", qos: .atMostOnce, retained: true))
    }

    @Test func subscriptionsAreAnsweredFilterByFilter() async throws {
        let broker = try TestBroker()
        let client = TestClient(broker.settings(clientID: "reader"))
        try await client.connected()
        let granted = await client.client.subscribe(["a/+", "no#good", "b/#", ""])
        #expect(granted == [true, false, true, false])
        #expect(await client.client.subscribe(["#/x"]) == [false])
        #expect(await client.client.subscribe([]) == [])
        let packets = broker.log.split(separator: "\n").filter {
            $0.contains("Received SUBSCRIBE from reader")
        }
        #expect(packets.count == 1)
        await client.close()
        #expect(await client.client.subscribe(["a"]) == [false])
    }

    @Test func messagesOfOursComeBackOnlyIfWanted() async throws {
        let broker = try TestBroker()
        var settings = broker.settings(clientID: "one")
        settings.ignoresOwnMessages = true
        let client = try await TestClient.subscribed(settings, to: ["#"])
        let other = TestClient(broker.settings(clientID: "two"))
        try await other.connected()
        client.client.publish(Message("own", "1"))
        await client.client.drain(limit: .seconds(10))
        other.client.publish(Message("foreign", "2"))
        try await client.message("foreign")
        #expect(!client.seen.contains(.message(Message("own", "1"))))
        await client.close()
        await other.close()
    }

    @Test func hugeMessagesAreNotTaken() async throws {
        let broker = try TestBroker()
        for preference in [MQTTSettings.ProtocolPreference.v5, .v311] {
            var settings = broker.settings(clientID: "reader")
            settings.protocolPreference = preference
            settings.bounds.inboundPacketBytes = 1_000
            let reader = try await TestClient.subscribed(settings, to: ["#"])
            let writer = TestClient(broker.settings(clientID: "writer"))
            try await writer.connected()
            writer.client.publish(Message("huge", Array(repeating: 65, count: 5_000_000)))
            await writer.client.drain(limit: .seconds(20))
            writer.client.publish(Message("small", "x"))
            try await reader.message("small")
            #expect(
                !reader.seen.contains { if case .message(let m) = $0 { m.topic == "huge" } else { false } })
            // On MQTT 5 the broker keeps it to itself, on 3.1.1 it is dropped here.
            #expect(reader.client.counters().receivedDropped == (preference == .v5 ? 0 : 1))
            #expect(reader.client.counters().connects == 1)
            await writer.close()
            await reader.close()
        }
    }
}
