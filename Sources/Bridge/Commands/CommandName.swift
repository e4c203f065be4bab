import EnergyModel

/// What can be commanded; the words of `commands.allow`.
public enum CommandName: String, Sendable, CaseIterable {
    case level, control, goal
    case surplusOnly = "surplus_only"
    case boost, mode
}

/// One command topic: what it commands and where.
struct CommandTopic: Sendable, Equatable {
    enum Verb: String, Sendable { case set, adjust }

    var name: CommandName
    var verb: Verb
    /// The loadpoint's topic level; `nil` for the site.
    var level: String?

    /// - Parameter path: The topic below the site.
    /// - Returns: `nil` when no command lives there.
    init?(path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if parts == ["mode", "set"] {
            self.init(name: .mode, verb: .set, level: nil)
            return
        }
        guard parts.count == 4, parts[0] == "car", !parts[1].isEmpty,
            let name = CommandName(rawValue: parts[2]), name != .mode,
            let verb = Verb(rawValue: parts[3]), verb == .set || name == .level
        else { return nil }
        self.init(name: name, verb: verb, level: parts[1])
    }

    private init(name: CommandName, verb: Verb, level: String?) {
        self.name = name
        self.verb = verb
        self.level = level
    }
}

/// Why something is no command, as it is answered.
struct CommandProblem: Error, Equatable {
    var code: CommandCode
    /// What was found and what is allowed; `nil` when the code says it all.
    var detail: LocalText?

    init(_ code: CommandCode, _ detail: LocalText? = nil) {
        self.code = code
        self.detail = detail
    }

    /// - Parameters:
    ///   - found: What was there, as typed; shortened.
    static func found(_ found: String, _ allowed: LocalText, code: CommandCode = .badPayload) -> Self {
        let shown = shown(found)
        return CommandProblem(
            code,
            LocalText(
                "Not done: found \(shown); \(allowed.en).", "Inte gjort: där står \(shown); \(allowed.sv)."))
    }

    /// Short enough for a sentence, and without what would disturb one.
    private static func shown(_ text: String) -> String {
        let visible = text.unicodeScalars.filter { $0.properties.generalCategory != .control }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: visible.prefix(60))
        return "\"\(String(view))\(visible.count > 60 ? "…" : "")\""
    }
}
