import MQTTClient
import MQTTTypes
import Testing

@Suite(.needsBroker, .timeLimit(.minutes(3))) struct ReconnectTests {
    private func publishPicture(_ client: MQTTClient) async {
        for number in 0..<20 { client.publish(Message("p/\(number)", "value \(number)", retained: true)) }
        client.publish(Message("p/availability", "online", retained: true))
        await client.drain(limit: .seconds(10))
    }

    @Test(arguments: [false, true])
    func afterEveryRestartWeAreConnectedAgain(_ persistence: Bool) async throws {
        var options = TestBroker.Options()
        options.persistence = persistence
        let broker = try TestBroker(options)
        var settings = broker.settings(clientID: "bridge")
        settings.claimTopic = "p/instance"
        let client = TestClient(settings)
        try await client.connected()
        await publishPicture(client.client)
        let cold = try await TestClient.retained(broker.settings(clientID: ""))
        #expect(cold.count == 22)
        for round in 1...20 {
            if round % 2 == 0 { broker.kill() } else { broker.stop() }
            try await client.lost()
            try broker.start()
            try await client.connected()
            await publishPicture(client.client)
        }
        #expect(try await TestClient.retained(broker.settings(clientID: "")) == cold)
        #expect(client.client.counters().connects == 21)
        #expect(!client.lines.texts.contains { $0.contains("client id") })
        await client.close()
    }

    @Test func afterEveryCutWeAreConnectedAgain() async throws {
        let broker = try TestBroker()
        let wire = try TestWire(to: broker.port)
        defer { wire.stop() }
        var settings = broker.settings(clientID: "bridge")
        settings.port = wire.port
        settings.will = Will(Message("p/availability", "offline", retained: true))
        settings.claimTopic = "p/instance"
        let client = TestClient(settings)
        try await client.connected()
        await publishPicture(client.client)
        let cold = try await TestClient.retained(broker.settings(clientID: ""))
        for _ in 1...20 {
            wire.cut()
            #expect(try await client.lost().code == .closed)
            try await client.connected()
            await publishPicture(client.client)
            #expect(try await TestClient.retained(broker.settings(clientID: "")) == cold)
        }
        await client.close()
    }

    @Test func theBrokerMayComeLater() async throws {
        let port = try Loopback.freePort()
        let client = TestClient(MQTTSettings(host: "127.0.0.1", port: port, clientID: "bridge"))
        let loss = try await client.lost()
        #expect(loss.code == .unreachable)
        #expect(
            loss.sentence == "The broker 127.0.0.1:\(port) cannot be reached: nothing listens on that port.")
        let broker = try TestBroker(port: port)
        try await client.connected()
        #expect(client.lines.containing("cannot be reached").count == 1)
        #expect(client.lines.containing("connected, MQTT 5.0").count == 1)
        await client.close()
        broker.stop()
    }

    @Test func aNameThatDoesNotResolveIsSaid() async throws {
        let client = TestClient(MQTTSettings(host: "no-such-broker.invalid", port: 1883, clientID: "bridge"))
        #expect(try await client.lost().code == .nameUnknown)
        await client.abandon()
    }

    @Test(arguments: [MQTTSettings.ProtocolPreference.v5, .v311])
    func theWillIsPublishedWhenTheWireIsCutAndNotWhenWeSayGoodbye(
        _ preference: MQTTSettings.ProtocolPreference
    ) async throws {
        let broker = try TestBroker()
        let wire = try TestWire(to: broker.port)
        defer { wire.stop() }
        let watcher = try await TestClient.subscribed(
            broker.settings(clientID: "watcher"), to: ["b/availability"])
        var settings = broker.settings(clientID: "bridge")
        settings.port = wire.port
        settings.protocolPreference = preference
        settings.will = Will(
            Message("b/availability", "offline", qos: .atLeastOnce, retained: true, expirySeconds: 1_000))
        // The longest wait before it dials again, so that the will is looked at in peace.
        let client = TestClient(settings, chance: 0.999)
        try await client.connected()
        client.client.publish(Message("b/availability", "online", retained: true))
        #expect(try await watcher.message("b/availability").text == "online")
        wire.cut()
        let will = try await watcher.message("b/availability")
        #expect(will.text == "offline" && will.qos == .atLeastOnce)
        let kept = try await TestClient.retained(broker.settings(clientID: ""))["b/availability"]
        #expect(kept?.text == "offline" && kept?.retained == true)
        if preference == .v5 {
            #expect((900...1_000).contains(try #require(kept?.expirySeconds)))
        } else {
            #expect(kept?.expirySeconds == nil)
        }
        try await client.connected()
        client.client.publish(Message("b/availability", "online", retained: true))
        await client.close()
        let after = try await TestClient.retained(broker.settings(clientID: ""))["b/availability"]
        #expect(after?.text == "online")
        await watcher.close()
    }

    @Test func whatWaitedIsNotSentAfterAReconnect() async throws {
        let broker = try TestBroker()
        let wire = try TestWire(to: broker.port)
        defer { wire.stop() }
        var settings = broker.settings(clientID: "bridge")
        settings.port = wire.port
        let client = TestClient(settings)
        try await client.connected()
        wire.freeze()
        for number in 0..<200 { client.client.publish(Message("old/\(number)", "old")) }
        #expect(client.client.counters().publishes <= 20)
        wire.cut()
        try await client.lost()
        client.client.publish(Message("old/away", "old"))
        let reader = try await TestClient.subscribed(broker.settings(clientID: "reader"), to: ["#"])
        wire.thaw()
        try await client.connected()
        client.client.publish(Message("new", "new"))
        try await reader.message("new")
        #expect(!reader.seen.contains { if case .message(let m) = $0 { m.text == "old" } else { false } })
        // The message may be read before its sender has counted it.
        await client.client.drain(limit: .seconds(30))
        let counters = client.client.counters()
        #expect(counters.dropped + counters.publishes == 201)
        #expect(counters.droppedWhileAway == 1)
        await client.close()
        await reader.close()
    }

    @Test func aBrokerThatFreezesIsNoticedByKeepAlive() async throws {
        let broker = try TestBroker()
        var settings = broker.settings(clientID: "bridge")
        settings.keepAliveSeconds = 5
        settings.connectTimeout = .seconds(1)
        let client = TestClient(settings)
        try await client.connected()
        broker.pause()
        #expect(try await client.lost().code == .keepAlive)
        // The kernel still takes connections for the frozen broker.
        #expect(try await client.lost().code == .unreachable)
        broker.resume()
        try await client.connected()
        await client.close()
    }
}
