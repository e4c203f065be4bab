import FoundationEssentials

/// openHAB's text files, as far as ours use them.
struct OpenHABFiles {
    struct Channel: Sendable {
        var type: String
        var id: String
        var options: [String: String]
    }
    struct Thing: Sendable {
        /// Such as `mqtt:topic:home:ftw_car`.
        var uid: String
        var bridge: String
        var options: [String: String]
        var channels: [Channel] = []
    }
    struct Item: Sendable {
        var type: String
        var name: String
        var groups: [String]
        var channel: String?
        var options: [String: String]
    }

    /// What a rule of ours does, as far as it has to do with things that come and go.
    struct Rule: Sendable {
        /// The lines between `when` and `then`, as they stand.
        var triggers: [String] = []
        /// The groups whose items it sets to UNDEF.
        var cleared: [String] = []
        var publishes: [(topic: String, payload: String)] = []

        /// Whether a thing's status that changed so sets it off.
        func isTriggered(by thing: String, from old: String, to new: String) -> Bool {
            triggers.contains { trigger in
                ["Thing \"\(thing)\" changed to \(new)", "Thing \"\(thing)\" changed from \(old) to \(new)"]
                    .contains(trigger)
            }
        }
    }

    var bridges: Set<String> = []
    var things: [Thing] = []
    var items: [Item] = []
    var rules: [Rule] = []
    /// Names of things, items and brokers that the rules speak of.
    var ruleThings: [String] = []
    var ruleItems: [String] = []
    var ruleBrokers: [String] = []
    /// Topic and payload of what the rules publish.
    var rulePublishes: [(topic: String, payload: String)] { rules.flatMap(\.publishes) }
    /// Lines that make no sense here.
    var unread: [String] = []

    init(things: String, items: String, rules: String) {
        for line in Self.lines(things) { readThing(line) }
        for line in Self.lines(items) { readItem(line) }
        readRules(Self.lines(rules))
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { line in
            var line = line.drop { $0 == " " }
            while line.last == " " { line.removeLast() }
            return String(line)
        }.filter { !$0.isEmpty && !$0.hasPrefix("//") }
    }

    private mutating func readThing(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        if line.hasPrefix("Bridge "), words.count > 1 {
            bridges.insert(words[1])
        } else if line.hasPrefix("Thing "), words.count > 1 {
            let bridge = line.split(separator: "(").dropFirst().first?.split(separator: ")").first
            things.append(
                Thing(uid: words[1], bridge: bridge.map(String.init) ?? "", options: Self.options(line)))
        } else if line.hasPrefix("Type "), words.count > 3, words[2] == ":", !things.isEmpty {
            things[things.count - 1].channels.append(
                Channel(type: words[1], id: words[3], options: Self.options(line)))
        } else if !["Channels:", "}"].contains(line) {
            unread.append(line)
        }
    }

    private mutating func readItem(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        guard words.count > 1 else {
            unread.append(line)
            return
        }
        // Labels may hold parentheses; groups stand outside of quotes.
        let outside = line.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 0 }.map(\.element).joined()
        let groups = outside.split(separator: "(").dropFirst().first?.split(separator: ")").first ?? ""
        let braces = line.split(separator: "{").dropFirst().first.map { "[" + $0.dropLast() + "]" } ?? ""
        let options = Self.options(braces)
        items.append(
            Item(
                type: words[0], name: words[1],
                groups: groups.split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty },
                channel: options["channel"], options: options))
    }

    private mutating func readRules(_ lines: [String]) {
        var isTrigger = false
        for line in lines {
            if line.hasPrefix("rule ") { rules.append(Rule()) }
            if line == "then" { isTrigger = false }
            if isTrigger {
                let trigger = line.hasSuffix(" or") ? String(line.dropLast(3)) : line
                rules[rules.count - 1].triggers.append(trigger)
            }
            if line == "when" { isTrigger = true }
            if line.hasSuffix(".members.forEach[ item | item.postUpdate(UNDEF) ]") {
                rules[rules.count - 1].cleared.append(String(line.prefix { $0 != "." }))
            }
            let quoted = line.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
            if line.hasPrefix("Thing "), quoted.count > 1 { ruleThings.append(quoted[1]) }
            if let broker = line.split(separator: "getActions(").dropFirst().first {
                ruleBrokers.append(
                    String(broker.split(separator: "\"").dropFirst(2).first ?? ""))
            }
            if let call = line.split(separator: "publishMQTT(").dropFirst().first {
                let parts = call.split(separator: "'", omittingEmptySubsequences: false)
                rules[rules.count - 1].publishes.append(
                    (
                        topic: String(call.split(separator: "\"").first ?? ""),
                        payload: parts.count > 1 ? String(parts[1]) : ""
                    ))
            }
            let names = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
            ruleItems += names.filter { $0.hasPrefix("Ftw_") || $0.hasPrefix("gFtw") }
        }
    }

    /// `[ a="b", c=1 ]`
    private static func options(_ line: String) -> [String: String] {
        guard let start = line.firstIndex(of: "[") else { return [:] }
        var options: [String: String] = [:]
        var name = ""
        var value = ""
        var isQuoted = false
        var isValue = false
        func keep() {
            let key = name.filter { $0 != " " }
            if !key.isEmpty { options[key] = value }
        }
        for character in line[line.index(after: start)...] {
            if isQuoted {
                if character == "\"" { isQuoted = false } else { value.append(character) }
            } else if character == "\"" {
                isQuoted = true
            } else if character == "=" {
                isValue = true
                value = ""
            } else if character == "," || character == "]" {
                keep()
                (name, value, isValue) = ("", "", false)
                if character == "]" { break }
            } else if isValue {
                if character != " " { value.append(character) }
            } else {
                name.append(character)
            }
        }
        return options
    }
}
