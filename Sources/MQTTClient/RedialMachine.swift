import Ambient
import MQTTTypes

/// When to dial again, with which version of MQTT, and what to say about it. Pure.
///
/// It never gives up. The wait is a random part of a ceiling that doubles from
/// one second, so that many clients do not come back in the same instant. For
/// the first minutes the ceiling stays low: most brokers that go away are being
/// restarted. After that it rises to 40 s, which with the longest attempt stays
/// below the minute in which we promise to be back.
struct RedialMachine {
    struct Dial: Equatable {
        var version: BrokerSession.Version
        /// Counts up when an address did not answer, so that a name with an IPv4
        /// and an IPv6 address is not tried with the dead one for ever.
        var addressTurn: Int
    }

    struct Redial: Equatable {
        var loss: BrokerLoss
        var delay: Duration
        /// How loudly to say it; `nil` when it has been said.
        var announce: LogLevel?
    }

    static let firstCeiling = Duration.seconds(1)
    static let earlyCeiling = Duration.seconds(5)
    static let lateCeiling = Duration.seconds(40)
    static let earlyPhase = Duration.seconds(180)
    static let shortestDelay = Duration.milliseconds(250)
    /// Long, because the other copy is as stubborn as we are.
    static let takeoverDelay = Duration.seconds(60)
    static let longestTakeoverDelay = Duration.seconds(300)
    /// A connection that lasted this long ends a quarrel over the client id.
    static let peace = Duration.seconds(600)
    static let reminder = Duration.seconds(600)
    /// After this long on 3.1.1 the next connection tries MQTT 5 again: brokers get updated.
    static let fallbackLasts = Duration.seconds(6 * 3_600)
    /// Most brokers close without a word when somebody takes our client id. Without
    /// a claim to read, this many connections accepted and closed within
    /// `quick`, one right after the other, are taken for that.
    static let quickClosesForTakeover = 4
    static let quick = Duration.seconds(10)
    /// Some brokers answer an unknown version by closing; after this many
    /// closes before CONNACK one attempt is made with 3.1.1.
    static let silentClosesForFallback = 3

    private let settings: MQTTSettings
    private var failures = 0
    private var awaySince: Duration?
    private var acceptedAt: Duration?
    private var dialled: BrokerSession.Version
    private var fellBackAt: Duration?
    private var silentCloses = 0
    private var addressTurn = 0
    private var quickCloses = 0
    /// We held the claim before, in this run.
    private var hasClaimed = false
    /// Connections in a row at whose beginning another instance held the claim;
    /// `nil` when this one has not read it. One is no proof: a broker that lost
    /// its newest retained messages may show a claim of yesterday.
    private var strangeClaims: Int?
    private var earlierStrangeClaims = 0
    private var takeovers = 0
    private var spoken: (code: BrokerLoss.Code, at: Duration)?

    init(settings: MQTTSettings) {
        self.settings = settings
        dialled = settings.protocolPreference == .v311 ? .v311 : .v5
    }

    /// What to try now.
    mutating func dial(at now: Duration) -> Dial {
        if let since = fellBackAt, now - since >= Self.fallbackLasts { fellBackAt = nil }
        dialled =
            switch settings.protocolPreference {
            case .v5: .v5
            case .v311: .v311
            case .newest: fellBackAt != nil || silentCloses >= Self.silentClosesForFallback ? .v311 : .v5
            }
        return Dial(version: dialled, addressTurn: addressTurn)
    }

    /// What the claim topic held when this connection began.
    mutating func claimRead(ours: Bool) {
        strangeClaims = ours || !hasClaimed ? 0 : earlierStrangeClaims + 1
        earlierStrangeClaims = strangeClaims ?? 0
        hasClaimed = true
    }

    /// CONNACK said yes.
    ///
    /// - Returns: Whether to say so. In a quarrel over the client id it was said.
    mutating func accepted(at now: Duration) -> Bool {
        acceptedAt = now
        strangeClaims = nil
        awaySince = nil
        failures = 0
        if dialled == .v311, silentCloses >= Self.silentClosesForFallback { fellBackAt = now }
        silentCloses = 0
        if spoken?.code == .takenOver { return false }
        spoken = nil
        return true
    }

    /// The attempt or the connection is over.
    ///
    /// - Parameter chance: From 0 up to 1.
    mutating func ended(_ end: ConnectionEnd, at now: Duration, chance: Double) -> Redial {
        let lasted = acceptedAt.map { now - $0 }
        acceptedAt = nil
        let away = now - (awaySince ?? now)
        awaySince = awaySince ?? now
        failures += 1
        if let lasted, lasted >= Self.peace {
            takeovers = 0
            spoken = nil
        }
        let retryAtOnce = chooseVersion(after: end, wasAccepted: lasted != nil, at: now)
        chooseAddress(after: end)
        var loss = BrokerLoss(code: end.code, sentence: end.sentence(for: settings))
        var delay = Self.delay(failures: failures, away: away, chance: chance)
        if retryAtOnce { delay = Self.shortestDelay }
        if isTakeover(end, lasted: lasted) {
            loss.code = .takenOver
            if end != .dismissed(reason: Reason.takenOver) {
                loss.sentence =
                    "The broker takes us and closes at once, again and again; most likely"
                    + " another client uses the client id \(settings.clientID)."
            }
            delay = takeoverDelay(chance: chance)
        }
        loss.retryIn = end == .stopped ? nil : delay
        return Redial(loss: loss, delay: delay, announce: announcement(of: loss.code, at: now))
    }

    static func delay(failures: Int, away: Duration, chance: Double) -> Duration {
        let limit = away < earlyPhase ? earlyCeiling : lateCeiling
        var ceiling = firstCeiling
        for _ in 1..<max(2, min(failures, 8)) where failures > 1 { ceiling = min(ceiling * 2, limit) }
        return max(shortestDelay, ceiling * share(chance))
    }

    /// Whatever chance says, a number that a `Duration` can be multiplied with.
    private static func share(_ chance: Double) -> Double {
        chance.isNaN ? 0 : min(max(chance, 0), 1)
    }

    private mutating func takeoverDelay(chance: Double) -> Duration {
        takeovers += 1
        var base = Self.takeoverDelay
        for _ in 1..<max(2, min(takeovers, 8)) where takeovers > 1 {
            base = min(base * 2, Self.longestTakeoverDelay)
        }
        return base * (1 + Self.share(chance))
    }

    /// - Returns: Whether the other version is worth trying at once.
    private mutating func chooseVersion(
        after end: ConnectionEnd, wasAccepted: Bool, at now: Duration
    ) -> Bool {
        guard settings.protocolPreference == .newest, !wasAccepted else { return false }
        switch (end, dialled) {
        case (.refused(Reason.unsupportedVersion), .v5):
            fellBackAt = now
            return true
        case (.refused(Reason.unsupportedVersion), .v311):
            fellBackAt = nil
            silentCloses = 0
            return false
        case (.closed, .v5), (.tls(.closedEarly), .v5), (.protocolError, .v5):
            silentCloses += 1
            return false
        default:
            silentCloses = 0
            return false
        }
    }

    private mutating func chooseAddress(after end: ConnectionEnd) {
        switch end {
        case .connectFailed, .timedOut: addressTurn = (addressTurn + 1) % 64
        default: break
        }
    }

    private mutating func isTakeover(_ end: ConnectionEnd, lasted: Duration?) -> Bool {
        if end == .dismissed(reason: Reason.takenOver) { return true }
        if end == .closed, let strangeClaims, let lasted {
            quickCloses = 0
            return strangeClaims > 1 && lasted < Self.peace
        }
        guard end == .closed, let lasted, lasted < Self.quick else {
            quickCloses = 0
            return false
        }
        quickCloses += 1
        return quickCloses >= Self.quickClosesForTakeover
    }

    private mutating func announcement(of code: BrokerLoss.Code, at now: Duration) -> LogLevel? {
        guard code != .stopped else { return nil }
        if let spoken, spoken.code == code, now - spoken.at < Self.reminder { return nil }
        // After a takeover the lines of the quarrel (closed, taken over, closed) would alternate.
        if spoken?.code == .takenOver, code == .closed { return nil }
        spoken = (code, now)
        switch code {
        case .unreachable, .closed, .keepAlive, .nameUnknown: return .warning
        default: return .error
        }
    }
}
