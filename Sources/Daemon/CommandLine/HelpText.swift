/// Help as text, at most 80 columns wide unless a command to copy is longer.
enum HelpText {
    private static let width = 80

    static func overview() -> String {
        var lines = [
            "ftw-mqtt brings the house behind an FTW box to MQTT and Home Assistant.", "",
            "Usage: ftw-mqtt [COMMAND] [OPTIONS]", "", "Commands:",
        ]
        lines += table(Verb.allCases.map { ($0.rawValue, $0.spec.summary) })
        lines += ["", "Every command has --help. First steps: ftw-mqtt demo, then ftw-mqtt pair -", ""]
        lines += exitCodes
        return lines.joined(separator: "\n") + "\n"
    }

    static func help(for verb: Verb) -> String {
        let spec = verb.spec
        let arguments = spec.arguments.isEmpty ? "" : " \(spec.arguments)"
        var lines = ["ftw-mqtt \(verb.rawValue): \(spec.summary)", ""]
        lines += [
            "Usage: ftw-mqtt \(verb.rawValue)\(spec.options == [.help] ? "" : " [OPTIONS]")\(arguments)", "",
        ]
        for paragraph in spec.about { lines += TextLayout.wrapped(paragraph, width: width) + [""] }
        lines.append("Options:")
        lines += table(
            spec.options.map { option in
                let short = option.short.map { "-\($0), " } ?? ""
                return (short + option.long + (option.value.map { " \($0)" } ?? ""), option.about)
            })
        if !spec.examples.isEmpty {
            lines += ["", "Examples:"]
            for example in spec.examples { lines += ["  # \(example.does)", "  \(example.line)"] }
        }
        if verb != .version { lines += [""] + exitCodes }
        return lines.joined(separator: "\n") + "\n"
    }

    private static var exitCodes: [String] {
        ["Exit codes:"] + table(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) })
    }

    /// Two columns, the second wrapped under itself.
    private static func table(_ rows: [(String, String)]) -> [String] {
        let column = min(rows.map(\.0.count).max() ?? 0, 28) + 4
        return rows.flatMap { left, right in
            let wrapped = TextLayout.wrapped(right, width: width - column)
            let head = "  " + left
            let pad =
                head.count + 2 <= column
                ? String(repeating: " ", count: column - head.count) : "\n" + spaces(column)
            let rest = wrapped.dropFirst().map { spaces(column) + $0 }
            return [head + pad + (wrapped.first ?? "")] + rest
        }
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
}
