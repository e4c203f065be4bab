import BoxLink

/// The commands that are at the box, each by its id on the wire. Pure.
struct CommandTable: Equatable {
    typealias Ticket = UInt64

    enum Action: Equatable {
        case send(CommandMessage)
        case acknowledged(Ticket)
        case finish(Ticket, CommandTracker.End)
    }
    private struct Entry: Equatable {
        var ticket: Ticket
        var message: CommandMessage
        var tracker: CommandTracker
    }

    /// More than a household ever has on the way.
    static let limit = 16

    private var entries: [String: Entry] = [:]

    var isFull: Bool { entries.count >= Self.limit }
    var count: Int { entries.count }
    var nextDeadline: Duration? { entries.values.compactMap(\.tracker.nextDeadline).min() }

    // MARK: Events

    /// A command goes out. Its id must be a fresh one.
    mutating func submitted(_ ticket: Ticket, _ message: CommandMessage, at now: Duration) -> [Action] {
        entries[message.commandID] = Entry(
            ticket: ticket, message: message, tracker: CommandTracker(sentAt: now))
        return [.send(message)]
    }

    /// - Returns: `nil` when nobody waits for that id: it ended, or is not ours.
    mutating func acknowledged(_ id: String) -> [Action]? {
        feed(id) { $0.acknowledgementReceived() }
    }

    /// - Returns: `nil` when nobody waits for that id: it ended, or is not ours.
    mutating func settled(_ result: CommandResultMessage) -> [Action]? {
        feed(result.commandID) { $0.resultReceived(result) }
    }

    mutating func timerFired(at now: Duration) -> [Action] {
        entries.keys.sorted().flatMap { id in feed(id) { $0.timerFired(at: now) } ?? [] }
    }

    mutating func linkLost() -> [Action] {
        entries.keys.sorted().flatMap { id in feed(id) { $0.linkLost() } ?? [] }
    }

    /// Nobody waits any more. What was sent cannot be taken back.
    mutating func withdrawn(_ ticket: Ticket) -> [Action] {
        for (id, entry) in entries where entry.ticket == ticket {
            return feed(id) { $0.linkLost() } ?? []
        }
        return []
    }

    // MARK: Steps

    private mutating func feed(
        _ id: String, _ event: (inout CommandTracker) -> [CommandTracker.Action]
    ) -> [Action]? {
        guard var entry = entries[id] else { return nil }
        let actions = event(&entry.tracker)
        entries[id] = entry.tracker.hasEnded ? nil : entry
        return actions.map { action in
            switch action {
            case .repeatIt: .send(entry.message)
            case .acknowledged: .acknowledged(entry.ticket)
            case .finish(let end): .finish(entry.ticket, end)
            }
        }
    }
}
