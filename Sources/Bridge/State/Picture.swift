import EnergyModel
import FoundationEssentials
import JSONText

/// The last known state of the site on disk, so that a restart shows the house
/// at once, dated and marked as not live.
///
/// Nothing in it may pass for news: the link starts over, no source is
/// healthy, and who is in control is not kept at all.
enum Picture {
    private static let version: Int64 = 1

    static func save(_ state: SiteState) -> JSONValue {
        [
            "version": .int(version), "cars": state.cars.map { .array($0.map(\.json)) } ?? nil,
            "last_frame": date(state.link.lastFrameAt),
            "box": state.box.map(box) ?? nil,
            "sources": .array(state.sources.map(source)),
            "power": state.power.map { power in
                [
                    "grid": number(power.gridW), "solar": number(power.solarW),
                    "battery": number(power.batteryW), "car": number(power.carW),
                    "house": number(power.houseW), "at": date(power.at),
                ]
            } ?? nil,
            "battery": state.battery.map { ["soc": number($0.soc), "at": date($0.at)] } ?? nil,
            "mode": state.mode.map { mode in
                [
                    "current": mode.current.map(entry) ?? nil,
                    "catalogue": .array(mode.catalogue.map(entry)),
                ]
            } ?? nil,
        ]
    }

    /// `nil` when there is none or it is from another version.
    ///
    /// - Parameter household: The zone in which deadlines are reckoned, for a box.
    static func restore(
        _ value: JSONValue?, now: Date, household: (BoxFacts?) -> HouseholdZone
    ) -> SiteState? {
        guard let value, value["version"]?.intValue == version else { return nil }
        var state = SiteState(
            link: Link(state: .connecting, since: now, lastFrameAt: date(value["last_frame"])))
        state.box = value["box"].flatMap(box)
        state.sources = (value["sources"]?.arrayValue ?? []).compactMap(source)
        if let saved = value["power"], let at = date(saved["at"]) {
            state.power = Power(
                gridW: saved["grid"]?.doubleValue, solarW: saved["solar"]?.doubleValue,
                batteryW: saved["battery"]?.doubleValue, carW: saved["car"]?.doubleValue,
                houseW: saved["house"]?.doubleValue, at: at)
        }
        if let saved = value["battery"], let at = date(saved["at"]) {
            state.battery = Battery(soc: saved["soc"]?.doubleValue, at: at)
        }
        if let saved = value["mode"], let entries = saved["catalogue"]?.arrayValue {
            state.mode = Mode(
                current: saved["current"].flatMap(entry), catalogue: entries.compactMap(entry))
        }
        let zone = household(state.box)
        if let saved = value["cars"]?.arrayValue {
            let cars = saved.compactMap { CarState(json: $0, zone: zone, now: now) }
            if cars.count == saved.count { state.cars = cars }
        }
        return state
    }

    private static func box(_ facts: BoxFacts) -> JSONValue {
        [
            "id": text(facts.id), "build": .string(facts.build), "zone": text(facts.zone),
            "role": text(facts.role), "scopes": facts.scopes.map(list) ?? nil,
            "capabilities": list(facts.capabilities),
        ]
    }

    private static func box(_ value: JSONValue) -> BoxFacts? {
        guard let build = value["build"]?.stringValue else { return nil }
        return BoxFacts(
            id: value["id"]?.stringValue, build: build, zone: value["zone"]?.stringValue,
            role: value["role"]?.stringValue, scopes: value["scopes"]?.arrayValue.map(strings),
            capabilities: strings(value["capabilities"]?.arrayValue ?? []))
    }

    private static func source(_ source: Source) -> JSONValue {
        [
            "id": .string(source.id), "name": .string(source.name),
            "state": .string(source.state.rawValue),
            "roles": .array(source.roles.map(\.rawValue).sorted().map(JSONValue.string)),
            "last_answered": date(source.lastAnswered),
            "stale_after": number(source.staleAfter.map { $0 / .seconds(1) }),
        ]
    }

    private static func source(_ value: JSONValue) -> Source? {
        guard let id = value["id"]?.stringValue, let name = value["name"]?.stringValue else { return nil }
        let stale = value["stale_after"]?.doubleValue.flatMap { (0...1e9).contains($0) ? $0 : nil }
        return Source(
            id: id, name: name,
            state: value["state"]?.stringValue.flatMap(Source.State.init) ?? .unknown,
            roles: Set(strings(value["roles"]?.arrayValue ?? []).compactMap(Source.Role.init)),
            lastAnswered: date(value["last_answered"]), staleAfter: stale.map { .seconds($0) },
            isHealthy: false)
    }

    private static func entry(_ entry: Mode.Entry) -> JSONValue {
        ["key": .string(entry.key), "label": .string(entry.label), "tier": .string(entry.tier)]
    }

    private static func entry(_ value: JSONValue) -> Mode.Entry? {
        guard let key = value["key"]?.stringValue else { return nil }
        return Mode.Entry(
            key: key, label: value["label"]?.stringValue ?? key, tier: value["tier"]?.stringValue ?? "")
    }

    private static func list(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }
    private static func strings(_ values: [JSONValue]) -> [String] { values.compactMap(\.stringValue) }
    private static func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? nil }
    private static func number(_ value: Double?) -> JSONValue { value.map(JSONValue.double) ?? nil }
    private static func date(_ date: Date?) -> JSONValue { number(date?.timeIntervalSince1970) }

    /// Dates far outside a person's life are no dates.
    private static func date(_ value: JSONValue?) -> Date? {
        guard let seconds = value?.doubleValue, (0...32_503_680_000).contains(seconds) else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }
}
