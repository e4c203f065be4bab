import FoundationEssentials
public import JSONText

/// An intent as a document, for the ledger on disk. Not a topic's payload.
extension Intent {
    public var document: JSONValue {
        func optional(_ value: Double?) -> JSONValue { value.map(JSONValue.double) ?? .null }
        func optional(_ value: Int?) -> JSONValue { value.map { .int(Int64($0)) } ?? .null }
        return switch self {
        case .level(.exactly(let soc)): ["kind": "level", "soc": .double(soc)]
        case .level(.step(let step)): ["kind": "step", "soc": .double(step)]
        case .control(.chargeNow(let powerW, let until)):
            [
                "kind": "charge_now", "power_w": optional(powerW),
                "until": optional(until?.timeIntervalSince1970),
            ]
        case .control(.pause): ["kind": "pause"]
        case .control(.plan): ["kind": "plan"]
        case .goal(.clear): ["kind": "goal_clear"]
        case .goal(.change(let soc, let minute, let days, let recurring)):
            [
                "kind": "goal", "soc": optional(soc), "minute": optional(minute), "days": optional(days),
                "recurring": recurring.map(JSONValue.bool) ?? .null,
            ]
        case .surplusOnly(let on): ["kind": "surplus_only", "on": .bool(on)]
        case .boost(.cancel): ["kind": "boost_cancel"]
        case .boost(.start(let seconds, let soc)):
            ["kind": "boost", "seconds": .int(Int64(seconds)), "soc": .double(soc)]
        case .mode(let key): ["kind": "mode", "key": .string(key)]
        }
    }

    /// - Returns: `nil` for a document that is no intent.
    public init?(document: JSONValue) {
        let soc = document["soc"]?.doubleValue
        func int(_ name: String) -> Int? { document[name]?.intValue.flatMap(Int.init(exactly:)) }
        switch document["kind"]?.stringValue {
        case "level":
            guard let soc else { return nil }
            self = .level(.exactly(soc))
        case "step":
            guard let soc else { return nil }
            self = .level(.step(soc))
        case "charge_now":
            let until = document["until"]?.doubleValue.map(Date.init(timeIntervalSince1970:))
            self = .control(.chargeNow(powerW: document["power_w"]?.doubleValue, until: until))
        case "pause": self = .control(.pause)
        case "plan": self = .control(.plan)
        case "goal_clear": self = .goal(.clear)
        case "goal":
            self = .goal(
                .change(
                    soc: soc, minuteOfDay: int("minute"), days: int("days"),
                    isRecurring: document["recurring"]?.boolValue))
        case "surplus_only":
            guard let on = document["on"]?.boolValue else { return nil }
            self = .surplusOnly(on)
        case "boost_cancel": self = .boost(.cancel)
        case "boost":
            guard let seconds = int("seconds"), let soc else { return nil }
            self = .boost(.start(seconds: seconds, minBatterySoc: soc))
        case "mode":
            guard let key = document["key"]?.stringValue else { return nil }
            self = .mode(key)
        default: return nil
        }
    }
}
