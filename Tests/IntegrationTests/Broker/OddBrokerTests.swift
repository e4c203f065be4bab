import Ambient
import MQTTClient
import MQTTTypes
import Testing

/// Brokers that refuse, go silent or are shared; some are sockets of the test.
@Suite(.needsBroker, .timeLimit(.minutes(2))) struct OddBrokerTests {
    private func settings(_ port: Int) -> MQTTSettings {
        var settings = MQTTSettings(host: "127.0.0.1", port: port, clientID: "bridge")
        settings.connectTimeout = .seconds(1)
        return settings
    }

    /// An old broker answers in the form of 3.1.1, a newer one that has MQTT 5
    /// switched off in that of MQTT 5.
    @Test(arguments: [[0x20, 2, 0, 1], [0x20, 3, 0, 0x84, 0]] as [[UInt8]])
    func aBrokerThatRefusesMQTT5IsSpokenToIn311(_ refusal: [UInt8]) async throws {
        let fake = try FakeBroker { $0 == 5 ? .bytesThenClose(refusal) : .bytes(FakeBroker.accept311) }
        defer { fake.stop() }
        let client = TestClient(settings(fake.port))
        #expect(try await client.connected().version == .v311)
        #expect(fake.levels == [5, 4])
        await client.abandon()
    }

    @Test func aBrokerThatClosesOnMQTT5IsSpokenToIn311() async throws {
        let fake = try FakeBroker { $0 == 5 ? .close : .bytes(FakeBroker.accept311) }
        defer { fake.stop() }
        let client = TestClient(settings(fake.port))
        #expect(try await client.connected().version == .v311)
        #expect(fake.levels == [5, 5, 5, 4])
        await client.abandon()
    }

    @Test(arguments: [
        (0x86, BrokerLoss.Code.badCredentials), (0x87, .notAuthorized), (0x85, .refused), (0x88, .refused),
    ])
    func aRefusalKeepsItsReason(_ reason: Int, _ code: BrokerLoss.Code) async throws {
        let fake = try FakeBroker { _ in .bytesThenClose([0x20, 3, 0, UInt8(reason), 0]) }
        defer { fake.stop() }
        let client = TestClient(settings(fake.port))
        #expect(try await client.lost().code == code)
        await client.abandon()
    }

    @Test(arguments: [(4, BrokerLoss.Code.badCredentials), (5, .notAuthorized), (2, .refused), (3, .refused)])
    func aRefusalIn311KeepsItsReason(_ reason: Int, _ code: BrokerLoss.Code) async throws {
        let fake = try FakeBroker { _ in .bytesThenClose([0x20, 2, 0, UInt8(reason)]) }
        defer { fake.stop() }
        var settings = settings(fake.port)
        settings.protocolPreference = .v311
        let client = TestClient(settings)
        #expect(try await client.lost().code == code)
        await client.abandon()
    }

    @Test func garbageInsteadOfAnAnswerIsAFailureLikeAnother() async throws {
        let fake = try FakeBroker { _ in .bytes(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)) }
        defer { fake.stop() }
        let client = TestClient(settings(fake.port))
        let loss = try await client.lost()
        #expect([.protocolError, .closed, .unreachable].contains(loss.code))
        try await client.lost()
        await client.abandon()
    }

    @Test func aPortThatTakesConnectionsAndNeverAnswersIsLeftAndTriedAgain() async throws {
        let fake = try FakeBroker { _ in .silence }
        let client = TestClient(settings(fake.port))
        let loss = try await client.lost()
        #expect(loss.code == .unreachable)
        #expect(loss.sentence.contains("does not answer like an MQTT broker"))
        for number in 0..<10_000 { client.client.publish(Message("t/\(number)", "x", retained: true)) }
        #expect(client.client.counters().queued == 0)
        fake.stop()
        let broker = try TestBroker(port: fake.port)
        try await client.connected()
        await client.close()
        broker.stop()
    }

    /// A broker whose machine froze: it took us and then reads nothing more.
    @Test func aBrokerThatStopsReadingCostsNoMoreThanTheBounds() async throws {
        let fake = try FakeBroker(readsOn: false) { _ in .bytes(FakeBroker.accept5) }
        var settings = settings(fake.port)
        settings.keepAliveSeconds = 5
        settings.bounds.outboxMessages = 100
        let client = TestClient(settings)
        try await client.connected()
        let before = residentBytes()
        // Hours of changes, 90 MB in all. The other tests' memory is in this number too.
        for tick in 0..<60_000 {
            client.client.publish(
                Message(
                    "power", Array(repeating: UInt8(truncatingIfNeeded: tick), count: 300), retained: true))
            client.client.publish(
                Message(
                    "state/\(tick % 50)", Array(repeating: 65, count: 1_000), qos: .atMostOnce, retained: true
                ))
            if tick % 2 == 0 { client.client.publish(Message("result", Array(repeating: 66, count: 500))) }
        }
        let counters = client.client.counters()
        #expect(counters.queued <= 51 + 100)
        #expect(counters.queueHighWater <= 52 + 101)
        #expect(residentBytes() - before < 30_000_000)
        #expect(await client.client.subscribe(["a"]) == [false])  // unanswered until the connection ends
        #expect(try await client.lost().code == .keepAlive)
        #expect(client.lines.all.filter { $0.level <= .warning }.count == 1)
        fake.stop()
        let broker = try TestBroker(port: fake.port)
        let reader = try await TestClient.subscribed(broker.settings(clientID: "reader"), to: ["#"])
        // It may have been with the old one once more.
        repeat { try await client.connected() } while !broker.log.contains(" as bridge ")
        client.client.publish(Message("power", "now", retained: true))
        #expect(try await reader.message("power").text == "now")
        #expect(reader.seen.count == 2)
        await client.close()
        await reader.close()
    }

    @Test func aBrokerThatSaysWhoTookOverIsBelieved() async throws {
        let fake = try FakeBroker { _ in .bytesThenClose(FakeBroker.accept5 + [0xE0, 2, 0x8E, 0]) }
        defer { fake.stop() }
        let client = TestClient(settings(fake.port))
        try await client.connected()
        let loss = try await client.lost()
        #expect(loss.code == .takenOver)
        #expect(try #require(loss.retryIn) >= .seconds(60))
        #expect(loss.sentence.contains("client id bridge"))
        await client.abandon()
    }

    /// mosquitto 2.0 closes the older of two connections with one id without a word.
    @Test(arguments: [MQTTSettings.ProtocolPreference.v5, .v311], ["home/instance", nil])
    func aSecondCopyMakesOneOfUsBackOffForLong(
        _ preference: MQTTSettings.ProtocolPreference, _ claimTopic: String?
    ) async throws {
        let broker = try TestBroker()
        var one = broker.settings(clientID: "bridge")
        one.protocolPreference = preference
        one.claimTopic = claimTopic
        var two = one
        two.instance = "another"
        let first = TestClient(one)
        try await first.connected()
        let second = TestClient(two)
        var losses: [BrokerLoss] = []
        while losses.last?.code != .takenOver, losses.count < 20 { losses.append(try await first.lost()) }
        #expect(losses.last?.code == .takenOver)
        #expect(losses.count <= (claimTopic == nil ? 8 : 3))
        #expect(try #require(losses.last?.retryIn) >= .seconds(60))
        #expect(first.lines.containing("client id").count == 1)
        // The claim is our own affair.
        #expect(!first.seen.contains { if case .message = $0 { true } else { false } })
        await first.abandon()
        await second.abandon()
    }

    private func residentBytes() -> Int {
        let pages = (try? TestProcess.statm()) ?? []
        return pages.count > 1 ? pages[1] * 4_096 : 0
    }
}
