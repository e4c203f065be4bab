import MQTTTypes

/// Events that wait for their reader, in the order they came. Pure.
///
/// What was acknowledged is never dropped, since nobody sends it again: when it is
/// too much the queue is full, and reading has to wait. What came with QoS 0 gives
/// way, the oldest first, and is counted. News of the connection is never lost to a
/// burst of messages; what is outdated by newer news is.
struct EventQueue {
    /// One kind of events. Taking from the front costs the same however many wait.
    private struct Line {
        private var waiting: [(turn: UInt64, arrival: Arrival)] = []
        private var front = 0

        var count: Int { waiting.count - front }
        var first: (turn: UInt64, arrival: Arrival)? { count > 0 ? waiting[front] : nil }
        var last: (turn: UInt64, arrival: Arrival)? { count > 0 ? waiting.last : nil }

        mutating func append(_ arrival: Arrival, turn: UInt64) { waiting.append((turn, arrival)) }

        mutating func removeLast() { if count > 0 { waiting.removeLast() } }

        mutating func removeFirst() -> Arrival? {
            guard let first else { return nil }
            front += 1
            if front >= 64, front * 2 >= waiting.count {
                waiting.removeFirst(front)
                front = 0
            }
            return first.arrival
        }
    }

    private let bounds: MQTTSettings.Bounds
    private let newsLimit = 64
    private var news = Line()
    /// Messages that were acknowledged.
    private var kept = Line()
    /// Messages of QoS 0.
    private var loose = Line()
    private var bytes = 0
    private var turn: UInt64 = 0
    private(set) var dropped: UInt64 = 0

    init(bounds: MQTTSettings.Bounds) { self.bounds = bounds }

    var count: Int { news.count + kept.count + loose.count }

    /// No more should be read. What comes all the same is taken in.
    var isFull: Bool { kept.count >= max(1, bounds.inboxMessages) || bytes >= max(1, bounds.inboxBytes) }

    /// Reading may go on, with some room so that it does not stop at the next message.
    var hasRoom: Bool {
        kept.count <= bounds.inboxMessages / 4 * 3 && bytes <= bounds.inboxBytes / 4 * 3
    }

    mutating func put(_ arrival: Arrival) {
        turn += 1
        switch arrival.event {
        case .message(let message) where message.qos == .atMostOnce:
            while loose.count >= max(1, bounds.inboxUnacknowledged) || (isFull && loose.count > 0) {
                dropOldestLoose()
            }
            if isFull {
                dropped += 1
                return
            }
            loose.append(arrival, turn: turn)
            bytes += Self.size(arrival)
        case .message:
            kept.append(arrival, turn: turn)
            bytes += Self.size(arrival)
        case .disconnected:
            // Of attempt after attempt in vain only the newest says when the next one is.
            if case .disconnected = news.last?.arrival.event, isNewest(news) { news.removeLast() }
            putNews(arrival)
        case .connected: putNews(arrival)
        }
    }

    mutating func take() -> Arrival? {
        let turns = [news, kept, loose].map { $0.first?.turn ?? .max }
        guard let next = turns.min(), next < .max else { return nil }
        if turns[0] == next { return news.removeFirst() }
        let arrival = turns[1] == next ? kept.removeFirst() : loose.removeFirst()
        if let arrival { bytes -= Self.size(arrival) }
        return arrival
    }

    /// Nothing came after the last of that line.
    private func isNewest(_ line: Line) -> Bool {
        let last = line.last?.turn ?? 0
        return [news, kept, loose].allSatisfy { $0.last?.turn ?? 0 <= last }
    }

    private mutating func putNews(_ arrival: Arrival) {
        news.append(arrival, turn: turn)
        // One `connected` and the `disconnected` after it, so that what is left still alternates.
        if news.count > newsLimit { for _ in 0..<2 { _ = news.removeFirst() } }
    }

    private mutating func dropOldestLoose() {
        guard let arrival = loose.removeFirst() else { return }
        bytes -= Self.size(arrival)
        dropped += 1
    }

    /// What the message holds on to, in bytes.
    private static func size(_ arrival: Arrival) -> Int {
        guard case .message(let message) = arrival.event else { return 0 }
        return message.payload.count + message.topic.utf8.count + (message.responseTopic?.utf8.count ?? 0)
            + (message.correlationData?.count ?? 0) + 64
    }
}
