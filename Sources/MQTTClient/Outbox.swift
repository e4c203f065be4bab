import MQTTTypes

/// Messages on their way to the broker, from `publish` to acknowledgement. Pure.
///
/// Of a retained topic only the newest message waits: it takes the place of the
/// one it replaces, so that a topic that changes all the time still gets its
/// turn. Other messages keep their order, and the oldest give way when there
/// are too many. Every message has an *index*, its place in line; an index is
/// never used twice while a connection lasts.
struct Outbox {
    struct Entry: Equatable {
        var index: Int
        var message: Message
    }

    private let looseLimit: Int
    private let byteLimit: Int
    private let window: Int
    /// The line itself: `nil` where a message was taken out of the middle.
    private var line: [Message?] = []
    /// How many of `line` are past, and the index of `line[0]`.
    private var past = 0
    private var base = 0
    private var placeOfTopic: [String: Int] = [:]
    private var bytes = 0
    private var looseCount = 0
    private var onTheWay: [Int32: (index: Int, qos: QoS, topic: String)] = [:]
    private var unacknowledged = 0
    /// Taken out of the line and not yet with the library.
    private var inHand: Int?

    /// Messages waiting, without those handed over.
    private(set) var waiting = 0
    /// The most that ever waited.
    private(set) var highWater = 0
    /// Messages given up because a bound was reached.
    private(set) var dropped: UInt64 = 0
    /// Messages that a newer one of the same topic replaced before they went out.
    private(set) var replaced: UInt64 = 0

    init(bounds: MQTTSettings.Bounds) {
        looseLimit = max(1, bounds.outboxMessages)
        byteLimit = max(1, bounds.outboxBytes)
        window = max(1, bounds.inFlight)
    }

    /// The index the next message will have.
    var nextIndex: Int { base + line.count }

    /// QoS 1 messages handed over and not yet acknowledged.
    var inFlight: Int { unacknowledged }

    /// Everything with a lower index was written, acknowledged or given up.
    var settled: Int {
        let front = line[past...].firstIndex { $0 != nil }.map { base + $0 } ?? nextIndex
        return onTheWay.values.reduce(min(front, inHand ?? front)) { min($0, $1.index) }
    }

    mutating func put(_ message: Message) {
        if message.retained, let place = placeOfTopic[message.topic], let old = line[place - base] {
            bytes += Self.cost(message) - Self.cost(old)
            line[place - base] = message
            replaced += 1
        } else {
            if message.retained { placeOfTopic[message.topic] = nextIndex } else { looseCount += 1 }
            line.append(message)
            bytes += Self.cost(message)
            waiting += 1
        }
        while looseCount > looseLimit, dropOldest(where: { !$0.retained }) {}
        while bytes > byteLimit, waiting > 1 {
            if looseCount == 0 || !dropOldest(where: { !$0.retained }) {
                _ = dropOldest(where: { _ in true })
            }
        }
        highWater = max(highWater, waiting)
    }

    /// The next message to hand over; `nil` when none waits or when the window
    /// of unacknowledged QoS 1 messages is full. QoS 0 does not overtake.
    mutating func next() -> Entry? {
        while past < line.count {
            guard let message = line[past] else {
                past += 1
                continue
            }
            if message.qos != .atMostOnce, unacknowledged >= window { return nil }
            let index = base + past
            remove(at: past)
            past += 1
            inHand = index
            compact()
            return Entry(index: index, message: message)
        }
        compact()
        return nil
    }

    /// `entry` is with the library, which calls it `id` until it is written
    /// (QoS 0) or acknowledged (QoS 1).
    mutating func handedOver(_ entry: Entry, id: Int32) {
        if entry.message.qos != .atMostOnce { unacknowledged += 1 }
        inHand = nil
        onTheWay[id] = (entry.index, entry.message.qos, entry.message.topic)
    }

    /// The connection ended before the library took the message `next` gave.
    mutating func lost() {
        dropped += 1
        inHand = nil
    }

    /// The message `next` gave was not handed over and will not be.
    mutating func givenUp() { inHand = nil }

    /// - Returns: The topic it was published under; `nil` for an unknown `id`.
    mutating func finished(id: Int32) -> String? {
        guard let entry = onTheWay.removeValue(forKey: id) else { return nil }
        if entry.qos != .atMostOnce { unacknowledged -= 1 }
        return entry.topic
    }

    /// Forgets everything: a new connection starts from nothing, and whoever
    /// publishes says it all again.
    mutating func clear() {
        dropped += UInt64(waiting)
        base = nextIndex
        line = []
        past = 0
        placeOfTopic = [:]
        bytes = 0
        looseCount = 0
        waiting = 0
        onTheWay = [:]
        inHand = nil
        unacknowledged = 0
    }

    private mutating func dropOldest(where matches: (Message) -> Bool) -> Bool {
        guard let place = line[past...].firstIndex(where: { $0.map(matches) ?? false }) else { return false }
        remove(at: place)
        dropped += 1
        while past < line.count, line[past] == nil { past += 1 }
        compact()
        return true
    }

    private mutating func remove(at place: Int) {
        guard let message = line[place] else { return }
        line[place] = nil
        bytes -= Self.cost(message)
        waiting -= 1
        if message.retained { placeOfTopic[message.topic] = nil } else { looseCount -= 1 }
    }

    private mutating func compact() {
        guard past > 64, past * 2 > line.count else { return }
        line.removeFirst(past)
        base += past
        past = 0
    }

    private static func cost(_ message: Message) -> Int {
        message.topic.utf8.count + message.payload.count + (message.correlationData?.count ?? 0) + 64
    }
}
