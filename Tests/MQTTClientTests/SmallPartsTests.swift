import Ambient
import MQTTTypes
import TestSupport
import Testing

@testable import MQTTClient

@Suite struct PacketSizeTests {
    @Test(
        arguments: [
            (Message("t", "x", qos: .atMostOnce), 6),
            (Message("t", "x"), 8),
            (Message("t", Array(repeating: 0, count: 122)), 129),
            (Message("t", Array(repeating: 0, count: 123)), 131),
            (Message("t", Array(repeating: 0, count: 16_378)), 3 + 16_383),
            (Message("t", Array(repeating: 0, count: 16_379)), 4 + 16_384),
            (Message("ö", [], expirySeconds: 1, responseTopic: "r", correlationData: [1]), 8),
        ] as [(Message, Int)])
    func in311(_ message: Message, _ size: Int) {
        #expect(PacketSize.publish(message, version: .v311) == size)
    }

    @Test(
        arguments: [
            (Message("t", "x", qos: .atMostOnce), 7),
            (Message("t", "x", expirySeconds: 1), 14),
            (
                Message("t", [], expirySeconds: 1, responseTopic: "ab", correlationData: [1, 2, 3]),
                2 + 3 + 2 + 1 + 5 + 5 + 6
            ),
            (Message("t", [], responseTopic: String(repeating: "r", count: 200)), 213),
        ] as [(Message, Int)])
    func in5(_ message: Message, _ size: Int) { #expect(PacketSize.publish(message, version: .v5) == size) }
}

extension EventQueue {
    fileprivate mutating func put(_ event: BrokerEvent) { put(Arrival(event: event, since: .now)) }
}

@Suite struct ArrivalTests {
    private let moment = ContinuousClock.now
    private func waited(_ wait: Duration) -> Duration? {
        let arrival = Arrival(event: .message(Message("t", "1")), since: moment)
        guard case .message(let message) = arrival.handed(at: moment + wait) else { return nil }
        return message.waited
    }

    /// A look at the socket waits up to a second, and that says nothing about a message.
    @Test func onlyAStandstillCounts() {
        #expect(waited(.zero) == .zero)
        #expect(waited(.seconds(1)) == .zero)
        #expect(waited(.seconds(3)) == .zero)
        #expect(waited(.milliseconds(3_001)) == .milliseconds(3_001))
        #expect(waited(.seconds(86_400)) == .seconds(86_400))
    }

    @Test func newsOfTheConnectionIsHandedOnAsItIs() {
        let news = BrokerEvent.connected(BrokerSession(version: .v5))
        #expect(Arrival(event: news, since: moment).handed(at: moment + .seconds(60)) == news)
    }
}

@Suite struct EventQueueTests {
    private let session = BrokerEvent.connected(BrokerSession(version: .v5))
    private func loss(_ sentence: String) -> BrokerEvent {
        .disconnected(BrokerLoss(code: .closed, sentence: sentence))
    }
    private func drain(_ queue: inout EventQueue) -> [BrokerEvent] {
        var events: [BrokerEvent] = []
        while let arrival = queue.take() { events.append(arrival.event) }
        return events
    }

    private func bounds(kept: Int = 4, loose: Int = 4, bytes: Int = 1 << 20) -> MQTTSettings.Bounds {
        var bounds = MQTTSettings.Bounds()
        (bounds.inboxMessages, bounds.inboxUnacknowledged, bounds.inboxBytes) = (kept, loose, bytes)
        return bounds
    }
    private func loose(_ text: String) -> BrokerEvent { .message(Message("t", text, qos: .atMostOnce)) }
    private func kept(_ text: String) -> BrokerEvent { .message(Message("car/set", text)) }

    @Test func tooManyMessagesDropTheOldestAndNoNews() {
        var queue = EventQueue(bounds: bounds(loose: 2))
        queue.put(session)
        for number in 1...5 { queue.put(loose("\(number)")) }
        queue.put(loss("gone"))
        #expect(queue.dropped == 3)
        #expect(drain(&queue) == [session, loose("4"), loose("5"), loss("gone")])
    }

    /// What was acknowledged, like a command, is sent by nobody again.
    @Test func whatWasAcknowledgedIsNeverDropped() {
        var queue = EventQueue(bounds: bounds(kept: 3, loose: 2))
        let all = (1...10).map { kept("\($0)") }
        for (place, event) in all.enumerated() {
            #expect(queue.isFull == (place >= 3))
            queue.put(loose("\(place)"))
            queue.put(event)
        }
        // The loose ones found room only while it was not full.
        #expect(drain(&queue) == all && queue.dropped == 10)
        #expect(!queue.isFull && queue.hasRoom)
    }

    @Test func theyComeInTheOrderTheyWerePutIn() {
        var queue = EventQueue(bounds: bounds(kept: 100_000, loose: 100_000))
        var dice = SeededDice(7)
        var expected: [BrokerEvent] = []
        var taken: [BrokerEvent] = []
        for number in 0..<5_000 {
            // Two losses one after the other would be one.
            let isNews = number % 50 == 0
            let event = isNews ? session : Bool.random(using: &dice) ? loose("\(number)") : kept("\(number)")
            expected.append(event)
            queue.put(event)
            if Bool.random(using: &dice), let next = queue.take() { taken.append(next.event) }
        }
        // Of 100 pieces of news the oldest gave way.
        taken += drain(&queue)
        #expect(taken.filter { $0 != session } == expected.filter { $0 != session })
        #expect(queue.count == 0 && queue.dropped == 0)
    }

    @Test func manyBytesFillItToo() {
        var queue = EventQueue(bounds: bounds(kept: 1_000, bytes: 10_000))
        let large = String(repeating: "x", count: 3_000)
        for _ in 0..<4 {
            #expect(!queue.isFull)
            queue.put(kept(large))
        }
        #expect(queue.isFull && !queue.hasRoom)
        queue.put(loose(large))
        #expect(queue.dropped == 1)
        _ = queue.take()
        #expect(!queue.isFull && !queue.hasRoom)
        _ = queue.take()
        #expect(queue.hasRoom)
    }

    @Test func ofAttemptsInVainTheNewestStays() {
        var queue = EventQueue(bounds: bounds())
        for number in 1...100 { queue.put(loss("\(number)")) }
        #expect(drain(&queue) == [loss("100")])
    }

    @Test func newsIsBoundedAndStillAlternates() {
        var queue = EventQueue(bounds: bounds())
        for number in 1...1_000 {
            queue.put(session)
            queue.put(loss("\(number)"))
        }
        let events = drain(&queue)
        #expect(events.count <= 64 && events.last == loss("1000"))
        for (place, event) in events.enumerated() { #expect((event == session) == (place % 2 == 0)) }
    }
}

@Suite struct TLSFailureTests {
    @Test(arguments: [
        (
            [
                "Error: host name verification failed.",
                "OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed",
            ], TLSFailure.wrongHost
        ),
        (["OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed"], .unknownAuthority),
        (
            ["OpenSSL Error[0]: error:0A00045C:SSL routines::tlsv13 alert certificate required"],
            .clientCertificate
        ),
        (["OpenSSL Error[0]: error:0A000418:SSL routines::tlsv1 alert unknown ca"], .clientCertificate),
        (["OpenSSL Error[0]: error:0A00010B:SSL routines::wrong version number"], .notTLS),
        (
            ["OpenSSL Error[0]: error:0A000102:SSL routines::unsupported protocol"],
            .other("unsupported protocol")
        ),
    ])
    func complaintsAreToldApart(_ complaints: [String], _ failure: TLSFailure) {
        #expect(TLSFailure(complaints: complaints) == failure)
    }

    @Test func noComplaintIsNoTLSFailure() {
        #expect(TLSFailure(complaints: []) == nil)
        #expect(TLSFailure(complaints: ["Warning: something"]) == nil)
    }
}

@Suite struct SentenceTests {
    private let settings = MQTTSettings(
        host: "broker.lan", port: 8883, clientID: "bridge",
        credentials: MQTTCredentials(user: "me", password: "the secret"),
        tls: MQTTEncryption(caFile: "/ca.pem"))

    @Test(arguments: [
        ConnectionEnd.nameUnknown, .connectFailed(errno: 111), .timedOut(reached: true),
        .timedOut(reached: false),
        .tls(.unknownAuthority), .tls(.wrongHost), .tls(.clientCertificate), .tls(.notTLS),
        .tls(.closedEarly),
        .tls(.other("x")), .refused(reason: 0x86), .refused(reason: 0x87), .refused(reason: 0xFE),
        .dismissed(reason: 0x8E), .dismissed(reason: 0x8B), .dismissed(reason: 0xFE), .closed, .keepAlive,
        .protocolError("x"), .unreadable(file: "/ca.pem"), .stopped,
    ])
    func everyEndHasOneSentenceWithoutSecrets(_ end: ConnectionEnd) {
        let sentence = end.sentence(for: settings)
        #expect(sentence.hasSuffix(".") && !sentence.contains("\n"))
        #expect(!sentence.contains("the secret"))
    }

    @Test func credentialsDoNotPrint() {
        var text = ""
        dump(settings, to: &text)
        text += "\(settings)" + String(reflecting: settings.credentials)
        #expect(!text.contains("the secret") && !text.contains("\"me\""))
    }
}

/// The client without a broker: nothing answers on the port.
@Suite struct AwayTests {
    private func client(_ time: ManualTime) -> MQTTClient {
        // A host that is not a name: no packet leaves the machine.
        MQTTClient(
            settings: MQTTSettings(host: "not a name", port: 1, clientID: "bridge"),
            ambient: Ambient(time: time, chance: { 0.5 }))
    }

    @Test func withoutAConnectionNothingWaitsAndNothingIsGranted() async {
        let client = client(ManualTime())
        for number in 0..<1_000 { client.publish(Message("t/\(number)", "x", retained: true)) }
        client.publish(Message("t/#", "x"))
        let counters = client.counters()
        #expect(counters.queued == 0 && counters.droppedWhileAway == 1_000 && counters.refused == 1)
        #expect(await client.subscribe(["a", "b"]) == [false, false])
        await client.drain(limit: .seconds(3_600))
    }

    @Test func itNeverGivesUpAndEndsWhenCancelled() async {
        let time = ManualTime()
        let client = client(time)
        let running = Task { await client.run() }
        var losses: [BrokerLoss] = []
        for await event in client.events {
            guard case .disconnected(let loss) = event, let wait = loss.retryIn else { break }
            losses.append(loss)
            if losses.count == 30 {
                running.cancel()
                break
            }
            guard await time.hasSleepers() else {
                Issue.record("never waited for the next dial")
                running.cancel()
                break
            }
            time.advance(by: wait)
        }
        await running.value
        #expect(losses.count == 30)
        #expect(losses.allSatisfy { $0.code == .nameUnknown })
        await client.run()  // a second call returns
    }
}
