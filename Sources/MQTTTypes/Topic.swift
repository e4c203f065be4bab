/// Rules for topic names (MQTT 5.0 §4.7).
public enum TopicName {
    /// The longest name or filter a packet can carry, in bytes of UTF-8
    /// (MQTT 5.0 §1.5.4).
    public static let maximumBytes = 65_535

    /// Whether a message may be published under `name`: at least one character,
    /// at most 65,535 bytes, no wildcard and no U+0000 (MQTT 5.0 §4.7.3).
    ///
    /// A broker closes the connection of whoever sends anything else, so this is
    /// asked before, not after.
    public static func isValid(_ name: String) -> Bool {
        let bytes = name.utf8
        guard !bytes.isEmpty, bytes.count <= maximumBytes else { return false }
        return bytes.allSatisfy { $0 != plus && $0 != hash && $0 != 0 }
    }

    static let plus = UInt8(ascii: "+")
    static let hash = UInt8(ascii: "#")
    static let slash = UInt8(ascii: "/")
}

/// What a subscription asks for: a topic name in which `+` stands for one level
/// and a final `#` for the level above it and everything below
/// (MQTT 5.0 §4.7.1).
public struct TopicFilter: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// - Returns: `nil` when `text` is no filter: empty, longer than 65,535
    ///   bytes, with U+0000, with a wildcard that does not fill its level, or
    ///   with a `#` that is not last.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= TopicName.maximumBytes else { return nil }
        guard !text.utf8.contains(0) else { return nil }
        let levels = Self.levels(of: text)
        for (place, level) in levels.enumerated() {
            if level.contains(TopicName.hash), level.count > 1 || place != levels.count - 1 { return nil }
            if level.contains(TopicName.plus), level.count > 1 { return nil }
        }
        self.text = text
    }

    public var description: String { text }

    /// Whether a message published under `topic` belongs to this filter.
    ///
    /// Levels compare byte for byte: no folding of case, no normalisation of
    /// letters (MQTT 5.0 §4.7.3). A topic that starts with `$` is not matched by
    /// a wildcard in the first level (MQTT 5.0 §4.7.2). A topic that is not a
    /// valid name matches nothing.
    public func matches(_ topic: String) -> Bool {
        guard TopicName.isValid(topic) else { return false }
        let filter = Self.levels(of: text)
        let name = Self.levels(of: topic)
        if topic.utf8.first == UInt8(ascii: "$"), let first = filter.first, Self.isWildcard(first) {
            return false
        }
        for (place, level) in filter.enumerated() {
            if level.elementsEqual([TopicName.hash]) { return true }
            guard place < name.count else { return false }
            if level.elementsEqual([TopicName.plus]) { continue }
            guard level.elementsEqual(name[place]) else { return false }
        }
        return filter.count == name.count
    }

    private static func levels(of text: String) -> [Substring.UTF8View] {
        text.utf8.split(separator: TopicName.slash, omittingEmptySubsequences: false).map(\.self)
    }

    private static func isWildcard(_ level: Substring.UTF8View) -> Bool {
        level.elementsEqual([TopicName.plus]) || level.elementsEqual([TopicName.hash])
    }
}
