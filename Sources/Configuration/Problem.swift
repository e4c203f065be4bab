/// One thing that is wrong with the configuration, for a person.
///
/// The text never holds a secret, nor a value that could be one.
public struct Problem: Sendable, Equatable, CustomStringConvertible {
    public enum Place: Sendable, Equatable {
        /// Line and column count from 1; line 0 means the file as a whole.
        case file(String, line: Int, column: Int)
        /// The variable's name.
        case environment(String)
    }
    public var place: Place
    public var text: String

    public init(_ place: Place, _ text: String) {
        self.place = place
        self.text = text
    }

    /// `config.yaml:12:9: mqtt.port is 70000; a port is a number from 1 to 65535`
    public var description: String {
        switch place {
        case .file(let name, line: 0, column: _): "\(name): \(text)"
        case .file(let name, let line, let column): "\(name):\(line):\(column): \(text)"
        case .environment(let name): "\(name): \(text)"
        }
    }
}

/// The configuration cannot be used. Holds every problem found, in the order
/// of the file and then of the environment.
public struct SettingsError: Error, Equatable, CustomStringConvertible {
    public var problems: [Problem]

    /// One problem a line.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// Says what was found without saying too much.
enum Shown {
    /// A value as it may appear in an error text.
    ///
    /// Not shown: long texts, texts over several lines, and whatever could
    /// carry a password, such as an address with a user in it or a password
    /// line that slipped into the line above.
    static func value(_ text: String, oneLine: Bool = true) -> String {
        if text.isEmpty { return "empty" }
        let lower = text.lowercased()
        let suspicious = ["pass", "secret", "token", "key", "@"].contains { lower.contains($0) }
        guard oneLine, !suspicious, text.unicodeScalars.count <= 40 else {
            return "a text that is not shown here"
        }
        return printable(text)
    }

    /// A name of a key or variable, at most 40 characters, nothing invisible.
    static func name(_ text: String) -> String {
        if text.isEmpty { return "an empty name" }
        let short = text.unicodeScalars.count > 40 ? String(text.unicodeScalars.prefix(40)) + "…" : text
        // What follows a colon is a value whose space was forgotten.
        let name = short.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).first.map(
            String.init)
        return printable(name ?? short)
    }

    private static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.isVisible ? $0 : "\u{FFFD}" }))
    }
}

extension Unicode.Scalar.Properties {
    /// Neither a control nor a formatting character, such as one that turns the line around.
    fileprivate var isVisible: Bool {
        switch generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
            false
        default: true
        }
    }
}
