import BoxLink

/// Follows one command from the wire to how it ended (FTW wire §7.3, §7.4).
///
/// Pure: the session feeds it events and carries out the actions. Whatever comes
/// after the end changes nothing.
struct CommandTracker: Equatable {
    enum Action: Equatable {
        /// The same command once more; the box answers an id it knows as before.
        case repeatIt
        /// The box has it.
        case acknowledged
        case finish(End)
    }

    /// How a command ended, before anybody says what that means for a person.
    enum End: Equatable {
        /// The box's own word.
        case settled(CommandResultMessage)
        /// Neither receipt nor result in time.
        case neverArrived
        /// A receipt and no result in time.
        case unconfirmed
        case linkBroke(acknowledged: Bool)
    }

    private enum Step: Equatable { case sent, acknowledged, ended }

    /// Within one session the same id may be sent again at any time; a lost frame is
    /// healed by it while a person still waits.
    static let repeatAfter = Duration.seconds(2)
    static let arrivesWithin = Contract.Command.ackDeadline
    static let settlesWithin = Contract.Command.resultDeadline

    private var step = Step.sent
    private let sentAt: Duration
    private var wasRepeated = false
    /// A refusal while the repetition's own answer is still to come. The box does
    /// not remember refused ids and judges the repetition afresh: it might take it.
    private var provisional: CommandResultMessage?

    init(sentAt: Duration) { self.sentAt = sentAt }

    /// When ``timerFired(at:)`` has something to do; `nil` after the end.
    var nextDeadline: Duration? {
        switch step {
        case .sent: wasRepeated ? sentAt + Self.arrivesWithin : sentAt + Self.repeatAfter
        case .acknowledged: sentAt + Self.settlesWithin
        case .ended: nil
        }
    }

    var hasEnded: Bool { step == .ended }

    // MARK: Events

    mutating func acknowledgementReceived() -> [Action] {
        guard step == .sent else { return [] }
        step = .acknowledged
        provisional = nil
        return [.acknowledged]
    }

    /// - Parameter result: May come without any receipt: refused, or the receipt was lost.
    mutating func resultReceived(_ result: CommandResultMessage) -> [Action] {
        switch step {
        case .ended: return []
        case .acknowledged: return finish(.settled(result))
        case .sent:
            let isRefusal = result.state == .rejected || result.state == .expired
            guard isRefusal, wasRepeated, provisional == nil else { return finish(.settled(result)) }
            provisional = result
            return []
        }
    }

    mutating func timerFired(at now: Duration) -> [Action] {
        guard let deadline = nextDeadline, now >= deadline else { return [] }
        switch step {
        case .ended: return []
        case .acknowledged: return finish(.unconfirmed)
        case .sent:
            if now >= sentAt + Self.arrivesWithin {
                return finish(provisional.map { .settled($0) } ?? .neverArrived)
            }
            wasRepeated = true
            return [.repeatIt]
        }
    }

    /// The session is gone, and with it the box's memory of the id. A refusal that
    /// was provisional says nothing about the repetition.
    mutating func linkLost() -> [Action] {
        guard step != .ended else { return [] }
        return finish(.linkBroke(acknowledged: step == .acknowledged))
    }

    private mutating func finish(_ end: End) -> [Action] {
        step = .ended
        provisional = nil
        return [.finish(end)]
    }
}
