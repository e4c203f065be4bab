import CYAML

/// One piece of a YAML document, with the place where it was written.
struct YAMLNode: Sendable {
    enum Content: Sendable {
        /// `plain`: written without quotes.
        case scalar(String, plain: Bool)
        case list([YAMLNode])
        /// In the order written; a key that came twice is there twice.
        case mapping([Member])
    }
    struct Member: Sendable {
        var key: String
        var line: Int
        var column: Int
        var value: YAMLNode
    }
    var content: Content
    /// Both count from 1.
    var line: Int
    var column: Int
    /// False when the text goes over several lines.
    var isOnOneLine = true
    /// A plain text that is followed by ` #…`: perhaps the rest of it was taken for a comment.
    var isCutByComment = false

    /// Nothing, `~` or `null`, unless in quotes.
    var isNull: Bool {
        if case .scalar(let text, plain: true) = content {
            ["", "~", "null", "Null", "NULL"].contains(text)
        } else {
            false
        }
    }
}

/// Why a document cannot be read, and where.
struct YAMLProblem: Error, Equatable {
    var line: Int
    var column: Int
    var text: String
}

/// Reads one YAML document through libyaml. The only file that imports it.
///
/// Only what a configuration needs is read: mappings with text keys, lists and
/// texts. Anchors, aliases and tags are refused, because they make a small file
/// expand without bound or turn a text into something else.
struct YAMLReader {
    /// Larger files are refused unread.
    static let maxBytes = 1 << 20
    static let maxDepth = 16

    /// libyaml keeps a pointer to the parser inside itself, so it must not move.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// The document by lines, to look at what stands at a mark.
    private let lines: [Substring.UnicodeScalarView]
    private let text: String

    /// - Returns: The document; `nil` for an empty one.
    static func read(_ bytes: [UInt8]) throws(YAMLProblem) -> YAMLNode? {
        guard bytes.count <= maxBytes else {
            throw YAMLProblem(line: 1, column: 1, text: "the file is larger than 1 MiB")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw invalidUTF8(bytes)
        }
        // libyaml keeps the pointer for as long as it parses.
        let input = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, bytes.count))
        _ = input.initialize(from: bytes)
        defer { input.deallocate() }
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        defer { parser.deallocate() }
        guard yaml_parser_initialize(parser) == 1 else {
            throw YAMLProblem(line: 1, column: 1, text: "not enough memory")
        }
        defer { yaml_parser_delete(parser) }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
        return try YAMLReader(parser: parser, text: text).document()
    }

    private init(parser: UnsafeMutablePointer<yaml_parser_t>, text: String) {
        self.parser = parser
        self.text = text
        lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map {
            Substring($0).unicodeScalars
        }
    }

    private func document() throws(YAMLProblem) -> YAMLNode? {
        var root: YAMLNode?
        while true {
            var event = try next()
            defer { yaml_event_delete(&event) }
            switch event.type {
            case YAML_STREAM_START_EVENT, YAML_DOCUMENT_END_EVENT:
                continue
            case YAML_DOCUMENT_START_EVENT:
                if root != nil { throw problem(event, "a second document starts here; the file holds one") }
            case YAML_STREAM_END_EVENT, YAML_NO_EVENT:
                return root
            default:
                root = try node(event, depth: 1)
            }
        }
    }

    /// The caller deletes `event`.
    private func node(_ event: yaml_event_t, depth: Int) throws(YAMLProblem) -> YAMLNode {
        guard depth <= Self.maxDepth else {
            throw problem(event, "nested deeper than \(Self.maxDepth) levels")
        }
        switch event.type {
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            try refuse(event, anchor: scalar.anchor, tag: scalar.tag)
            return scalarNode(event)
        case YAML_SEQUENCE_START_EVENT:
            try refuse(event, anchor: event.data.sequence_start.anchor, tag: event.data.sequence_start.tag)
            var items: [YAMLNode] = []
            while let item = try nextNode(until: YAML_SEQUENCE_END_EVENT, depth: depth + 1) {
                items.append(item)
            }
            return place(event, .list(items))
        case YAML_MAPPING_START_EVENT:
            try refuse(event, anchor: event.data.mapping_start.anchor, tag: event.data.mapping_start.tag)
            var members: [YAMLNode.Member] = []
            while let key = try nextNode(until: YAML_MAPPING_END_EVENT, depth: depth + 1) {
                guard case .scalar(let name, _) = key.content else {
                    throw YAMLProblem(line: key.line, column: key.column, text: "a key must be a plain word")
                }
                guard let value = try nextNode(until: YAML_MAPPING_END_EVENT, depth: depth + 1) else { break }
                members.append(.init(key: name, line: key.line, column: key.column, value: value))
            }
            return place(event, .mapping(members))
        case YAML_ALIAS_EVENT:
            throw problem(event, "aliases (*name) are not supported; write the value out")
        default:
            throw problem(event, "unexpected structure")
        }
    }

    private func nextNode(
        until end: yaml_event_type_t, depth: Int
    ) throws(YAMLProblem) -> YAMLNode? {
        var event = try next()
        defer { yaml_event_delete(&event) }
        return event.type == end ? nil : try node(event, depth: depth)
    }

    private func place(_ event: yaml_event_t, _ content: YAMLNode.Content) -> YAMLNode {
        YAMLNode(
            content: content, line: Self.count(event.start_mark.line),
            column: Self.count(event.start_mark.column))
    }

    private func scalarNode(_ event: yaml_event_t) -> YAMLNode {
        let scalar = event.data.scalar
        let text = String(
            decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
        let plain = scalar.style == YAML_PLAIN_SCALAR_STYLE
        var node = place(event, .scalar(text, plain: plain))
        node.isOnOneLine = event.start_mark.line == event.end_mark.line
        if plain {
            let rest = line(event.end_mark.line).dropFirst(Int(clamping: event.end_mark.column))
            node.isCutByComment = rest.first { $0 != " " && $0 != "\t" } == "#"
        }
        return node
    }

    private func refuse(
        _ event: yaml_event_t, anchor: UnsafeMutablePointer<yaml_char_t>?,
        tag: UnsafeMutablePointer<yaml_char_t>?
    ) throws(YAMLProblem) {
        if anchor != nil { throw problem(event, "anchors (&name) are not supported; write the value out") }
        if tag != nil { throw problem(event, "tags (!name) are not supported; a text goes in quotes") }
    }

    private func problem(_ event: yaml_event_t, _ text: String) -> YAMLProblem {
        YAMLProblem(
            line: Self.count(event.start_mark.line), column: Self.count(event.start_mark.column), text: text)
    }

    private func next() throws(YAMLProblem) -> yaml_event_t {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw syntaxProblem() }
        return event
    }

    /// libyaml's own words, with a hint where people trip most often. They
    /// describe the grammar and never quote the file.
    private func syntaxProblem() -> YAMLProblem {
        let said = parser.pointee.problem.map { String(cString: $0) } ?? "not readable as YAML"
        if parser.pointee.error == YAML_READER_ERROR {
            // It reads ahead, so only the offset says where; counted in bytes.
            let before = String(decoding: text.utf8.prefix(parser.pointee.problem_offset), as: UTF8.self)
            let (line, column) = Self.end(of: before)
            return YAMLProblem(line: line, column: column, text: said)
        }
        let mark = parser.pointee.problem_mark
        var text = said
        switch (said, line(mark.line).dropFirst(Int(clamping: mark.column)).first) {
        case (_, "\t"?):
            text = "a tab stands here; YAML is indented with spaces"
        case ("found character that cannot start any token", let found?):
            text = "a value cannot start with \(found); put it in single quotes"
        case ("mapping values are not allowed in this context", _):
            text =
                "a colon stands where none may; put a text with ': ' in single quotes, and check the indentation"
        default:
            if let context = parser.pointee.context { text += " (" + String(cString: context) + ")" }
        }
        return YAMLProblem(line: Self.count(mark.line), column: Self.count(mark.column), text: text)
    }

    private func line(_ index: Int) -> Substring.UnicodeScalarView {
        lines.indices.contains(index) ? lines[index] : Substring().unicodeScalars
    }

    private static func count(_ fromZero: Int) -> Int { fromZero &+ 1 }

    private static func invalidUTF8(_ bytes: [UInt8]) -> YAMLProblem {
        // Valid text ends where the bad byte stands; the beginning that is still
        // good, but for a character cut at its end, is found by halving.
        var low = 0
        var high = bytes.count
        while low < high {
            let middle = low + (high - low + 1) / 2
            if validBeginning(bytes[..<middle]) != nil { low = middle } else { high = middle - 1 }
        }
        let (line, column) = end(of: validBeginning(bytes[..<low]) ?? "")
        return YAMLProblem(line: line, column: column, text: "this is not UTF-8; save the file as UTF-8")
    }

    /// Where the character after `text` stands, counted from 1.
    private static func end(of text: String) -> (line: Int, column: Int) {
        let scalars = text.unicodeScalars
        return (scalars.count { $0 == "\n" } + 1, scalars.reversed().prefix { $0 != "\n" }.count + 1)
    }

    /// The text without the character that is cut at its end, if one is.
    private static func validBeginning(_ bytes: ArraySlice<UInt8>) -> String? {
        for cut in 0..<4 {
            if let text = String(validating: bytes.dropLast(cut), as: UTF8.self) { return text }
        }
        return nil
    }
}
