public import FoundationEssentials

/// How full the car is, and who says so. One value, one origin.
public struct CarLevel: Sendable, Equatable {
    public enum Origin: String, Sendable, CaseIterable {
        /// The car itself, at most five minutes ago.
        case car
        /// The car itself, longer ago.
        case carOld = "car_old"
        /// A person entered a level, and charging has been added since.
        case person
        /// The box counted on from something it had confirmed.
        case estimated
        /// The box assumed a level when the cable went in, and nobody corrected it.
        case assumed
        case unknown
    }

    /// What a person entered.
    public struct PersonSet: Sendable, Equatable {
        public var soc: Double
        public var at: Date

        public init(soc: Double, at: Date) {
            self.soc = soc
            self.at = at
        }
    }

    /// 0 to 1; `nil` when there is nothing to tell.
    public var soc: Double?
    public var origin: Origin
    /// No car is plugged in; then there is no level.
    public var isUnplugged: Bool
    /// When ``soc`` was true: the car's report, the person's entry, or the last
    /// good read of an old picture. `nil` for the box's own numbers and when not known.
    public var at: Date?
    /// The level is not of now: the car's word is older than five minutes, or
    /// the charger or the box has stopped answering.
    public var outdated: Bool
    /// The number from which the box plans; `nil` when it is none.
    public var planCountsFrom: Double?
    /// The person's entry that still counts.
    public var person: PersonSet?
    /// Somebody should enter the real level.
    public var needsRealLevel: Bool
    /// The estimate looks like the number that old boxes assume at plug-in.
    public var isUnconfirmed: Bool

    public init(
        soc: Double? = nil, origin: Origin = .unknown, isUnplugged: Bool = false, at: Date? = nil,
        outdated: Bool = false, planCountsFrom: Double? = nil, person: PersonSet? = nil,
        needsRealLevel: Bool = false, isUnconfirmed: Bool = false
    ) {
        self.soc = soc
        self.origin = origin
        self.isUnplugged = isUnplugged
        self.at = at
        self.outdated = outdated
        self.planCountsFrom = planCountsFrom
        self.person = person
        self.needsRealLevel = needsRealLevel
        self.isUnconfirmed = isUnconfirmed
    }

    /// The number that FTW guessed and everything else builds on; `nil` when it is no guess.
    public var assumedSoc: Double? {
        origin == .assumed || isUnconfirmed ? planCountsFrom ?? soc : nil
    }
}

/// What one evaluation of the level looks at.
public struct CarLevelInput: Sendable {
    /// The last answer about this loadpoint; `nil` when there is none.
    public var loadpoint: Loadpoint?
    /// When that answer was made.
    public var readAt: Date
    /// The answer is of the box's present run and its session.
    public var isOfThisRun: Bool
    /// The stream's verdict on the charger's driver; `nil` when it has none.
    public var isChargerHealthy: Bool?
    /// When the box started, by our clock; `nil` when not known.
    public var boxStartedAt: Date?
    public var now: Date

    public init(
        loadpoint: Loadpoint?, readAt: Date, isOfThisRun: Bool = true, isChargerHealthy: Bool? = nil,
        boxStartedAt: Date? = nil, now: Date
    ) {
        self.loadpoint = loadpoint
        self.readAt = readAt
        self.isOfThisRun = isOfThisRun
        self.isChargerHealthy = isChargerHealthy
        self.boxStartedAt = boxStartedAt
        self.now = now
    }
}

/// Decides where the level of one loadpoint's car comes from (box-api.md §B).
///
/// It remembers the little that the box does not: when the car itself last
/// spoke, what a person entered, and the last good picture.
public struct CarLevelTracker: Sendable, Equatable {
    /// From this age on, exclusive, the car's word is old.
    public static let liveLimit = 300.0

    /// The car's last live report.
    struct LastWord: Sendable, Equatable {
        var soc: Double
        var at: Date
        /// The session's energy then; when it falls, the report was before a trip.
        var sessionWh: Double?
    }

    public internal(set) var note: PersonNote?
    var lastWord: LastWord?
    var lastGood: CarLevel?
    var lastGoodAt: Date?

    public init() {}

    /// Remembers what a person entered and the box confirmed.
    public mutating func personSet(_ note: PersonNote) { self.note = note }

    /// Evaluates the table; the first row that fits decides.
    public mutating func level(_ input: CarLevelInput) -> CarLevel {
        guard let loadpoint = input.loadpoint, input.isOfThisRun, !loadpoint.isChargerUnavailable,
            input.isChargerHealthy != false, let pluggedIn = loadpoint.pluggedIn
        else { return lastPicture() }
        guard pluggedIn else {
            // A new session starts from nothing: no level from before a trip survives.
            self = CarLevelTracker()
            return remember(CarLevel(isUnplugged: true), input)
        }
        if let lastWord, let then = lastWord.sessionWh, let now = loadpoint.sessionWh, now < then {
            self.lastWord = nil
        }
        return remember(plugged(loadpoint, input), input)
    }

    /// Row 1: the last picture, marked old as a whole.
    private func lastPicture() -> CarLevel {
        guard var level = lastGood else { return CarLevel(outdated: true) }
        if level.at == nil, level.origin != .carOld { level.at = lastGoodAt }
        level.outdated = true
        return level
    }

    private mutating func remember(_ level: CarLevel, _ input: CarLevelInput) -> CarLevel {
        lastGood = level
        lastGoodAt = input.readAt
        return level
    }

    /// Rows 3 to 9.
    private mutating func plugged(_ lp: Loadpoint, _ input: CarLevelInput) -> CarLevel {
        let current = lp.currentSoc
        let age = lp.vehicleSocAgeS
        let reportedAt = age.map { input.readAt.addingTimeInterval(-$0) }
        let isUnreadable = lp.faults.contains { $0 == "vehicle_soc" || $0 == "vehicle_soc_pct" }

        if lp.isCarLive {
            note = nil
            guard let soc = lp.socOfLiveCar else { return CarLevel(planCountsFrom: current) }
            let at = reportedAt ?? input.readAt
            lastWord = LastWord(soc: soc, at: at, sessionWh: lp.sessionWh)
            // What was live when it was read grows old while nobody reads again.
            let isOld = input.now.timeIntervalSince(at) > Self.liveLimit
            return CarLevel(
                soc: soc, origin: isOld ? .carOld : .car, at: at, outdated: isOld, planCountsFrom: current)
        }

        judgeNote(lp, input)
        let isNoteUsable = note.map { $0.at <= input.readAt } ?? false
        let person = isNoteUsable ? note.map { CarLevel.PersonSet(soc: $0.soc, at: $0.at) } : nil

        if lp.vehicleDriver != nil, lp.vehicleStale == true || (age ?? 0) > Self.liveLimit,
            let soc = lp.vehicleSoc ?? (age != nil && !isUnreadable ? 0 : nil)
        {
            let at = reportedAt ?? lastWord?.at
            // A person who looked after the car spoke knows better.
            let personIsLater = person.map { person in at.map { person.at >= $0 } ?? true } ?? false
            if !personIsLater || current == nil {
                return CarLevel(
                    soc: soc, origin: .carOld, at: at, outdated: true, planCountsFrom: current, person: person
                )
            }
        }
        guard let current else { return CarLevel() }
        if let person {
            return CarLevel(
                soc: current, origin: .person, at: person.at, planCountsFrom: current, person: person)
        }
        switch lp.socSource {
        case .assumed:
            return CarLevel(
                soc: current, origin: .assumed, planCountsFrom: current, needsRealLevel: true)
        case .inferred:
            let looksAssumed = lp.isBase && (lp.sessionWh ?? .infinity) < 50 && abs(current - 0.20) <= 0.000_5
            return CarLevel(
                soc: current, origin: .estimated, planCountsFrom: current, needsRealLevel: looksAssumed,
                isUnconfirmed: looksAssumed)
        case .completed:
            // The box copied its target over the level; nobody measured that.
            return CarLevel(needsRealLevel: true)
        case .vehicle, .other, nil:
            return CarLevel()
        }
    }

    private mutating func judgeNote(_ lp: Loadpoint, _ input: CarLevelInput) {
        guard var note, note.at <= input.readAt else { return }
        guard note.stands(against: lp, boxStartedAt: input.boxStartedAt) else {
            self.note = nil
            return
        }
        note.retention = lp.socRetention
        note.boxStartedAt = input.boxStartedAt ?? note.boxStartedAt
        self.note = note
    }
}

extension Loadpoint {
    /// The car itself says how full it is, and said so at most five minutes before the answer was made.
    var isCarLive: Bool {
        socSource == .vehicle && vehicleStale != true
            && (vehicleSocAgeS.map { $0 <= CarLevelTracker.liveLimit } ?? true)
    }

    /// What a live car says, 0 to 1; `nil` when none does or it cannot be read.
    public var socOfLiveCar: Double? {
        guard isCarLive else { return nil }
        if let vehicleSoc { return vehicleSoc }
        // The box leaves the level out at exactly 0 %.
        return faults.contains { $0 == "vehicle_soc" || $0 == "vehicle_soc_pct" } ? nil : 0
    }
}
