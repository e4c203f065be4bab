import MQTTTypes

/// Tells what we published ourselves from what somebody else wrote to our topics.
///
/// A broker that speaks MQTT 5 can leave our own messages out (MQTT 5.0
/// §3.8.3.1, No Local); one that does not sends each back. What comes back is
/// known by its payload, and each message comes back only once. What was sent
/// on a connection that broke may come back on the next one: the broker can take
/// in the new connection before the last of the old.
struct EchoFilter {
    private var recent: [String: [(payload: Int, at: Duration)]] = [:]
    /// What was not echoed by then never will be.
    private static let memory = Duration.seconds(10)
    /// More than that many messages on one topic in that time: the oldest is forgotten.
    private static let depth = 16
    /// More than that many topics in that time: the older half is forgotten. A site with all
    /// its mirrored values has some hundreds.
    static let maxTopics = 8_192
    /// When topics that nothing was published to for a while are looked for next.
    private var sweepsAt = Duration.zero

    /// Topics of which something is known.
    var topicCount: Int { recent.count }

    mutating func published(_ message: Message, now: Duration) {
        sweep(now: now)
        var known = recent[message.topic] ?? []
        known.removeAll { now - $0.at > Self.memory }
        if known.count >= Self.depth { known.removeFirst() }
        known.append((message.payload.hashValue, now))
        recent[message.topic] = known
    }

    /// True if that is one of ours on its way back. Echoes keep their order, so
    /// what was published before it is not waited for any more.
    ///
    /// - Parameter isLeftOut: The broker was asked to leave our own messages out. What
    ///   comes all the same is then only taken for ours while it says what we said
    ///   last: an older value of ours, written by somebody else, must not stay.
    mutating func isEcho(_ message: Message, isLeftOut: Bool, now: Duration) -> Bool {
        let payload = message.payload.hashValue
        if isLeftOut {
            guard let last = recent[message.topic]?.last, now - last.at <= Self.memory else { return false }
            return last.payload == payload
        }
        guard var known = recent[message.topic],
            let index = known.firstIndex(where: { $0.payload == payload && now - $0.at <= Self.memory })
        else { return false }
        known.removeFirst(index + 1)
        recent[message.topic] = known.isEmpty ? nil : known
        return true
    }

    /// Where nothing comes back nothing is ever taken out, and an asker may name a new
    /// response topic with each question.
    private mutating func sweep(now: Duration) {
        if now >= sweepsAt {
            sweepsAt = now + Self.memory
            recent = recent.filter { $0.value.last.map { now - $0.at <= Self.memory } ?? false }
        }
        guard recent.count >= Self.maxTopics else { return }
        let times = recent.values.compactMap { $0.last?.at }.sorted()
        // Of those published at the same moment as the middle one none is kept: the bound holds.
        guard let middle = times.dropFirst(times.count / 2).first else { return }
        recent = recent.filter { $0.value.last.map { $0.at > middle } ?? false }
    }
}
