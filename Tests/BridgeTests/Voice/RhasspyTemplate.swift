import FoundationEssentials
import JSONText

/// The sentence templates of Rhasspy 2.5 (its `docs/training.md`), as far as our
/// files use them: enough to say every sentence that is in them.
struct RhasspyTemplate {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// One way to say it: the words, and what the recognizer makes of them.
    struct Sentence: Equatable {
        var spoken: [String] = []
        /// The words after substitution; a tag takes these.
        var value: [JSONValue] = []
        var slots: [String: JSONValue] = [:]

        func then(_ next: Sentence) -> Sentence {
            Sentence(
                spoken: spoken + next.spoken, value: value + next.value,
                slots: slots.merging(next.slots) { _, new in new })
        }

        var words: String { spoken.joined(separator: " ") }
    }

    private let rules: (String) throws -> [Sentence]
    private var rest: Substring

    private init(_ text: String, rules: @escaping (String) throws -> [Sentence]) {
        rest = text[...]
        self.rules = rules
    }

    /// Every intent of a file with every way to say it. Of a range of numbers, and of a
    /// list of more than ten words, the ends and one between are said.
    static func intents(of text: String) throws -> [(intent: String, sentences: [Sentence])] {
        var sections: [(name: String, lines: [String])] = []
        var rules: [String: String] = [:]
        for line in text.split(separator: "\n").map({ trimmed(String($0)) }) where !line.hasPrefix("#") {
            if line.isEmpty { continue }
            if line.hasPrefix("["), line.hasSuffix("]") {
                sections.append((String(line.dropFirst().dropLast()), []))
                continue
            }
            guard let section = sections.last?.name else { throw Failure(description: "no section: \(line)") }
            let parts = line.split(separator: "=", maxSplits: 1).map { trimmed(String($0)) }
            if parts.count == 2 {
                rules["\(section).\(parts[0])"] = parts[1]
            } else {
                sections[sections.count - 1].lines.append(
                    line.hasPrefix("\\[") ? String(line.dropFirst()) : line)
            }
        }
        // A name without a dot is of the intent in which it stands.
        func rule(_ name: String, in section: String) throws -> [Sentence] {
            let full = name.contains(".") ? name : "\(section).\(name)"
            guard let text = rules[full] else { throw Failure(description: "no rule \(full)") }
            let home = String(full.prefix { $0 != "." })
            return try expand(text) { try rule($0, in: home) }
        }
        return try sections.map { section in
            (
                section.name,
                try section.lines.flatMap { line in try expand(line) { try rule($0, in: section.name) } }
            )
        }
    }

    private static func trimmed(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func expand(_ text: String, _ rules: @escaping (String) throws -> [Sentence]) throws
        -> [Sentence]
    {
        var template = RhasspyTemplate(text, rules: rules)
        let sentences = try template.alternatives(until: nil)
        guard template.rest.isEmpty else { throw Failure(description: "cannot read: \(text)") }
        return sentences
    }

    private mutating func alternatives(until end: Character?) throws -> [Sentence] {
        var all: [Sentence] = []
        var current = [Sentence()]
        while let next = rest.first {
            if next == end { break }
            if next == " " {
                rest.removeFirst()
            } else if next == "|" {
                rest.removeFirst()
                all += current
                current = [Sentence()]
            } else {
                let item = try self.item()
                current = current.flatMap { one in item.map(one.then) }
            }
        }
        return all + current
    }

    private mutating func item() throws -> [Sentence] {
        var found: [Sentence]
        switch rest.first {
        case "(":
            rest.removeFirst()
            found = try alternatives(until: ")")
            try expect(")")
            // Of a long list of words, as of a range of numbers: the ends and one between.
            if found.count > 10, found.allSatisfy({ $0.slots.isEmpty }) {
                found = [found[0], found[found.count / 2], found[found.count - 1]]
            }
            if let range = Self.range(found) { found = range }
        case "[":
            rest.removeFirst()
            found = try alternatives(until: "]") + [Sentence()]
            try expect("]")
        case "<":
            let name = rest.dropFirst().prefix { $0 != ">" }
            rest = rest.dropFirst(name.count + 1)
            try expect(">")
            found = try rules(String(name))
        default:
            let word = rest.prefix { !" |()[]<>{}:".contains($0) }
            guard !word.isEmpty else { throw Failure(description: "unexpected: \(rest)") }
            rest = rest.dropFirst(word.count)
            found = [Sentence(spoken: [String(word)], value: [.string(String(word))])]
        }
        if rest.first == ":" {
            rest.removeFirst()
            let other = rest.prefix { !" |()[]<>{}".contains($0) }
            rest = rest.dropFirst(other.count)
            for index in found.indices { found[index].value = [.string(String(other))] }
        }
        while rest.first == "{" {
            let tag = rest.dropFirst().prefix { $0 != "}" }
            rest = rest.dropFirst(tag.count + 1)
            try expect("}")
            let parts = tag.split(separator: ":", maxSplits: 1).map(String.init)
            for index in found.indices {
                let value = found[index].value
                found[index].slots[parts[0]] =
                    parts.count == 2
                    ? .string(parts[1])
                    : value.count == 1
                        ? value[0]
                        : .string(value.map { $0.stringValue ?? $0.text }.joined(separator: " "))
            }
        }
        return found
    }

    private mutating func expect(_ character: Character) throws {
        guard rest.first == character else { throw Failure(description: "no \(character) before: \(rest)") }
        rest.removeFirst()
    }

    /// `1..100` or `5..55,5` alone in a group. Rhasspy makes numbers of it.
    private static func range(_ sentences: [Sentence]) -> [Sentence]? {
        guard sentences.count == 1, sentences[0].spoken.count == 1,
            sentences[0].spoken[0].contains("..")
        else { return nil }
        let parts = sentences[0].spoken[0].split(separator: ",")
        let ends = parts[0].split(separator: ".").compactMap { Int64($0) }
        guard ends.count == 2 else { return nil }
        let step = parts.count == 2 ? Int64(parts[1]) ?? 1 : 1
        let middle = ends[0] + (ends[1] - ends[0]) / step / 2 * step
        return [ends[0], middle, ends[1]].map {
            Sentence(spoken: [String($0)], value: [.int($0)])
        }
    }
}
