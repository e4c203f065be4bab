import Bridge
import EnergyModel
import FoundationEssentials
import JSONText

/// The next 24 hours as a few lines of text: price levels, plan, cars. Pure.
///
/// Drawn from the retained series and the cars' readiness alone. In a terminal that can show them prices
/// are bars, elsewhere the digits of their levels, so that the picture survives a log or a mail.
struct DayPicture {
    private let zone: Zone
    private let language: Language
    private let start: Date
    private let prices: [Double?]
    private let unit: String
    private let actions: [PlanStep?]
    private let cars: [CarDay]
    /// What is to be said of a plan that may not hold any more.
    private let doubt: String?

    private static let quarterS = 900.0
    private static let count = 96

    /// `nil` when there is neither a price, nor a plan, nor a car with something ahead.
    ///
    /// - Parameters:
    ///   - language: Of the labels; the unit and the cars' ids are the bridge's.
    init?(topics: [String: JSONValue], language: Language = .en, now: Date) {
        self.language = language
        zone = topics["bridge/info"]?["zone"]?.stringValue.flatMap { Zone(named: $0) } ?? .utc
        start = Date(
            timeIntervalSince1970: (now.timeIntervalSince1970 / Self.quarterS).rounded(.down) * Self.quarterS)
        let series = topics["price/series"]
        let plan = topics["plan/series"]
        unit = series?["unit"]?.stringValue ?? "per kWh"
        prices = Self.quarters(series, "total", from: start) { $0.doubleValue }
        actions = Self.quarters(plan, "action", from: start) { $0.stringValue.flatMap(PlanStep.init) }
        doubt = Self.doubt(plan, zone: zone, language: language, now: now)
        let carW = Self.quarters(plan, "car", from: start) { $0.doubleValue }
        cars = CarDay.days(topics, planW: carW, from: start, zone: zone, language: language)
        guard prices.contains(where: { $0 != nil }) || actions.contains(where: { $0 != nil }) || !cars.isEmpty
        else { return nil }
    }

    /// Made longer ago than this a plan is doubtful, also when nobody is there to say so, in seconds.
    private static let doubtfulAge = 1_800.0

    private static func doubt(_ plan: JSONValue?, zone: Zone, language: Language, now: Date) -> String? {
        let plannedAt = plan?["planned_at"]?.stringValue.flatMap(instant(rfc3339:))
        let isAged = plannedAt.map { now.timeIntervalSince($0) > doubtfulAge } ?? false
        guard plan?["stale"]?.boolValue == true || isAged else { return nil }
        let words = LocalText("The plan may not hold any more.", "Planen gäller kanske inte längre.")[
            language]
        return plannedAt.map { "\(words) " + Sentence.planned(at: $0).text(language, zone: zone, now: now) }
            ?? words
    }

    /// What the arrays of `start` and `step_s` hold for each quarter ahead.
    private static func quarters<Value>(
        _ series: JSONValue?, _ member: String, from start: Date, _ read: (JSONValue) -> Value?
    ) -> [Value?] {
        let nothing = [Value?](repeating: nil, count: count)
        guard let series, let first = series["start"]?.stringValue.flatMap(instant(rfc3339:)),
            let step = series["step_s"]?.doubleValue, step >= 1, let values = series[member]?.arrayValue
        else { return nothing }
        return (0..<count).map { index in
            let offset = start.addingTimeInterval(Double(index) * quarterS).timeIntervalSince(first) / step
            guard offset >= 0, offset < Double(values.count) else { return nil }
            return read(values[Int(offset)])
        }
    }

    private func say(_ en: String, _ sv: String) -> String { LocalText(en, sv)[language] }

    func lines(_ terminal: Terminal) -> [String] {
        let label = 14
        // As fine as the width allows: a quarter, half an hour or an hour per column.
        let perColumn = [1, 2, 4].first { Self.count / $0 + label <= terminal.width } ?? 4
        let columns = Self.count / perColumn
        func group<Value>(_ values: [Value?], _ index: Int) -> [Value] {
            values[(index * perColumn)..<((index + 1) * perColumn)].compactMap { $0 }
        }
        func row(_ name: String, _ text: String) -> String {
            "  \(name)\(String(repeating: " ", count: max(1, label - 2 - name.count)))\(text)"
        }
        /// Words below marks, in as many lines as they take.
        func note(_ text: String) -> [String] {
            terminal.wrapped(text, indent: label).map { row("", $0) }
        }
        var lines = [row(say("next 24 h", "24 h framåt"), hours(columns: columns, perColumn: perColumn))]
        let known = prices.compactMap { $0 }
        if let low = known.min(), let high = known.max() {
            let bars = (0..<columns).map { index -> String in
                let here = group(prices, index)
                guard !here.isEmpty else { return " " }
                let mean = here.reduce(0, +) / Double(here.count)
                return Self.bar(Self.level(mean, low: low, high: high), terminal)
            }
            lines.append(row(say("price", "pris"), bars.joined()))
            lines += note("\(text(low)) \(say("to", "till")) \(text(high)) \(unit)")
        } else {
            lines.append(row(say("price", "pris"), say("prices unknown", "priser okända")))
        }
        if actions.contains(where: { $0 != nil }) {
            let marks = (0..<columns).map { Self.mark(Self.commonest(group(actions, $0)), terminal) }
            lines.append(row("plan", marks.joined()))
            lines.append(row("", say("+ stores  - gives  . waits", "+ lagrar  - ger  . väntar")))
            if let doubt { lines += note(doubt) }
        }
        for car in cars {
            let marks = (0..<columns).map { column in
                if let deadline = car.deadline, deadline / perColumn == column {
                    return terminal.styled("|", car.isLate ? .red : .bold)
                }
                let isCharging = group(car.isCharging.map(Optional.some), column).contains(true)
                return isCharging ? terminal.styled("#", .cyan) : " "
            }
            lines.append(row(car.label, marks.joined()))
            let key = say("# charges", "# laddar") + (car.goal.map { "  | \($0)" } ?? "")
            lines += key.count + label > terminal.width ? note(key) : [row("", key)]
        }
        return lines.map { line in
            var line = line[...]
            while line.last == " " { line.removeLast() }
            return String(line)
        }
    }

    /// The clock of the household, each third hour, where there is room for it.
    private func hours(columns: Int, perColumn: Int) -> String {
        var text = ""
        for index in 0..<columns {
            let instant = start.addingTimeInterval(Double(index * perColumn) * Self.quarterS)
            let minute = zone.minuteOfDay(of: instant)
            let isFirst = minute % 60 < perColumn * 15
            if isFirst, minute / 60 % 3 == 0, text.count <= index, index + 2 <= columns {
                text += String(repeating: " ", count: index - text.count)
                text += minute < 600 ? "0\(minute / 60)" : "\(minute / 60)"
            }
        }
        return text
    }

    private static func level(_ price: Double, low: Double, high: Double) -> Int {
        guard high - low >= 0.01 else { return 4 }
        return 1 + min(7, max(0, Int((8 * (price - low) / (high - low)).rounded(.down))))
    }

    private static func bar(_ level: Int, _ terminal: Terminal) -> String {
        guard terminal.hasBlocks else { return "\(level)" }
        let bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
        let bar = bars[min(max(level, 1), 8) - 1]
        return terminal.styled(bar, level <= 3 ? .green : level <= 5 ? .yellow : .red)
    }

    private static func mark(_ step: PlanStep?, _ terminal: Terminal) -> String {
        switch step {
        case .stores: terminal.styled("+", .green)
        case .gives: terminal.styled("-", .yellow)
        case .waits: terminal.styled(".", .faint)
        case nil: " "
        }
    }

    /// Of equals, the one that is more than waiting.
    private static func commonest(_ steps: [PlanStep]) -> PlanStep? {
        [PlanStep.stores, .gives, .waits].filter(steps.contains).max { a, b in
            steps.count { $0 == a } < steps.count { $0 == b }
        }
    }

    /// With its sign, to the hundredth.
    private func text(_ price: Double) -> String {
        guard let cents = Int64(exactly: (price * 100).rounded()) else { return "?" }
        let digits = Self.pad2(cents.magnitude % 100)
        return "\(cents < 0 ? "-" : "")\(cents.magnitude / 100)\(say(".", ","))\(digits)"
    }

    private static func pad2(_ value: UInt64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
