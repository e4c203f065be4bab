import BoxLink

/// When to shake hands, and when not to (FTW wire §2.6, §9.3).
///
/// Silence is the box's only refusal, and every message 1 that it accepts costs
/// one of its four places whether or not the answer reaches us. So there is one
/// attempt at a time, a deadline for each, and a growing pause between them.
/// Pure: the session feeds it events and carries out the actions.
struct HandshakeDriver: Equatable {
    enum Action: Equatable {
        /// Start a new handshake and send its message 1, with the pairing code or empty.
        case begin(withCode: Bool)
        /// Forget handshake, session and all keys.
        case wipe
        /// The socket was found dead.
        case redial
        /// The first handshake is complete: the code is used up, forget it.
        case paired
        /// The code met silence three times and is not sent any more.
        case refuseCode
        /// A deadline passed without an answer.
        case unanswered
        /// Other clients keep taking our place; quiet for a while.
        case standBack
    }
    enum Phase: Equatable {
        /// No socket, or no box in the room.
        case away
        case waiting(deadline: Duration)
        case pausing(until: Duration)
        case up(since: Duration)
    }
    private enum StandBack: Equatable { case evicted, revoked }

    struct Timing: Equatable {
        var deadline = Contract.Session.handshakeDeadline
        var base = Contract.Session.handshakeBackoffBase
        var ceiling = Contract.Session.handshakeBackoffCap
        var revokedPause = Duration.seconds(3_600)
    }
    static let maxSilentCodes = 3
    /// A path that breaks again and again costs one of the box's places each
    /// time, because a session outlives its socket there. Beyond so many in a
    /// minute the next handshake waits, whatever the carrier does.
    static let maxRecent = 3
    static let recentWindow = Duration.seconds(60)

    private(set) var phase = Phase.away
    private let timing: Timing
    private var attempt = 0
    private var code: CodeState
    private var silentCodes = 0
    private var eviction = EvictionGuard()
    /// The running attempt follows a silent session; if it fails too, the socket is dead.
    private var isHealing = false
    private var standBack: (why: StandBack, until: Duration)?
    /// When the newest sessions came up, for as long as they count.
    private var recent: [Duration] = []
    private enum CodeState: Equatable { case none, held, refused }

    init(hasCode: Bool, timing: Timing = Timing()) {
        code = hasCode ? .held : .none
        self.timing = timing
    }

    static func == (a: Self, b: Self) -> Bool {
        a.phase == b.phase && a.attempt == b.attempt && a.code == b.code && a.silentCodes == b.silentCodes
            && a.eviction == b.eviction && a.isHealing == b.isHealing
            && a.recent == b.recent && a.standBack?.why == b.standBack?.why
            && a.standBack?.until == b.standBack?.until
    }

    /// When ``timerFired(at:chance:)`` has something to do.
    var nextDeadline: Duration? {
        switch phase {
        case .away, .up: nil
        case .waiting(let deadline): deadline
        case .pausing(let until): until
        }
    }

    // MARK: Events

    /// The box is in the room: everything older is void.
    mutating func ready(at now: Duration) -> [Action] {
        attempt = 0
        isHealing = false
        if let standBack, standBack.until > now {
            phase = .pausing(until: standBack.until)
            return [.wipe]
        }
        return [.wipe] + begin(at: now)
    }

    /// The box left the room, and with it every session it had.
    mutating func gone() -> [Action] {
        eviction.placesFreed()
        recent = []
        if standBack?.why == .evicted { standBack = nil }
        return leave()
    }

    /// The socket is gone.
    mutating func lost() -> [Action] {
        if isHealing { eviction.pathWasDead() }
        return leave()
    }

    /// Message 2 verified.
    mutating func established(at now: Duration) -> [Action] {
        guard case .waiting = phase else { return [] }
        phase = .up(since: now)
        recent = (recent + [now]).suffix(Self.maxRecent)
        attempt = 0
        silentCodes = 0
        isHealing = false
        standBack = nil
        defer { code = .none }
        return code == .none ? [] : [.paired]
    }

    /// The established session delivered nothing for too long, or the box ended it.
    mutating func sessionSilent(at now: Duration) -> [Action] {
        guard case .up(let since) = phase else { return [] }
        let wait = eviction.sessionSilent(age: now - since)
        guard wait > .zero else {
            isHealing = true
            return [.wipe] + begin(at: now)
        }
        standBack = (.evicted, now + wait)
        phase = .pausing(until: now + wait)
        return [.wipe, .standBack]
    }

    /// A fresh snapshot is wanted, which only a new session brings (FTW wire §11.10).
    mutating func renew(at now: Duration) -> [Action] {
        guard case .up = phase else { return [] }
        return [.wipe] + begin(at: now)
    }

    /// The owner removed this key. One attempt per hour, in case we were admitted again.
    mutating func revoked(at now: Duration) -> [Action] {
        standBack = (.revoked, now + timing.revokedPause)
        phase = .pausing(until: now + timing.revokedPause)
        isHealing = false
        return [.wipe]
    }

    /// - Parameter chance: From 0 up to but not including 1; spreads the retries.
    mutating func timerFired(at now: Duration, chance: Double) -> [Action] {
        switch phase {
        case .away, .up: return []
        case .pausing(let until):
            guard now >= until else { return [] }
            isHealing = standBack?.why == .evicted
            return begin(at: now)
        case .waiting(let deadline):
            guard now >= deadline else { return [] }
            return [.wipe] + unanswered(at: now, chance: chance)
        }
    }

    // MARK: Steps

    private mutating func begin(at now: Duration) -> [Action] {
        recent.removeAll { now - $0 >= Self.recentWindow }
        if recent.count >= Self.maxRecent, let oldest = recent.first {
            phase = .pausing(until: oldest + Self.recentWindow)
            return []
        }
        phase = .waiting(deadline: now + timing.deadline)
        return [.begin(withCode: code == .held)]
    }

    private mutating func leave() -> [Action] {
        phase = .away
        isHealing = false
        return [.wipe]
    }

    private mutating func unanswered(at now: Duration, chance: Double) -> [Action] {
        var actions: [Action] = []
        if code == .held {
            silentCodes += 1
            if silentCodes >= Self.maxSilentCodes {
                code = .refused
                actions.append(.refuseCode)
            }
        }
        actions.append(.unanswered)
        if standBack?.why == .revoked {
            return actions + revoked(at: now)
        }
        if isHealing {
            isHealing = false
            eviction.pathWasDead()
            standBack = nil
            phase = .away
            return actions + [.redial]
        }
        let ceiling = min(timing.ceiling, timing.base * (1 << min(attempt, 16)))
        attempt = min(attempt + 1, 16)
        phase = .pausing(until: now + ceiling * max(0, min(1, chance)))
        return actions
    }
}
