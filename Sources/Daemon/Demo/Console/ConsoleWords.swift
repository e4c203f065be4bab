/// The words of one line, taken from the front. Pure.
struct ConsoleWords {
    private var rest: ArraySlice<String>
    /// What was taken so far, for messages.
    private(set) var taken: [String] = []

    /// The longest line that is read, in bytes of UTF-8.
    static let longest = 2_000

    init(_ line: String) throws(ConsoleFault) {
        guard line.utf8.count <= Self.longest else {
            throw ConsoleFault("the line is longer than \(Self.longest) bytes")
        }
        guard line.unicodeScalars.allSatisfy({ $0 == "\t" || $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw ConsoleFault("the line holds characters that are not text")
        }
        rest = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)[...]
    }

    var isEmpty: Bool { rest.isEmpty }
    var first: String? { rest.first }
    var count: Int { rest.count }

    /// A word from outside as it may stand in an answer.
    static func shown(_ word: String) -> String {
        word.count <= 40 ? "\"\(word)\"" : "\"\(word.prefix(37))…\""
    }

    /// The next word.
    ///
    /// - Parameter wanted: What it should have been, for the message.
    mutating func word(_ wanted: String) throws(ConsoleFault) -> String {
        guard let word = rest.popFirst() else { throw ConsoleFault("\(place) needs \(wanted)") }
        taken.append(word)
        return word
    }

    /// All that is left, with single spaces.
    mutating func text(_ wanted: String) throws(ConsoleFault) -> String {
        guard !rest.isEmpty else { throw ConsoleFault("\(place) needs \(wanted)") }
        defer { rest = [] }
        return rest.joined(separator: " ")
    }

    /// One of some words.
    mutating func choice(_ allowed: [String]) throws(ConsoleFault) -> String {
        let list = allowed.joined(separator: ", ")
        let before = place
        let word = try word("one of \(list)")
        guard allowed.contains(word) else { throw wrong(before, word, "allowed: \(list)") }
        return word
    }

    mutating func choice<T: RawRepresentable & CaseIterable>(_ type: T.Type) throws(ConsoleFault) -> T
    where T.RawValue == String {
        let word = try choice(T.allCases.map(\.rawValue))
        guard let value = T(rawValue: word) else { throw ConsoleFault("\(Self.shown(word)) is not known") }
        return value
    }

    mutating func isOn() throws(ConsoleFault) -> Bool { try choice(["on", "off"]) == "on" }

    /// A number within a range.
    mutating func number(_ what: String, _ range: ClosedRange<Double>) throws(ConsoleFault) -> Double {
        let rule = "\(what), \(Self.short(range.lowerBound)) to \(Self.short(range.upperBound))"
        let before = place
        let word = try word(rule)
        guard let number = Self.decimal(word), range.contains(number) else {
            throw wrong(before, word, "give \(rule)")
        }
        return number
    }

    mutating func whole(_ what: String, _ range: ClosedRange<Int>) throws(ConsoleFault) -> Int {
        let rule = "\(what), a whole number from \(range.lowerBound) to \(range.upperBound)"
        let before = place
        let word = try word(rule)
        guard let number = Int(word), range.contains(number) else {
            throw wrong(before, word, "give \(rule)")
        }
        return number
    }

    /// Percent as a share from 0 to 1.
    mutating func percent(_ what: String) throws(ConsoleFault) -> Double {
        try number("\(what) in percent", 0...100) / 100
    }

    /// Everything left, as numbers.
    mutating func numbers(_ what: String, _ range: ClosedRange<Double>) throws(ConsoleFault) -> [Double] {
        var numbers: [Double] = []
        repeat { numbers.append(try number(what, range)) } while !isEmpty
        return numbers
    }

    func end() throws(ConsoleFault) {
        guard let word = rest.first else { return }
        throw ConsoleFault("\(place) takes nothing more, but there is \(Self.shown(word))")
    }

    func wrong(_ before: String, _ word: String, _ rule: String) -> ConsoleFault {
        ConsoleFault("\(before): \(Self.shown(word)) is not right; \(rule)")
    }

    /// The words so far; short, whatever they were.
    var place: String {
        taken.isEmpty ? "the line" : taken.suffix(3).map { String($0.prefix(24)) }.joined(separator: " ")
    }

    private static func short(_ value: Double) -> String {
        Int(exactly: value).map(String.init) ?? "\(value)"
    }

    /// Digits with at most one point and a sign: no `nan`, no `0x10`, no `1e9`.
    private static func decimal(_ word: String) -> Double? {
        guard word.utf8.count <= 20, word.utf8.allSatisfy({ "0123456789.-+".utf8.contains($0) }) else {
            return nil
        }
        guard let number = Double(word), number.isFinite else { return nil }
        return number
    }
}
