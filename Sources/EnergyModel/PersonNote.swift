public import FoundationEssentials
public import JSONText

/// That a person entered a level, which the box itself forgets (box-api.md §B.2).
public struct PersonNote: Sendable, Equatable {
    /// The level that the box confirmed, 0 to 1.
    public var soc: Double
    /// When the box confirmed it.
    public var at: Date
    /// The session's energy then; `nil` when the box did not tell.
    public var sessionWh: Double?
    /// When the box had started, by our clock; `nil` when not known.
    public var boxStartedAt: Date?
    /// The box's last word on whether a confirmed level survives its restart.
    var retention: String?

    public init(soc: Double, at: Date, sessionWh: Double?, boxStartedAt: Date?) {
        self.soc = soc
        self.at = at
        self.sessionWh = sessionWh
        self.boxStartedAt = boxStartedAt
    }

    /// Two starts that lie closer together than this are the same run: the
    /// start is computed from an uptime and our own clock.
    static let sameRun = 120.0

    /// False once anything shows that somebody or something else moved the level.
    func stands(against lp: Loadpoint, boxStartedAt started: Date?) -> Bool {
        guard lp.pluggedIn == true, lp.socSource != .assumed, let current = lp.currentSoc else {
            return false
        }
        if let started, let before = boxStartedAt, abs(started.timeIntervalSince(before)) > Self.sameRun,
            retention != "session"
        {
            return false
        }
        guard let then = sessionWh, let now = lp.sessionWh else { return current >= soc - 0.01 }
        guard now >= then else { return false }
        let added = (now - then) / lp.capacity.wh
        // A box may count charging losses, and it stops counting at full.
        let low = min(soc + added * 0.85, 1) - 0.01
        let high = min(soc + added + 0.01, 1.01)
        return (low...max(low, high)).contains(current)
    }
}

extension PersonNote {
    init?(_ json: JSONValue) {
        guard let soc = json["soc"]?.doubleValue, (0...1).contains(soc),
            let at = json["at_ms"]?.doubleValue.flatMap(date(milliseconds:))
        else { return nil }
        self.init(
            soc: soc, at: at, sessionWh: json["session_wh"]?.doubleValue,
            boxStartedAt: json["box_started_ms"]?.doubleValue.flatMap(date(milliseconds:)))
        retention = json["retention"]?.stringValue
    }

    var json: JSONValue {
        [
            "soc": .double(soc), "at_ms": milliseconds(at),
            "session_wh": sessionWh.map(JSONValue.double) ?? .null,
            "box_started_ms": boxStartedAt.map(milliseconds) ?? .null,
            "retention": retention.map(JSONValue.string) ?? .null,
        ]
    }
}

extension CarLevelTracker {
    /// Reads what ``json`` wrote. Anything unusable in it is forgotten.
    public init(json: JSONValue) {
        self.init()
        note = json["note"].flatMap { PersonNote($0) }
        if let word = json["last_word"], let soc = word["soc"]?.doubleValue, (0...1).contains(soc),
            let at = word["at_ms"]?.doubleValue.flatMap(date(milliseconds:))
        {
            lastWord = LastWord(soc: soc, at: at, sessionWh: word["session_wh"]?.doubleValue)
        }
        lastGood = json["last_good"].flatMap { CarLevel(json: $0) }
        lastGoodAt = json["last_good_at_ms"]?.doubleValue.flatMap(date(milliseconds:))
    }

    /// Everything worth keeping on disk.
    public var json: JSONValue {
        var word = JSONValue.null
        if let lastWord {
            word = [
                "soc": .double(lastWord.soc), "at_ms": milliseconds(lastWord.at),
                "session_wh": lastWord.sessionWh.map(JSONValue.double) ?? .null,
            ]
        }
        return [
            "note": note?.json ?? .null, "last_word": word, "last_good": lastGood?.json ?? .null,
            "last_good_at_ms": lastGoodAt.map(milliseconds) ?? .null,
        ]
    }
}

extension CarLevel {
    init?(json: JSONValue) {
        guard let origin = json["origin"]?.stringValue.flatMap(Origin.init(rawValue:)) else { return nil }
        func fraction(_ key: String) -> Double? {
            json[key]?.doubleValue.flatMap { (0...1).contains($0) ? $0 : nil }
        }
        var person: PersonSet?
        if let soc = fraction("person_soc"),
            let at = json["person_ms"]?.doubleValue.flatMap(date(milliseconds:))
        {
            person = PersonSet(soc: soc, at: at)
        }
        self.init(
            soc: fraction("soc"), origin: origin, isUnplugged: json["unplugged"]?.boolValue ?? false,
            at: json["at_ms"]?.doubleValue.flatMap(date(milliseconds:)),
            outdated: json["outdated"]?.boolValue ?? true, planCountsFrom: fraction("plan_from"),
            person: person,
            needsRealLevel: json["needs_real_level"]?.boolValue ?? false,
            isUnconfirmed: json["unconfirmed"]?.boolValue ?? false)
    }

    var json: JSONValue {
        func fraction(_ value: Double?) -> JSONValue { value.map(JSONValue.double) ?? .null }
        return [
            "soc": fraction(soc), "origin": .string(origin.rawValue), "unplugged": .bool(isUnplugged),
            "at_ms": at.map(milliseconds) ?? .null, "outdated": .bool(outdated),
            "plan_from": fraction(planCountsFrom), "person_soc": fraction(person?.soc),
            "person_ms": person.map { milliseconds($0.at) } ?? .null,
            "needs_real_level": .bool(needsRealLevel),
            "unconfirmed": .bool(isUnconfirmed),
        ]
    }
}

/// `nil` for zero, for negative numbers and for times no household lives in.
func date(milliseconds: Double) -> Date? {
    guard milliseconds > 0, milliseconds < latestMilliseconds else { return nil }
    return Date(timeIntervalSince1970: milliseconds / 1_000)
}

func milliseconds(_ date: Date) -> JSONValue {
    .double((date.timeIntervalSince1970 * 1_000).rounded())
}
