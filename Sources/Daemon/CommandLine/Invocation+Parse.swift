import Bridge
import Configuration
import TextForms

extension Invocation {
    /// Reads the command line.
    ///
    /// - Parameter words: The arguments without the program's own name.
    /// - Throws: `UsageError` with a text that names what is wrong and what is known.
    static func parse(_ words: [String]) throws(UsageError) -> Invocation {
        guard let first = words.first else { return .run(CommonOptions()) }
        switch first {
        case "--help", "-h": return .help(nil)
        case "--version", "-V": return .version
        case "help": return try help(words.dropFirst())
        default: break
        }
        if let verb = Verb(rawValue: first) { return try parse(verb, Array(words.dropFirst())) }
        if first.hasPrefix("-") { return try parse(.run, words) }
        throw unknown(first)
    }

    private static func help(_ words: ArraySlice<String>) throws(UsageError) -> Invocation {
        guard let word = words.first else { return .help(nil) }
        guard let verb = Verb(rawValue: word) else { throw unknown(word) }
        return .help(verb)
    }

    private static func unknown(_ word: String) -> UsageError {
        let names = Verb.allCases.map(\.rawValue)
        if word.hasPrefix("https:") || word.contains("#v") {
            return UsageError(
                text: "to pair a box, put pair before its link, or better: ftw-mqtt pair -", verb: .pair)
        }
        let text = "there is no command \(ArgumentReader.shown(word))"
        if let near = Nearest.match(word, among: names) {
            return UsageError(text: "\(text); did you mean \(near)?", verb: nil)
        }
        return UsageError(text: "\(text); known are \(names.joined(separator: ", "))", verb: nil)
    }

    private static func parse(_ verb: Verb, _ words: [String]) throws(UsageError) -> Invocation {
        let reader = try ArgumentReader(verb, words)
        if reader.wantsHelp { return .help(verb) }
        switch verb {
        case .demo: return .demo(try demo(reader))
        case .run:
            try reader.expect(0)
            return .run(try common(reader))
        case .pair: return .pair(try pair(reader))
        case .check:
            try reader.expect(0)
            return .check(
                CheckOptions(
                    common: try common(reader), site: try site(reader), offline: reader.has(.offline)))
        case .status:
            try reader.expect(0)
            return .status(SiteOptions(common: try common(reader), site: try site(reader)))
        case .send: return .send(try send(reader))
        case .unpair:
            try reader.expect(1, missing: "name the house to forget, such as: ftw-mqtt unpair home")
            let name = reader.arguments.first ?? ""
            guard SiteID.isValid(name) else {
                throw UsageError(
                    text: "\(ArgumentReader.shown(name)) is not the id of a house; \(siteRule)", verb: .unpair
                )
            }
            return .unpair(UnpairOptions(common: try common(reader), site: name, yes: reader.has(.yes)))
        case .version:
            try reader.expect(0)
            return .version
        }
    }

    private static let siteRule = "an id is \(SiteID.rule), such as home"

    private static func site(_ reader: ArgumentReader) throws(UsageError) -> String? {
        guard let text = reader.values[.site] else { return nil }
        guard SiteID.isValid(text) else { throw reader.wrong(.site, siteRule) }
        return text
    }

    private static func common(_ reader: ArgumentReader) throws(UsageError) -> CommonOptions {
        CommonOptions(
            config: reader.values[.config], stateDir: reader.values[.stateDir],
            logLevel: try reader.choice(.logLevel, Settings.LogSettings.Level.allCases.map(\.rawValue)),
            plain: reader.has(.plain))
    }

    private static func demo(_ reader: ArgumentReader) throws(UsageError) -> DemoOptions {
        try reader.expect(0)
        var options = DemoOptions()
        if let text = reader.values[.broker] {
            guard let broker = DemoOptions.Broker(text) else {
                throw reader.wrong(.broker, "give a host and perhaps a port, such as localhost:1883")
            }
            if reader.has(.port) {
                throw UsageError(
                    text: "--port is for the broker that the demo starts; with --broker, write HOST:PORT",
                    verb: .demo)
            }
            options.broker = broker
        }
        options.port = try reader.whole(.port, 1...65_535)
        options.speed = try reader.decimal(.speed, 1...120) ?? 1
        options.seconds = try reader.whole(.seconds, 1...86_400)
        options.language = try reader.choice(.language, Settings.Language.allCases.map(\.rawValue))
        options.logLevel = try reader.choice(.logLevel, Settings.LogSettings.Level.allCases.map(\.rawValue))
        options.plain = reader.has(.plain)
        options.console = reader.has(.console)
        options.noBridge = reader.has(.noBridge)
        options.relayPort = try reader.whole(.relayPort, 1...65_535)
        options.state = reader.values[.state]
        options.noPrint = reader.has(.noPrint)
        if let text = reader.values[.start] {
            guard let date = HouseTimeText.date(text) else {
                throw reader.wrong(.start, "give a time with its zone, such as 2026-10-25T00:00:00+02:00")
            }
            options.start = date
        }
        return options
    }

    private static func pair(_ reader: ArgumentReader) throws(UsageError) -> PairOptions {
        try reader.expect(
            1, missing: "give the link, a picture of its QR code, or - to read it from standard input")
        let word = reader.arguments.first ?? ""
        return PairOptions(
            common: try common(reader), site: try site(reader), source: source(word),
            relay: reader.values[.relay], seconds: try reader.whole(.seconds, 5...3_600),
            replace: reader.has(.replace))
    }

    /// A link has a scheme or begins with its version; anything else names a file.
    private static func source(_ word: String) -> PairOptions.Source {
        if word == "-" { return .standardInput }
        let lower = word.lowercased()
        let isFragment =
            lower.hasPrefix("v") && lower.dropFirst().first?.isNumber == true && lower.contains(".")
        let isPicture = [".png", ".jpg", ".jpeg"].contains { lower.hasSuffix($0) }
        return lower.contains("://") || lower.contains("#v") || (isFragment && !isPicture)
            ? .link(word) : .picture(word)
    }

    private static let commands = ["level", "adjust", "control", "goal", "surplus_only", "boost"]

    private static func send(_ reader: ArgumentReader) throws(UsageError) -> SendOptions {
        let usage = "write LOADPOINT COMMAND VALUE, such as: ftw-mqtt send garage control pause"
        let words = reader.arguments
        guard let first = words.first else { throw UsageError(text: usage, verb: .send) }
        let isMode = first == "mode"
        let command: String
        if isMode {
            guard words.count == 2 else {
                throw UsageError(
                    text: "mode takes one key, such as: ftw-mqtt send mode self_consumption", verb: .send)
            }
            command = first
        } else {
            guard words.count >= 2 else { throw UsageError(text: usage, verb: .send) }
            command = words[1]
            guard commands.contains(command) else {
                let near = Nearest.match(command, among: commands).map { "did you mean \($0)?" }
                throw UsageError(
                    text: "there is no command \(ArgumentReader.shown(command)) for a loadpoint; "
                        + (near ?? "known are \(commands.joined(separator: ", "))"), verb: .send)
            }
            guard words.count >= 3 else {
                throw UsageError(text: "\(command) needs a value; \(usage)", verb: .send)
            }
            guard TopicLevel.isLevel(first) else {
                throw UsageError(
                    text: "\(ArgumentReader.shown(first)) is not a loadpoint as its topics name it: "
                        + "1 to \(TopicLevel.longest) of a-z, 0-9 and -, without - at either end", verb: .send
                )
            }
        }
        if let id = reader.values[.id], !(1...64).contains(id.utf8.count) {
            throw reader.wrong(.id, "give 1 to 64 bytes of text")
        }
        return SendOptions(
            common: try common(reader), site: try site(reader), loadpoint: isMode ? nil : first,
            command: command, value: words.dropFirst(isMode ? 1 : 2).joined(separator: " "),
            expiresS: try reader.whole(
                .expires, 1...30, because: "no bridge holds a command for longer than 30 s"),
            id: reader.values[.id])
    }
}

extension ArgumentReader {
    /// - Parameter missing: What to say when there are too few.
    func expect(_ count: Int, missing: String = "") throws(UsageError) {
        if arguments.count < count { throw UsageError(text: missing, verb: verb) }
        guard let extra = arguments.dropFirst(count).first else { return }
        let text =
            count == 0
            ? "\(verb.rawValue) takes no argument, but there is \(Self.shown(extra))"
            : "\(verb.rawValue) takes one argument, but there are \(arguments.count); put a text with spaces in quotes"
        throw UsageError(text: text, verb: verb)
    }
}

extension DemoOptions.Broker {
    /// `host`, `host:port`, `[v6]`, `[v6]:port`; the port is 1883 unless given.
    init?(_ text: String) {
        var host = text[...]
        var rest: Substring = ""
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
        } else if let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            rest = text[colon...]
        }
        guard !host.isEmpty, host.utf8.count <= 253, !host.contains("/"), !host.contains(" ") else {
            return nil
        }
        self.host = String(host)
        if rest.isEmpty {
            port = 1883
            return
        }
        guard rest.hasPrefix(":"), let number = Int(rest.dropFirst()), (1...65_535).contains(number) else {
            return nil
        }
        port = number
    }
}
