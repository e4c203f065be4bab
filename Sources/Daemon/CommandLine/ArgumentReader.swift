import Configuration

/// Options and arguments of one subcommand, separated and checked against its table.
struct ArgumentReader {
    let verb: Verb
    private(set) var values: [OptionSpec.Name: String] = [:]
    private(set) var arguments: [String] = []
    /// `--help` was among them; nothing else matters then.
    private(set) var wantsHelp = false

    /// - Parameter words: What follows the subcommand.
    init(_ verb: Verb, _ words: [String]) throws(UsageError) {
        self.verb = verb
        let options = verb.spec.options
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                arguments += rest
                break
            }
            guard Self.isOption(word) else {
                arguments.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            let name = parts.first ?? word
            guard let option = options.first(where: { $0.long == name || $0.short.map { "-\($0)" } == name })
            else {
                throw Self.unknown(name, verb, options)
            }
            if option.name == .help {
                wantsHelp = true
                return
            }
            if values[option.name] != nil {
                throw UsageError(text: "\(option.long) is given twice", verb: verb)
            }
            values[option.name] = try Self.value(of: option, parts.dropFirst().first, &rest, verb)
        }
    }

    private static func value(
        of option: OptionSpec, _ inline: String?, _ rest: inout ArraySlice<String>, _ verb: Verb
    ) throws(UsageError) -> String {
        guard let placeholder = option.value else {
            if inline != nil { throw UsageError(text: "\(option.long) takes no value", verb: verb) }
            return ""
        }
        let value = inline ?? (rest.first.map { isOption($0) } == false ? rest.popFirst() : nil)
        guard let value, !value.isEmpty else {
            throw UsageError(text: "\(option.long) needs a value: \(option.long) \(placeholder)", verb: verb)
        }
        return value
    }

    /// `-5` and `-` are arguments, not options.
    private static func isOption(_ word: String) -> Bool {
        guard word.hasPrefix("-"), word.count > 1 else { return false }
        return !(word.dropFirst().first?.isNumber ?? false)
    }

    private static func unknown(_ name: String, _ verb: Verb, _ options: [OptionSpec]) -> UsageError {
        // Long words may be a link that begins with a dash; it is not repeated.
        let shown = name.count <= 30 ? name : "that option"
        var text = "\(verb.rawValue) has no option \(shown)"
        if let other = Verb.allCases.first(where: { $0.spec.options.contains { $0.long == name } }) {
            text += "; it belongs to ftw-mqtt \(other.rawValue)"
        } else if let near = Nearest.match(name, among: options.map(\.long)) {
            text += "; did you mean \(near)?"
        }
        return UsageError(text: text, verb: verb)
    }

    // MARK: Values

    func has(_ name: OptionSpec.Name) -> Bool { values[name] != nil }

    /// - Parameter reason: Why the range ends where it does; `nil` where that is plain.
    func whole(
        _ name: OptionSpec.Name, _ range: ClosedRange<Int>, because reason: String? = nil
    ) throws(UsageError) -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let rule = "give a whole number from \(range.lowerBound) to \(range.upperBound)"
            throw wrong(name, reason.map { "\(rule): \($0)" } ?? rule)
        }
        return number
    }

    func decimal(_ name: OptionSpec.Name, _ range: ClosedRange<Double>) throws(UsageError) -> Double? {
        guard let text = values[name] else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw wrong(name, "give a number from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
        }
        return number
    }

    func choice(_ name: OptionSpec.Name, _ allowed: [String]) throws(UsageError) -> String? {
        guard let text = values[name] else { return nil }
        guard allowed.contains(text) else {
            throw wrong(name, "allowed are \(allowed.joined(separator: ", "))")
        }
        return text
    }

    func wrong(_ name: OptionSpec.Name, _ rule: String) -> UsageError {
        UsageError(
            text: "--\(name.rawValue) is \(values[name].map(Self.shown) ?? "missing"); \(rule)", verb: verb)
    }

    /// A value in an error text: short, and nothing that could be a link.
    static func shown(_ text: String) -> String {
        let printable = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        return text.count <= 40 && printable && !text.contains("#") ? text : "a text that is not shown here"
    }
}
