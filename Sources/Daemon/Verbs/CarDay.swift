import Bridge
import EnergyModel
import FoundationEssentials
import JSONText

/// When one car charges in the quarters ahead, and by when it is to be ready. Pure.
///
/// From the car's own windows: the plan's series holds the sum of all cars, and
/// only while there is a plan. Where no car tells of windows the sum is shown.
struct CarDay: Equatable {
    /// What stands in front of the row.
    var label: String
    /// One per quarter.
    var isCharging: [Bool]
    /// The quarter that holds the deadline; `nil` when none lies ahead that far.
    var deadline: Int?
    /// What the deadline is about, such as `80 % by 07:00`; `nil` without one.
    var goal: String?
    /// It will not be ready.
    var isLate = false

    private static let quarterS = 900.0
    private static let nameLimit = 11

    /// The cars that have anything to show, by id; the plan's sum when they have none.
    ///
    /// - Parameters:
    ///   - planW: What the plan gives all cars together, for each quarter from `start`.
    static func days(
        _ topics: [String: JSONValue], planW: [Double?], from start: Date, zone: Zone, language: Language
    ) -> [CarDay] {
        let (car, cars) = (LocalText("car", "bil")[language], LocalText("cars", "bilar")[language])
        let ids = topics.keys.compactMap { key -> String? in
            let levels = key.split(separator: "/", omittingEmptySubsequences: false)
            return levels.count == 3 && levels[0] == "car" && levels[2] == "ready" ? String(levels[1]) : nil
        }.sorted()
        var days = ids.compactMap { id in
            topics["car/\(id)/ready"].map { ready in
                CarDay(
                    label: ids.count == 1 ? car : String(id.prefix(nameLimit)), ready: ready, from: start,
                    count: planW.count, zone: zone, language: language)
            }
        }
        let planned = planW.map { $0.map { $0 >= MPCPlan.chargingW } ?? false }
        if planned.contains(true), !days.contains(where: { $0.isCharging.contains(true) }) {
            if days.count == 1 {
                days[0].isCharging = planned
            } else {
                days.append(CarDay(label: days.isEmpty ? car : cars, isCharging: planned))
            }
        }
        return days.filter { $0.isCharging.contains(true) || $0.deadline != nil }
    }

    init(label: String, isCharging: [Bool]) {
        self.label = label
        self.isCharging = isCharging
    }

    private init(
        label: String, ready: JSONValue, from start: Date, count: Int, zone: Zone,
        language: Language
    ) {
        self.label = label
        func moment(_ value: JSONValue?) -> Date? { value?.stringValue.flatMap(instant(rfc3339:)) }
        let windows = (ready["windows"]?.arrayValue ?? []).compactMap { window -> Range<Date>? in
            guard let from = moment(window["start"]), let to = moment(window["end"]), from < to else {
                return nil
            }
            return from..<to
        }
        isCharging = (0..<count).map { index in
            let quarter = start.addingTimeInterval(Double(index) * Self.quarterS)
            return windows.contains { $0.overlaps(quarter..<quarter.addingTimeInterval(Self.quarterS)) }
        }
        guard let by = moment(ready["by"]) else { return }
        let quarters = by.timeIntervalSince(start) / Self.quarterS
        guard quarters >= 0, quarters < Double(count) else { return }
        deadline = Int(quarters)
        isLate = ready["state"]?.stringValue == Readiness.State.late.rawValue
        let level = ready["goal"]?.doubleValue.flatMap { Int64(exactly: $0.rounded()) }
        goal =
            "\(level.map { "\($0) % " } ?? "")\(LocalText("by", "till")[language]) \(zone.clock(by, in: language))"
        if isLate, let expected = ready["expected"]?.doubleValue.flatMap({ Int64(exactly: $0.rounded()) }) {
            goal?.append(LocalText(", about \(expected) % then", ", ungefär \(expected) % då")[language])
        }
    }
}
