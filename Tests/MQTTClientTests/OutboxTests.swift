import MQTTTypes
import Testing

@testable import MQTTClient

@Suite struct OutboxTests {
    private func outbox(messages: Int = 3, bytes: Int = 1 << 20, inFlight: Int = 2) -> Outbox {
        var bounds = MQTTSettings.Bounds()
        bounds.outboxMessages = messages
        bounds.outboxBytes = bytes
        bounds.inFlight = inFlight
        return Outbox(bounds: bounds)
    }
    private func retained(_ topic: String, _ text: String, qos: QoS = .atMostOnce) -> Message {
        Message(topic, text, qos: qos, retained: true)
    }
    private func loose(_ topic: String, _ text: String, qos: QoS = .atMostOnce) -> Message {
        Message(topic, text, qos: qos)
    }
    /// Everything that can be handed over, as "topic=payload".
    private func all(_ outbox: inout Outbox) -> [String] {
        var found: [String] = []
        while let entry = outbox.next() {
            outbox.givenUp()
            found.append("\(entry.message.topic)=\(entry.message.text ?? "?")")
        }
        return found
    }

    private func hand(_ outbox: inout Outbox, id: Int32) throws {
        let entry = outbox.next()
        outbox.handedOver(try #require(entry), id: id)
    }
    private func held(_ outbox: inout Outbox) -> Bool { outbox.next() == nil }

    @Test func theNewestOfARetainedTopicTakesThePlaceOfTheOldest() {
        var outbox = outbox()
        for message in [
            retained("a", "1"), retained("b", "1"), loose("a", "x"), retained("a", "2"), retained("a", "3"),
        ] {
            outbox.put(message)
        }
        #expect(outbox.waiting == 3 && outbox.replaced == 2)
        #expect(all(&outbox) == ["a=3", "b=1", "a=x"])
        outbox.put(retained("a", "4"))
        #expect(all(&outbox) == ["a=4"])
        #expect(outbox.waiting == 0 && outbox.dropped == 0 && outbox.highWater == 3)
    }

    @Test func theOldestOfTheOthersGivesWay() {
        var outbox = outbox(messages: 3)
        outbox.put(retained("r", "kept"))
        for number in 1...10 { outbox.put(loose("result", "\(number)")) }
        #expect(outbox.dropped == 7 && outbox.waiting == 4)
        #expect(all(&outbox) == ["r=kept", "result=8", "result=9", "result=10"])
    }

    @Test func tooManyBytesDropTheOthersFirst() {
        var outbox = outbox(messages: 100, bytes: 1_000)
        let text = String(repeating: "x", count: 200)
        outbox.put(retained("r1", text))
        outbox.put(loose("l1", text))
        outbox.put(retained("r2", text))
        outbox.put(loose("l2", text))
        #expect(outbox.waiting == 3)
        outbox.put(retained("r3", text))
        outbox.put(retained("r4", text))
        #expect(all(&outbox).map { $0.prefix(2) } == ["r2", "r3", "r4"])
        outbox.put(retained("huge", String(repeating: "x", count: 5_000)))
        #expect(outbox.waiting == 1)
    }

    @Test func noMoreThanTheWindowIsOnTheWay() throws {
        var outbox = outbox(messages: 100, inFlight: 2)
        for number in 0..<4 { outbox.put(loose("t", "\(number)", qos: .atLeastOnce)) }
        outbox.put(loose("t", "zero"))
        for id in Int32(1)...2 { try hand(&outbox, id: id) }
        #expect(held(&outbox) && outbox.inFlight == 2)
        let finished = [outbox.finished(id: 1), outbox.finished(id: 1), outbox.finished(id: 99)]
        #expect(finished == ["t", nil, nil])
        try hand(&outbox, id: 3)
        #expect(held(&outbox))
        for id in Int32(2)...3 { _ = outbox.finished(id: id) }
        #expect(all(&outbox) == ["t=3", "t=zero"])
    }

    @Test func settledSaysUpToWhereAllHasGone() throws {
        var outbox = outbox(messages: 100, inFlight: 20)
        #expect(outbox.settled == outbox.nextIndex)
        for number in 0..<3 {
            outbox.put(loose("t", "\(number)", qos: number == 2 ? .atMostOnce : .atLeastOnce))
        }
        #expect(outbox.settled == 0 && outbox.nextIndex == 3)
        let taken = outbox.next()
        let first = try #require(taken)
        #expect(outbox.settled == 0)
        outbox.handedOver(first, id: 1)
        try hand(&outbox, id: 2)
        try hand(&outbox, id: 3)
        _ = outbox.finished(id: 2)
        _ = outbox.finished(id: 3)
        #expect(outbox.settled == 0)
        _ = outbox.finished(id: 1)
        #expect(outbox.settled == 3)
    }

    @Test func aNewConnectionStartsFromNothing() throws {
        var outbox = outbox()
        outbox.put(retained("a", "1", qos: .atLeastOnce))
        outbox.put(retained("b", "1", qos: .atLeastOnce))
        try hand(&outbox, id: 1)
        outbox.clear()
        #expect(outbox.waiting == 0 && outbox.inFlight == 0 && outbox.dropped == 1)
        #expect(outbox.settled == outbox.nextIndex)
        outbox.put(retained("a", "2"))
        #expect(all(&outbox) == ["a=2"])
    }

    /// Each message is counted exactly once, also the one the connection died under.
    @Test func whatTheConnectionDiedUnderIsCountedAsDropped() {
        var outbox = outbox()
        outbox.put(loose("a", "1"))
        outbox.put(loose("b", "2"))
        let taken = outbox.next()
        #expect(taken != nil)
        outbox.lost()
        outbox.clear()
        #expect(outbox.dropped == 2)
    }

    @Test func aLongLineKeepsItsOrder() throws {
        var outbox = outbox(messages: 10_000, bytes: 1 << 30)
        var expected: [String] = []
        var got: [String] = []
        for number in 0..<5_000 {
            outbox.put(loose("l", "\(number)"))
            expected.append("\(number)")
            outbox.put(retained("r/\(number % 7)", "\(number)"))
            if number % 3 == 0, let entry = outbox.next() {
                outbox.givenUp()
                if !entry.message.retained { got.append(entry.message.text ?? "") }
            }
        }
        while let entry = outbox.next() {
            outbox.givenUp()
            if !entry.message.retained { got.append(entry.message.text ?? "") }
        }
        #expect(got == expected)
        #expect(outbox.waiting == 0 && outbox.settled == outbox.nextIndex)
    }

    /// The last value wins, whatever came between.
    @Test func theTrailingEdgeIsKept() {
        var outbox = outbox()
        for watts in ["0", "3000", "0"] { outbox.put(retained("power", watts)) }
        #expect(all(&outbox) == ["power=0"])
    }
}
