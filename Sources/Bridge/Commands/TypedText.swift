import FoundationEssentials
import JSONText

/// Numbers, times and words as a person or a program writes them.
enum TypedText {
    /// White space at both ends, and quotes around the whole, mean nothing.
    static func trimmed(_ text: String) -> String {
        func isBlank(_ character: Character) -> Bool { character.isWhitespace || character.isNewline }
        var slice = text[...]
        while let first = slice.first, isBlank(first) { slice.removeFirst() }
        while let last = slice.last, isBlank(last) { slice.removeLast() }
        if slice.count >= 2, slice.first == "\"", slice.last == "\"" {
            return trimmed(String(slice.dropFirst().dropLast()))
        }
        return String(slice)
    }

    /// Whether nothing is in it that disturbs whoever reads it: no control or format
    /// character, none of private use or without a meaning.
    static func isPrintable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
                .paragraphSeparator:
                false
            default: true
            }
        }
    }

    /// A word without case, with `_` between its parts.
    static func word(_ text: String) -> String {
        trimmed(text).lowercased().split { $0.isWhitespace || $0 == "_" || $0 == "-" }.joined(separator: "_")
    }

    struct Quantity: Equatable {
        var number: Double
        /// Lower case, without spaces; empty when there was none.
        var unit: String
        var hasSign: Bool
    }

    /// `62`, `62 %`, `62,5`, `+5`, `7.4 kW`. `nil` for anything else, also for
    /// `1,000`, which may be one or a thousand.
    static func quantity(_ text: String) -> Quantity? {
        var rest = trimmed(text)[...]
        guard rest.utf8.count <= 40 else { return nil }
        var sign = 1.0
        var hasSign = false
        if let first = rest.first, "+-−".contains(first) {
            if first != "+" { sign = -1 }
            hasSign = true
            rest.removeFirst()
            while rest.first == " " { rest.removeFirst() }
        }
        func digits() -> String {
            let run = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(run.count)
            return String(run)
        }
        let whole = digits()
        guard (1...9).contains(whole.count) else { return nil }
        var fraction = ""
        if let mark = rest.first, mark == "." || mark == "," {
            rest.removeFirst()
            fraction = digits()
            guard (1...6).contains(fraction.count), mark == "." || fraction.count != 3 else { return nil }
        }
        guard let number = Double(fraction.isEmpty ? whole : "\(whole).\(fraction)"), number.isFinite
        else { return nil }
        let unit = rest.filter { !$0.isWhitespace }.lowercased()
        guard unit.allSatisfy({ $0.isLetter || $0 == "%" }) else { return nil }
        return Quantity(number: sign * number, unit: unit, hasSign: hasSign)
    }

    /// The same of a JSON member, which may be a number or a text.
    ///
    /// - Parameter units: Those that mean what is asked for, in lower case; a number without
    ///   one is always taken. `nil` for any other: an hour is no minute.
    static func quantity(_ value: JSONValue, in units: Set<String>) -> Quantity? {
        if let text = value.stringValue {
            return quantity(text).flatMap { $0.unit.isEmpty || units.contains($0.unit) ? $0 : nil }
        }
        guard let number = value.doubleValue, number.isFinite, abs(number) < 1e12 else { return nil }
        return Quantity(number: number, unit: "", hasSign: number < 0)
    }

    static let percentUnits: Set = ["%"]
    static let minuteUnits: Set = ["m", "min"]
    static let secondUnits: Set = ["s", "sec", "sek"]

    /// `ON`, `off`, `true`, `1`, `ja` …
    static func flag(_ value: JSONValue) -> Bool? {
        if let flag = value.boolValue { return flag }
        let text = value.stringValue ?? value.intValue.map(String.init) ?? ""
        switch word(text) {
        case "on", "true", "1", "yes", "på", "ja": return true
        case "off", "false", "0", "no", "av", "nej": return false
        default: return nil
        }
    }

    /// `07:00`, `7:00`, `07.00`, `07:00:00`; minutes after midnight.
    static func minuteOfDay(_ text: String) -> Int? {
        let parts = trimmed(text).split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == ":" || $0 == "." })
        guard parts.count == 2 || parts.count == 3, (1...2).contains(parts[0].count),
            parts.dropFirst().allSatisfy({ $0.count == 2 }),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60,
            parts.count == 2 || parts[2] == "00"
        else { return nil }
        return hour * 60 + minute
    }

    private static let days: [[String]] = [
        ["monday", "måndag", "mandag"], ["tuesday", "tisdag"], ["wednesday", "onsdag"],
        ["thursday", "torsdag"], ["friday", "fredag"], ["saturday", "lördag", "lordag"],
        ["sunday", "söndag", "sondag"],
    ]

    /// 0 = Monday … 6 = Sunday, from three letters on.
    static func weekday(_ text: String) -> Int? {
        let word = word(text)
        guard word.count >= 3 else { return nil }
        return days.firstIndex { names in
            names.contains { $0.hasPrefix(word) || word == $0 + "s" || word == $0 + "ar" }
        }
    }

    /// Bit 0 = Monday … bit 6 = Sunday; 0 = every day. Takes `weekdays`, `mon tue`,
    /// `mån–fre`, `mon,wed`.
    static func days(_ text: String) -> Int? {
        switch word(text) {
        case "every_day", "daily", "all", "varje_dag", "dagligen", "alla": return 0
        case "weekdays", "vardagar": return 31
        case "weekends", "weekend", "helger", "helg": return 96
        default: break
        }
        var bits = 0
        let parts = trimmed(text).split { $0.isWhitespace || $0 == "," || $0 == "+" }
        guard (1...14).contains(parts.count) else { return nil }
        for part in parts {
            let ends = part.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "–" }
            guard (1...2).contains(ends.count), let first = weekday(String(ends[0])),
                let last = ends.count == 2 ? weekday(String(ends[1])) : first
            else { return nil }
            var day = first
            bits |= 1 << day
            while day != last {
                day = (day + 1) % 7
                bits |= 1 << day
            }
        }
        return bits == 127 ? 0 : bits
    }
}
