/// The kinds of values, each as a way to build a `Field`.
extension Field {
    typealias Path<Value> = any WritableKeyPath<Root, Value> & Sendable

    /// Any kind: `parse` turns the raw value into what is stored.
    static func value<Value: Equatable & Sendable>(
        _ key: SettingKey, _ path: Path<Value>,
        _ parse: @escaping @Sendable (RawValue) throws(Refusal) -> Value
    ) -> Field {
        Field(
            key: key,
            read: { (raw: RawValue, root: inout Root) throws(Refusal) in root[keyPath: path] = try parse(raw)
            },
            same: { $0[keyPath: path] == $1[keyPath: path] })
    }

    /// A text; `check` gives the reason against it, `nil` when it is fine.
    static func text(
        _ key: SettingKey, _ path: Path<String>, _ check: @escaping @Sendable (String) -> TextVerdict
    ) -> Field {
        value(key, path) { raw throws(Refusal) in try checked(raw, check) }
    }

    static func optionalText(
        _ key: SettingKey, _ path: Path<String?>, _ check: @escaping @Sendable (String) -> TextVerdict
    ) -> Field {
        value(key, path) { raw throws(Refusal) in try checked(raw, check) }
    }

    static func choice<Value: RawRepresentable & CaseIterable & Equatable & Sendable>(
        _ key: SettingKey, _ path: Path<Value>
    ) -> Field where Value.RawValue == String {
        value(key, path) { raw throws(Refusal) in try Values.choice(text(of: raw)) }
    }

    static func flag(_ key: SettingKey, _ path: Path<Bool>) -> Field {
        value(key, path) { raw throws(Refusal) in try Values.flag(text(of: raw)) }
    }

    static func whole(_ key: SettingKey, _ path: Path<Int>, _ range: ClosedRange<Int>) -> Field {
        value(key, path) { raw throws(Refusal) in try Values.whole(text(of: raw), range) }
    }

    static func optionalWhole(_ key: SettingKey, _ path: Path<Int?>, _ range: ClosedRange<Int>) -> Field {
        value(key, path) { raw throws(Refusal) in try Values.whole(text(of: raw), range) }
    }

    private static func checked(
        _ raw: RawValue, _ check: (String) -> TextVerdict
    ) throws(Refusal) -> String {
        let text = try text(of: raw)
        switch check(text) {
        case .fine: return text
        case .not: throw Refusal()
        case .because(let reason): throw Refusal(reason: reason)
        }
    }

    static func text(of raw: RawValue) throws(Refusal) -> String {
        if case .text(let text, _, _) = raw { return text }
        throw Refusal()
    }
}

/// What a check thinks of a text.
enum TextVerdict: Equatable {
    case fine
    /// The key's general rule says it all.
    case not
    /// Instead of the general rule.
    case because(String)

    static func fineIf(_ condition: Bool) -> TextVerdict { condition ? .fine : .not }
}

/// Texts to values. No number from outside can overflow.
enum Values {
    static func flag(_ text: String) throws(Refusal) -> Bool {
        switch text.lowercased() {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default: throw Refusal()
        }
    }

    static func whole(_ text: String, _ range: ClosedRange<Int>) throws(Refusal) -> Int {
        let digits = text.hasPrefix("-") ? text.dropFirst() : Substring(text)
        guard !digits.isEmpty,
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(text), range.contains(number)
        else { throw Refusal() }
        return number
    }

    static func decimal(_ text: String, _ range: ClosedRange<Double>) throws(Refusal) -> Double {
        guard text.utf8.count <= 20, text.utf8.allSatisfy({ "+-.0123456789".utf8.contains($0) }) else {
            throw text.contains(",")
                ? Refusal(reason: "write the decimals after a point, such as 0.50") : Refusal()
        }
        guard let number = Double(text), range.contains(number) else { throw Refusal() }
        return number
    }

    /// `60`, `60s`, `5min`, `1h`: seconds when no unit is named.
    static func duration(_ text: String, _ range: ClosedRange<Int>) throws(Refusal) -> Duration {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count).drop { $0 == " " }
        let factors = ["": 1, "s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600]
        guard let number = Int(digits), let factor = factors[String(unit)] else { throw Refusal() }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow, range.contains(seconds) else { throw Refusal() }
        return .seconds(seconds)
    }

    static func choice<Value: RawRepresentable & CaseIterable>(
        _ text: String
    ) throws(Refusal) -> Value where Value.RawValue == String {
        if let value = Value(rawValue: text) { return value }
        guard let near = Nearest.match(text, among: Value.allCases.map(\.rawValue)) else { throw Refusal() }
        throw Refusal(reason: "\(allowed(Value.self)); did you mean \(near)?")
    }

    /// `allowed are calm, normal and fast`
    static func allowed<Value: RawRepresentable & CaseIterable>(
        _: Value.Type
    ) -> String where Value.RawValue == String {
        "allowed are " + joined(Value.allCases.map(\.rawValue))
    }

    /// `a, b and c`
    static func joined(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }

    /// The items of a list; a single text is a list of one, separated at commas.
    static func items(_ raw: RawValue) throws(Refusal) -> [String] {
        switch raw {
        case .list(let items): return items
        case .text(let text, _, _):
            return text.split(separator: ",", omittingEmptySubsequences: false).map {
                String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
        case .other, .nothing: throw Refusal()
        }
    }

    /// Each name once, in the order of the enum. `all` and `none` stand for every and no name.
    static func choices<Value: RawRepresentable & CaseIterable & Equatable>(
        _ raw: RawValue
    ) throws(Refusal) -> [Value] where Value.RawValue == String {
        let items = try items(raw)
        if items == ["all"] { return Array(Value.allCases) }
        if items.isEmpty || items == ["none"] || items == [""] { return [] }
        var values: [Value] = []
        for item in items {
            do throws(Refusal) {
                values.append(try choice(item))
            } catch {
                throw Refusal(found: "contains \(Shown.value(item))", reason: error.reason)
            }
        }
        return Value.allCases.filter { values.contains($0) }
    }

    /// Different whole numbers, ascending.
    static func wholes(_ raw: RawValue, _ range: ClosedRange<Int>, most: Int) throws(Refusal) -> [Int] {
        var numbers: Set<Int> = []
        let items = try items(raw)
        for item in items {
            guard let number = try? whole(item, range) else {
                throw Refusal(found: "contains \(Shown.value(item))")
            }
            if !numbers.insert(number).inserted { throw Refusal(found: "contains \(number) twice") }
        }
        guard !numbers.isEmpty else { throw Refusal(found: "is empty") }
        guard numbers.count <= most else { throw Refusal(found: "has \(numbers.count) numbers") }
        return numbers.sorted()
    }
}
