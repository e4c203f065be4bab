import BoxLink
import EnergyModel
import FoundationEssentials

/// How we stand with the box, as a person may read it. Pure.
struct LinkTracker: Equatable {
    private(set) var link: Link
    private var wasLive = false
    /// A planned change of room or session is not shown unless it takes longer than this.
    private(set) var graceUntil: Duration?

    /// Box and bridge come back to the new room each in its own time, the box
    /// within 5 s (FTW wire §1.5); the rest is for dialling and the handshake.
    static let rotationGrace = Duration.seconds(7)

    init(at wall: Date) { link = Link(state: .connecting, since: wall) }

    /// A frame of the box was opened.
    mutating func frame(at wall: Date) { link.lastFrameAt = wall }

    mutating func joined(at wall: Date) {
        guard graceUntil == nil else { return }
        down(.waitingForBox, .boxAway, at: wall)
    }

    /// The box is in the room; what is known to be wrong stays until it is proven right.
    mutating func ready(at wall: Date) {
        guard graceUntil == nil else { return }
        switch link.reason {
        case .boxAway, .boxGone, .relayUnreachable, .relayBusy, .relayUnknownAuthority, .relayWrongHost,
            .relayCertificate, .clockWrong:
            down(.waitingForBox, nil, at: wall)
        default: down(.waitingForBox, link.reason, at: wall)
        }
    }

    mutating func gone(at wall: Date) {
        graceUntil = nil
        down(.waitingForBox, .boxGone, at: wall)
    }

    /// - Parameter graceUntil: Until when a planned loss is kept quiet; `nil` for an unplanned one.
    mutating func lost(_ cause: CarrierLoss.Cause, graceUntil grace: Duration?, at wall: Date) {
        if cause == .rotated {
            // Every hour, and over in seconds.
            keepQuiet(until: grace)
            if graceUntil == nil, link.isUp { down(.connecting, .boxAway, at: wall) }
            return
        }
        graceUntil = nil
        let reason: Link.Reason =
            switch cause {
            // Our own doing, for what was known before; the relay has done nothing wrong.
            case .redialled: link.reason ?? .silent
            case .unknownAuthority: .relayUnknownAuthority
            case .wrongHost: .relayWrongHost
            case .tlsFailed: .relayCertificate
            case .refused: .relayBusy
            case .clockWrong: .clockWrong
            // A relay that fell silent or whose socket broke cannot be reached until the next dial
            // shows otherwise, and that one's end is told in turn.
            case .unreachable, .silent, .closed, .rotated: .relayUnreachable
            }
        down(.connecting, reason, at: wall)
    }

    /// We end the session ourselves to get a fresh one.
    mutating func keepQuiet(until grace: Duration?) {
        if link.isUp { graceUntil = grace }
    }

    mutating func unanswered(codeRefused: Bool, at wall: Date) {
        guard graceUntil == nil else { return }
        if link.reason == .evicted, !codeRefused { return }
        down(.waitingForBox, codeRefused ? .codeRefused : .handshakeUnanswered, at: wall)
    }

    mutating func silent(evicted: Bool, at wall: Date) {
        graceUntil = nil
        down(.waitingForBox, evicted ? .evicted : .silent, at: wall)
    }

    mutating func booting(percent: Int?, at wall: Date) {
        graceUntil = nil
        move(to: .booting, nil, at: wall)
        link.bootPercent = percent
    }

    /// The first snapshot of a session arrived.
    ///
    /// - Parameter greeting: The mode of `hello_ok`; `nil` when it never came.
    mutating func live(greeting: String?, at wall: Date) {
        graceUntil = nil
        wasLive = true
        switch greeting {
        case "readonly": move(to: .readonly, nil, at: wall)
        case "floor": move(to: .floor, nil, at: wall)
        default: move(to: .live, nil, at: wall)
        }
    }

    mutating func revoked(at wall: Date) {
        graceUntil = nil
        move(to: .revoked, .revoked, at: wall)
    }

    mutating func timerFired(at now: Duration, wall: Date) {
        guard let graceUntil, now >= graceUntil else { return }
        self.graceUntil = nil
        down(.connecting, .boxAway, at: wall)
    }

    private mutating func down(_ state: Link.State, _ reason: Link.Reason?, at wall: Date) {
        guard link.state != .revoked else { return }
        move(to: wasLive ? .lost : state, reason, at: wall)
    }

    private mutating func move(to state: Link.State, _ reason: Link.Reason?, at wall: Date) {
        if link.state != state {
            link.state = state
            link.since = wall
        }
        link.reason = reason
        link.bootPercent = nil
    }
}
