import EnergyModel

/// A written sentence as it is to be heard.
///
/// Speech programs read `07:00` as "seven zero zero", `kW` as letters, and leave
/// the dash of `02:00–05:00` out, so whoever only listens would not understand
/// it. Words are put in their place; the sentence stays the same.
struct Speakable: Sendable {
    let language: Language

    func text(_ written: String) -> String {
        var said: [String] = []
        for token in joined(written).split(separator: " ").map(String.init) {
            let words = spoken(token, after: said)
            // "Tomorrow 00:00" is the midnight that everybody expects tonight.
            if words.count == 1, words[0].hasPrefix(midnight), let day = said.last,
                let start = tomorrows.first(where: { day == $0 || day.hasSuffix(" \($0)") })
            {
                let before = String(day.dropLast(start.count))
                let isLinked = before.isEmpty && said.dropLast().last.map(links.contains) ?? false
                said[said.count - 1] =
                    (before.isEmpty && !isLinked && language == .sv ? "vid " : before) + words[0]
            } else {
                said += words
            }
        }
        return said.joined(separator: " ").replacing(Self.noBreak, with: " ")
    }

    /// Words that belong together are one token as long as it is worked on.
    private static let noBreak = "\u{A0}"

    private func joined(_ written: String) -> String {
        pairs.reduce(written) { $0.replacing($1, with: $1.replacing(" ", with: Self.noBreak)) }
    }

    private var pairs: [String] { language == .sv ? ["i morgon", "i går"] + seasons : seasons }

    /// With the clock in front of them, where a time is there twice.
    private var seasons: [String] {
        language == .sv ? [" sommartid", " vintertid"] : [" summer time", " winter time"]
    }

    /// One word, which may become several.
    private func spoken(_ token: String, after before: [String]) -> [String] {
        let (opening, core, closing) = Self.bare(token)
        func whole(_ text: String) -> [String] { [opening + text + closing] }
        let last = before.last?.split(separator: " ").last.map(String.init)
        if let range = core.split(separator: "–", maxSplits: 1).map(String.init).pair {
            let start = clock(range.0) ?? words[range.0] ?? range.0
            let end = clock(range.1) ?? words[range.1] ?? range.1
            return ["\(opening)\(from) \(start) \(to) \(end)\(closing)"]
        }
        if core == "00:00" {
            // After the name of a day nobody knows which of its two ends "midnight" is.
            let isFree = last.map { !days.contains($0) } ?? true
            if isFree { return whole(midnight) }
        }
        if let clock = clock(core) {
            let isLinked = last.map { links.contains($0.lowercased()) } ?? true
            return isLinked || language == .sv ? whole(clock) : whole("at \(clock)")
        }
        // A digit and its sign in one word, such as 80%.
        if core.count > 1, core.hasSuffix("%") { return [opening + core.dropLast(), percent + closing] }
        return whole(words[core] ?? core)
    }

    /// A word without the marks around it.
    private static func bare(_ token: String) -> (opening: String, core: String, closing: String) {
        let opening = token.prefix { "(\"".contains($0) }
        var core = token.dropFirst(opening.count)
        var closing = ""
        while let last = core.last, ".,:;!?)\"…".contains(last) {
            if last != "…" { closing = String(last) + closing }
            core = core.dropLast()
        }
        return (String(opening), String(core), closing)
    }

    /// `7 am`, `5:30 pm`, `noon`; `klockan 7`, `klockan 17:30`.
    private func clock(_ text: String) -> String? {
        let parts = text.split(separator: Self.noBreak, maxSplits: 1).map(String.init)
        if let (clock, season) = parts.pair {
            return self.clock(clock).map { $0 + Self.noBreak + season }
        }
        guard text.isClock, let minute = TypedText.minuteOfDay(text) else { return nil }
        let (hour, rest) = (minute / 60, minute % 60)
        let past = rest == 0 ? "" : ":\(rest < 10 ? "0" : "")\(rest)"
        switch language {
        case .sv: return "klockan \(hour)\(past)"
        case .en:
            if minute == 720 { return "noon" }
            return "\(hour % 12 == 0 ? 12 : hour % 12)\(past) \(hour < 12 ? "am" : "pm")"
        }
    }

    private var midnight: String { language == .sv ? "midnatt" : "midnight" }
    private var tomorrows: [String] { language == .sv ? ["i\u{A0}morgon"] : ["tomorrow"] }
    private var days: Set<String> {
        language == .sv
            ? ["i\u{A0}går", "måndag", "tisdag", "onsdag", "torsdag", "fredag", "lördag", "söndag"]
            : ["yesterday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    }
    private var percent: String { words["%"] ?? "%" }
    private var from: String { language == .sv ? "från" : "from" }
    private var to: String { language == .sv ? "till" : "to" }
    /// After these a clock needs no "at".
    private var links: Set<String> { ["at", "by", "until", "from", "to", "since", "till", "before"] }

    private var words: [String: String] { language == .sv ? Self.swedish : Self.english }

    private static let english = [
        "%": "percent", "kW": "kilowatts", "W": "watts", "kWh": "kilowatt hours", "h": "hours",
        "Mon": "Monday", "Tue": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Fri": "Friday",
        "Sat": "Saturday", "Sun": "Sunday", "Jan": "January", "Feb": "February", "Mar": "March",
        "Apr": "April", "Jun": "June", "Jul": "July", "Aug": "August", "Sep": "September",
        "Oct": "October", "Nov": "November", "Dec": "December",
    ]
    private static let swedish = [
        "%": "procent", "kW": "kilowatt", "W": "watt", "kWh": "kilowattimmar", "h": "timmar",
        "mån": "måndag", "tis": "tisdag", "ons": "onsdag", "tors": "torsdag", "fre": "fredag",
        "lör": "lördag", "sön": "söndag", "jan": "januari", "feb": "februari", "aug": "augusti",
        "sep": "september", "okt": "oktober", "nov": "november", "dec": "december",
    ]
}

extension String {
    /// `07:00`
    fileprivate var isClock: Bool {
        let bytes = Array(utf8)
        return bytes.count == 5 && bytes[2] == UInt8(ascii: ":")
            && (bytes[..<2] + bytes[3...]).allSatisfy { (0x30...0x39).contains($0) }
    }
}

extension [String] {
    fileprivate var pair: (String, String)? { count == 2 ? (self[0], self[1]) : nil }
}
