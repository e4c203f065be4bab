import EnergyModel
import FoundationEssentials
import JSONText

/// Values of the site as the documents of the topic table: units at the door,
/// unknown as `null`, every member always there.
struct SiteDocuments {
    typealias Document = [String: JSONValue]

    let household: HouseholdZone
    let language: Language
    var zone: Zone { household.zone }

    /// What people read, in the language chosen.
    func sentence(_ sentence: Sentence, at now: Date) -> JSONValue {
        .string(sentence.text(language, zone: zone, now: now))
    }

    func power(_ power: Power?, isLive: Bool) -> Document {
        [
            "grid": watts(power?.gridW), "solar": watts(power?.solarW), "battery": watts(power?.batteryW),
            "car": watts(power?.carW), "house": watts(power?.houseW), "at": time(power?.at),
            "live": .bool(isLive),
        ]
    }

    func battery(_ battery: Battery?, isLive: Bool) -> Document {
        ["level": percent(battery?.soc), "at": time(battery?.at), "live": .bool(isLive)]
    }

    func control(_ control: Control, sources: [Source], lastWordAt: Date?, now: Date) -> Document {
        let names = Dictionary(sources.map { ($0.id, $0.shownName) }, uniquingKeysWith: { first, _ in first })
        let said = Sentence.control(
            control.answer, blockedBy: control.blockedBy.map { names[$0] ?? $0 },
            quiet: control.quiet.map { names[$0] ?? $0 }, lastWord: lastWordAt)
        let inControl: JSONValue =
            switch control.answer {
            case .yes, .partly: true
            case .no: false
            case .unknown: nil
            }
        return [
            "in_control": inControl, "answer": .string(control.answer.rawValue),
            "blocked_by": .array(control.blockedBy.map(JSONValue.string)),
            "quiet": .array(control.quiet.map(JSONValue.string)), "since": time(control.since),
            "sentence": sentence(said, at: now),
        ]
    }

    func mode(_ mode: Mode?, isLive: Bool) -> Document {
        let labels = ModeLabels(mode?.catalogue ?? [])
        return [
            "key": text(mode?.current?.key), "label": text(mode?.current.map(labels.label)),
            "catalogue": .array(
                (mode?.catalogue ?? []).map { entry in
                    [
                        "key": .string(entry.key), "label": .string(labels.label(of: entry)),
                        "tier": .string(entry.tier),
                    ]
                }),
            "live": .bool(isLive),
        ]
    }

    func link(_ link: Link, now: Date) -> Document {
        [
            "state": .string(link.state.rawValue), "since": time(link.since),
            "reason": text(link.reason?.rawValue), "boot_percent": whole(link.bootPercent),
            "sentence": sentence(.link(link), at: now),
        ]
    }

    func source(_ source: Source, shown: Source.State, isHealthy: Bool, at: Date) -> Document {
        [
            "id": .string(source.id), "name": .string(source.name), "state": .string(shown.rawValue),
            "roles": .array(Source.Role.allCases.filter(source.roles.contains).map { .string($0.rawValue) }),
            "healthy": .bool(isHealthy), "last_answered": time(source.lastAnswered),
            "stale_after_s": source.staleAfter.map { number($0 / .seconds(1)) } ?? nil, "at": time(at),
        ]
    }

    func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? nil }
    func whole(_ value: Int?) -> JSONValue { value.map { .int(Int64($0)) } ?? nil }
    func time(_ date: Date?) -> JSONValue { date.map { .string(zone.iso8601($0)) } ?? nil }

    /// Whole watts or watt-hours.
    func watts(_ value: Double?) -> JSONValue {
        guard let value, let watts = Int64(exactly: value.rounded()) else { return nil }
        return .int(watts)
    }

    /// Percent with one decimal; a level outside 0 to 1 is no level.
    func percent(_ soc: Double?) -> JSONValue {
        guard let soc, (0...1).contains(soc) else { return nil }
        return number((soc * 1_000).rounded() / 10)
    }

    func number(_ value: Double) -> JSONValue {
        guard value.isFinite else { return nil }
        return Int64(exactly: value).map(JSONValue.int) ?? .double(value)
    }
}

extension Source {
    /// What people see: the name as typed, or the id when nobody typed one.
    var shownName: String { name.allSatisfy(\.isWhitespace) ? (id.isEmpty ? "?" : id) : name }
}

/// The names under which people see the modes: the box's labels, told apart by
/// the key where two are the same. Document and Home Assistant's options both
/// come from here, so a state is always one of the options.
struct ModeLabels {
    private let ambiguous: Set<String>
    let all: [String]

    init(_ catalogue: [Mode.Entry]) {
        var seen: Set<String> = []
        var twice: Set<String> = []
        for entry in catalogue where !seen.insert(Self.plain(entry)).inserted {
            twice.insert(Self.plain(entry))
        }
        ambiguous = twice
        var labels: [String] = []
        for entry in catalogue {
            let label = Self.label(of: entry, ambiguous: twice)
            if !labels.contains(label) { labels.append(label) }
        }
        all = labels
    }

    func label(of entry: Mode.Entry) -> String { Self.label(of: entry, ambiguous: ambiguous) }

    private static func label(of entry: Mode.Entry, ambiguous: Set<String>) -> String {
        let plain = plain(entry)
        return ambiguous.contains(plain) ? "\(plain.prefix(120)) (\(entry.key.prefix(120)))" : plain
    }

    /// At most 255 characters, the most that Home Assistant takes as a state.
    private static func plain(_ entry: Mode.Entry) -> String {
        String((entry.label.isEmpty ? entry.key : entry.label).prefix(255))
    }
}
