/// What to ask the box's interface for, and when (box API §M).
///
/// Nothing is asked because time passed. Each kind of answer has a *name* for
/// the age of its data; whoever learns that something happened changes the name,
/// and a name that was not answered yet is asked for once. Pure.
struct AskBook: Equatable {
    /// In the order in which they go when several are due.
    enum Kind: Int, CaseIterable, Comparable {
        case chargers
        case plan
        case prices
        case energy

        /// From this age on an answer no longer stands when somebody starts looking.
        var timeToLive: Duration {
            switch self {
            case .chargers: .seconds(60)
            case .plan: .seconds(900)
            // These stand as long as their name does.
            case .prices, .energy: .seconds(1_000_000_000)
            }
        }

        /// How often it is asked within ``AskBook/burstWindow`` at most. A plan is many frames, and
        /// the relay cuts off whoever sends more than 60 a second for long (FTW wire §1.6):
        /// commands one after the other must not cost the session.
        var burst: Int { self == .plan ? 4 : .max }

        static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }
    /// One question that goes out now.
    struct Ask: Equatable {
        var kind: Kind
        var why: String
    }
    private struct Later: Equatable {
        var at: Duration
        var why: String
    }
    private struct Entry: Equatable {
        /// Grows with every change of what an answer would have to cover.
        var name: UInt64 = 1
        /// What changed first since the last question.
        var why = "nothing is known yet"
        var answered: UInt64 = 0
        var asked: UInt64?
        var askedAt: Duration?
        var answeredAt: Duration?
        var hasFailed = false
        var pause = AskBook.firstPause
        var retryAt: Duration?
        var later: Later?
        /// Until then the newest answer stands even if nothing happens.
        var standsUntil: Duration?

        /// When it was asked within ``AskBook/burstWindow``, oldest first.
        var askedLately: [Duration] = []

        var isWaiting: Bool { answered != name && asked == nil }

        /// Until then it was asked often enough; `nil` when it may be asked.
        func restsUntil(_ kind: Kind) -> Duration? {
            guard askedLately.count >= kind.burst, let first = askedLately.first else { return nil }
            return first + AskBook.burstWindow
        }
    }
    static let burstWindow = Duration.seconds(10)
    static let firstPause = Duration.seconds(30)
    static let longestPause = Duration.seconds(900)

    private var entries = [Entry](repeating: Entry(), count: Kind.allCases.count)

    private subscript(kind: Kind) -> Entry {
        get { entries[kind.rawValue] }
        set { entries[kind.rawValue] = newValue }
    }

    // MARK: What is known

    func isUnderWay(_ kind: Kind) -> Bool { self[kind].asked != nil }
    /// The last question of that kind failed, so what is held is old.
    func hasFailed(_ kind: Kind) -> Bool { self[kind].hasFailed }

    // MARK: Names change

    /// Something happened that an answer so far does not cover. A question under
    /// way may have been answered before it, so it is not credited with the new name.
    mutating func changed(_ kind: Kind, _ why: String) {
        if self[kind].name == self[kind].asked ?? self[kind].answered { self[kind].why = why }
        self[kind].name &+= 1
    }

    /// The same, but not before `at`; the earlier of two such moments stays.
    mutating func changes(_ kind: Kind, at: Duration, _ why: String) {
        if let later = self[kind].later, later.at <= at { return }
        self[kind].later = Later(at: at, why: why)
    }

    /// Somebody starts looking: what is older than its time to live no longer stands.
    mutating func looked(at now: Duration, _ why: String) {
        for kind in Kind.allCases {
            self[kind].retryAt = nil
            // What is under way will be young enough.
            guard self[kind].asked == nil, let answeredAt = self[kind].answeredAt,
                now - answeredAt > kind.timeToLive
            else { continue }
            changed(kind, why)
        }
    }

    /// A new session: earlier failures may have been the link's, and every question
    /// of the old one is void.
    mutating func reconnected(at now: Duration) {
        for kind in Kind.allCases {
            self[kind].asked = nil
            self[kind].pause = Self.firstPause
        }
        looked(at: now, "the stream is back")
    }

    /// The box process is another one: nothing it answered before stands.
    mutating func restarted() {
        for kind in Kind.allCases {
            changed(kind, "the box restarted")
            self[kind].later = nil
        }
    }

    // MARK: Questions

    /// What to ask now, most urgent first; marks it as asked.
    ///
    /// - Parameter wanted: The kinds that are of any use now.
    mutating func take(_ wanted: Set<Kind>, at now: Duration) -> [Ask] {
        var asks: [Ask] = []
        for kind in Kind.allCases {
            if let later = self[kind].later, later.at <= now {
                self[kind].later = nil
                changed(kind, later.why)
            }
            if let end = self[kind].standsUntil, end <= now {
                self[kind].standsUntil = nil
                changed(kind, "the interval is over")
            }
            guard wanted.contains(kind), self[kind].isWaiting else { continue }
            if let retryAt = self[kind].retryAt, now < retryAt { continue }
            self[kind].askedLately.removeAll { now - $0 >= Self.burstWindow }
            if self[kind].restsUntil(kind) != nil { continue }
            if kind.burst < .max { self[kind].askedLately.append(now) }
            let isRetry = self[kind].retryAt != nil
            self[kind].asked = self[kind].name
            self[kind].askedAt = now
            self[kind].retryAt = nil
            self[kind].standsUntil = nil
            asks.append(Ask(kind: kind, why: isRetry ? "again after a failure" : self[kind].why))
        }
        return asks
    }

    /// A good answer came.
    ///
    /// - Parameter standsFor: How long after its question it is asked again although
    ///   nothing happened; `nil` for as long as its name holds.
    mutating func answered(_ kind: Kind, at now: Duration, standsFor: Duration? = nil) {
        guard let asked = self[kind].asked else { return }
        self[kind].answered = asked
        self[kind].asked = nil
        self[kind].answeredAt = now
        // From the question, so that the interval holds however long an answer takes.
        self[kind].standsUntil = standsFor.map { (self[kind].askedAt ?? now) + $0 }
        self[kind].hasFailed = false
        self[kind].pause = Self.firstPause
    }

    /// No usable answer came; the last one stays, marked old, and the question
    /// goes out again after a growing pause.
    mutating func failed(_ kind: Kind, at now: Duration) {
        self[kind].asked = nil
        self[kind].hasFailed = true
        self[kind].retryAt = now + self[kind].pause
        self[kind].pause = min(self[kind].pause * 2, Self.longestPause)
    }

    /// The session ended before an answer; the box never said no.
    mutating func lost(_ kind: Kind) { self[kind].asked = nil }

    /// When ``take(_:at:)`` would give something by time alone.
    func nextDeadline(_ wanted: Set<Kind>) -> Duration? {
        var next: Duration?
        for kind in wanted {
            let entry = self[kind]
            let waiting = entry.isWaiting ? [entry.retryAt, entry.restsUntil(kind)] : []
            for moment in [entry.later?.at, entry.standsUntil, waiting.compactMap(\.self).max()] {
                if let moment { next = next.map { min($0, moment) } ?? moment }
            }
        }
        return next
    }
}
