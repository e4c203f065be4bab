public import FoundationEssentials

/// A language in which the bridge speaks to people.
public enum Language: String, Sendable, CaseIterable {
    case en, sv
}

/// Everything the bridge may say to a person, as data (box-api.md §N).
///
/// A sentence is made whole in each language; nothing is put together from
/// translated fragments. The machine value always goes beside it, so that no
/// automation has to read words.
public enum Sentence: Sendable, Equatable {
    case level(CarLevel)
    /// `nil`: no goal is set.
    case goal(Goal?)
    /// Empty when there is nothing to say, such as during a hold.
    case readiness(Readiness)
    case charging(ChargingState)
    /// "Is FTW in control?" with the names of sources as people know them.
    case control(Control.Answer, blockedBy: [String], quiet: [String], lastWord: Date?)
    case link(Link)
    case receipt(Receipt)
    case refused(Refusal)
    /// Per kWh in main units, with its sign.
    case price(perKWh: Double, unit: String, until: Date)
    /// The cheapest unbroken hours; only their end while they run.
    case cheapest(hours: Int, start: Date, end: Date, isRunning: Bool)
    /// No unbroken stretch of that many hours is published.
    case noCheapest(hours: Double, knownHours: Double)
    case planStep(PlanStep, batteryW: Double)
    case planned(at: Date)

    /// How a command stands, as long as nothing went wrong.
    public enum Receipt: Sendable, Equatable {
        case sent, received, done
        /// The box kept something else.
        case overtaken(Value)
        /// The box took it and did not say what became of it.
        case unsure
        /// A later command of the same kind took its place.
        case replaced
    }

    /// What a command was about, as read back.
    public enum Value: Sendable, Equatable {
        case level(Double)
        case power(watts: Double)
        case on(Bool)
        case control(Intention)
        /// A name or number as it is.
        case plain(String)
    }

    /// What "charge now", "pause" and "plan" are called.
    public enum Intention: String, Sendable, CaseIterable {
        case plan
        case chargeNow = "charge_now"
        case paused
    }

    /// Why a command was not done; the token for machines is the raw value, and stable.
    public enum Refusal: String, Sendable, CaseIterable {
        case badPayload = "bad_payload"
        case unknownCommand = "unknown_command"
        case outOfRange = "out_of_range"
        case retained, expired, busy
        case rateLimited = "rate_limited"
        case readOnly = "read_only"
        case notPluggedIn = "not_plugged_in"
        case noCharger = "no_charger"
        case boxUnreachable = "box_unreachable"
        case noAnswer = "no_answer"
        case dispatchBlocked = "dispatch_blocked"
        case notAllowed = "not_allowed"
        case needsConsent = "needs_consent"
        case conflict, precondition, unsupported, unavailable, starting
    }

    /// Home Assistant takes no longer state than this, in Unicode scalars.
    public static let limit = 255

    /// The sentence in one language.
    ///
    /// - Parameters:
    ///   - zone: The household's zone.
    ///   - now: Decides which day is "tomorrow".
    /// - Returns: At most ``limit`` Unicode scalars.
    public func text(_ language: Language, zone: Zone, now: Date) -> String {
        let calendar = HouseholdCalendar(zone: zone, now: now)
        let text =
            switch language {
            case .en: English(calendar: calendar).text(self)
            case .sv: Swedish(calendar: calendar).text(self)
            }
        return Self.limited(text)
    }

    /// Cut to ``limit`` Unicode scalars.
    public static func limited(_ text: String) -> String {
        guard text.unicodeScalars.count > limit else { return text }
        var short = text
        while short.unicodeScalars.count > limit - 1 { short.removeLast() }
        return short + "…"
    }
}

/// What the house battery does in a stretch of time.
public enum PlanStep: String, Sendable, CaseIterable {
    case stores, gives, waits

    /// From 100 W on, the box's own bound (box-api.md §H).
    public init(batteryW: Double) {
        self = batteryW >= 100 ? .stores : batteryW <= -100 ? .gives : .waits
    }
}

/// Days as people name them, seen from now.
struct HouseholdCalendar {
    let zone: Zone
    let now: Date

    enum Day {
        case today, tomorrow, yesterday
        /// 0 = Monday … 6 = Sunday, within the next six days.
        case weekday(Int)
        /// The year only when it is another one.
        case date(day: Int, month: Int, year: Int?)
    }

    func day(of instant: Date) -> Day {
        let day = zone.day(of: instant)
        let today = zone.day(of: now)
        switch day.number - today.number {
        case 0: return .today
        case 1: return .tomorrow
        case -1: return .yesterday
        case 2...6: return .weekday(day.weekday)
        default: return .date(day: day.day, month: day.month, year: day.year == today.year ? nil : day.year)
        }
    }

    /// `07:05`; with the season's time, such as `02:15 winter time`, in the hour that is there twice.
    func clock(_ instant: Date, _ seasons: Seasons) -> String {
        let clock = zone.clock(instant)
        return season(of: instant, seasons).map { "\(clock) \($0)" } ?? clock
    }

    /// From one clock to another; a season that both have is said once.
    func clocks(_ start: Date, _ end: Date, _ seasons: Seasons) -> String {
        let isOneSeason = zone.turn(of: start) == zone.turn(of: end)
        return "\(isOneSeason ? zone.clock(start) : clock(start, seasons))–\(clock(end, seasons))"
    }

    /// What the two halves of the repeated hour are called.
    struct Seasons {
        var summer: String
        var winter: String
    }

    private func season(of instant: Date, _ seasons: Seasons) -> String? {
        switch zone.turn(of: instant) {
        case .first: seasons.summer
        case .second: seasons.winter
        case nil: nil
        }
    }

    func isSameDay(_ a: Date, _ b: Date) -> Bool { zone.day(of: a) == zone.day(of: b) }

    /// The deadline's clock time is not the goal's: the box keeps UTC and the
    /// clocks change in between.
    func shifts(_ goal: Goal) -> Bool {
        guard goal.recurring, let next = goal.nextDeadline else { return false }
        return zone.minuteOfDay(of: next) != goal.minuteOfDay
    }
}

extension Zone {
    /// `07:05`; with the season's time, such as `02:15 winter time`, in the hour that is there twice.
    public func clock(_ instant: Date, in language: Language) -> String {
        let seasons =
            switch language {
            case .en: English.seasons
            case .sv: Swedish.seasons
            }
        return HouseholdCalendar(zone: self, now: instant).clock(instant, seasons)
    }
}

/// Numbers for people. The sign is never lost.
enum Numeral {
    /// - Parameters:
    ///   - decimals: How many are shown; more, up to four, when a number that is
    ///     not zero would otherwise read as zero.
    ///   - mark: The language's decimal mark.
    static func text(_ value: Double, decimals: Int, mark: String) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "?" }
        for places in decimals...max(decimals, 4) {
            let scale = power(places)
            let whole = Int64((abs(value) * Double(scale)).rounded())
            if whole == 0, value != 0, places < max(decimals, 4) { continue }
            // The minus sign, not the hyphen: "Giving, −0.8 kW" is no dash between two words.
            let sign = value < 0 && whole != 0 ? "−" : ""
            guard places > 0 else { return sign + String(whole) }
            return sign + String(whole / scale) + mark + pad(Int(whole % scale), places)
        }
        return "0"
    }

    private static func power(_ places: Int) -> Int64 { (0..<places).reduce(1) { value, _ in value * 10 } }

    /// Whole percent of a fraction.
    static func percent(_ soc: Double) -> String {
        guard soc.isFinite else { return "?" }
        return String(Int((min(max(soc, 0), 1) * 100).rounded()))
    }
}

/// The names that a sentence has room for; the rest is only counted.
struct NameList {
    let shown: [String]
    let more: Int

    init(_ names: [String]) {
        shown = names.prefix(3).map { name in
            name.count <= 40 ? name : String(name.prefix(39)) + "…"
        }
        more = names.count - shown.count
    }

    func joined(and word: String, more moreWord: String) -> String {
        var parts = shown
        if more > 0 { parts.append("\(more) \(moreWord)") }
        guard let last = parts.last else { return "?" }
        return parts.count == 1 ? last : parts.dropLast().joined(separator: ", ") + " \(word) " + last
    }

    var isPlural: Bool { shown.count + more > 1 }
}
