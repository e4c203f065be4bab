import CLinux
import Glibc

/// What is known about the place that text goes to.
struct Terminal: Equatable, Sendable {
    var isTerminal: Bool
    /// Columns, at least 40.
    var width: Int
    var hasColour: Bool
    /// Bars may be drawn with block characters; else only with ASCII.
    var hasBlocks: Bool

    /// - Parameters:
    ///   - plain: The person asked for neither colour nor block characters.
    ///   - windowColumns: What the terminal itself says; `nil` when it says nothing.
    init(isTerminal: Bool, windowColumns: Int?, environment: [String: String], plain: Bool = false) {
        self.isTerminal = isTerminal
        let named = environment["COLUMNS"].flatMap { Int($0) }
        let columns = windowColumns ?? (isTerminal ? named : nil) ?? 80
        width = min(max(columns, 40), 1_000)
        // https://no-color.org: any text in it, however short.
        let refused = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        hasColour = isTerminal && !refused && !plain
        hasBlocks = isTerminal && environment["TERM"] != "dumb" && !plain && Self.isUnicode(environment)
    }

    /// What the locale says of characters (POSIX.1-2017 §8.2); one that is not named is taken to have all.
    private static func isUnicode(_ environment: [String: String]) -> Bool {
        let named = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let named = named?.lowercased() else { return true }
        return named.contains("utf-8") || named.contains("utf8")
    }

    /// Text in lines that fit beside `indent` columns; in one line where there are no columns.
    func wrapped(_ text: String, indent: Int) -> [String] {
        isTerminal ? TextLayout.wrapped(text, width: width - indent) : [text]
    }

    /// The terminal behind a descriptor, as it is now.
    static func of(_ descriptor: Int32, environment: [String: String], plain: Bool = false) -> Terminal {
        var window = winsize()
        let known = ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0 && window.ws_col > 0
        return Terminal(
            isTerminal: isatty(descriptor) == 1, windowColumns: known ? Int(window.ws_col) : nil,
            environment: environment, plain: plain)
    }

    /// Text in a style, or unchanged where there is no colour.
    func styled(_ text: String, _ style: Style) -> String {
        hasColour && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Styles that are readable on light and dark grounds.
    enum Style: String, CaseIterable {
        case bold = "1"
        case faint = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case blue = "34"
        case cyan = "36"
    }
}
