import FoundationEssentials
import JSONText
import MQTTTypes

/// Turns what is published into lines a person can follow.
///
/// A topic is shown when it says something new. The one that moves all the time,
/// power, is then left alone for a while; its newest value comes with its next change.
struct TopicPrinter {
    /// Between two lines of a topic that moves all the time.
    static let pause = Duration.seconds(5)
    /// Members that would make every line longer and none clearer.
    private static let left = Set([
        "at", "live", "since", "stale_after_s", "last_answered", "catalogue", "instance", "capabilities",
        "started", "id", "topics_version", "healthy",
    ])
    private static let first = [
        "state", "in_control", "key", "label", "name", "grid", "solar", "battery", "car", "house",
    ]

    private let base: String
    private let width: Int
    private let zone: TimeZone
    private var shown: [String: Shown] = [:]

    private struct Shown {
        var text: String
        /// False while there was nothing to see yet.
        var isKnown: Bool
        var at: Duration
    }

    /// - Parameters:
    ///   - base: Stripped from the front of topics, with its slash.
    ///   - width: Columns of the terminal; lines are cut there. 0 never cuts.
    init(base: String, width: Int, zone: TimeZone) {
        self.base = base + "/"
        self.width = width
        self.zone = zone
    }

    /// The line for a message; `nil` when there is nothing new to say.
    mutating func line(for message: Message, wall: Date, monotonic: Duration) -> String? {
        let topic =
            message.topic.hasPrefix(base) ? String(message.topic.dropFirst(base.count)) : message.topic
        guard let payload = message.text else { return nil }
        let text = Self.summary(payload)
        if let last = shown[topic] {
            if last.text == text { return nil }
            if topic.hasSuffix("/power"), last.isKnown, monotonic - last.at < Self.pause { return nil }
        }
        shown[topic] = Shown(text: text, isKnown: !text.contains("grid –"), at: monotonic)
        let padded = topic.count < 28 ? topic + String(repeating: " ", count: 28 - topic.count) : topic + " "
        let line = "\(clock(wall))  \(padded) \(text)"
        return width > 20 && line.count > width ? String(line.prefix(width - 1)) + "…" : line
    }

    private func clock(_ date: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = calendar.dateComponents([.hour, .minute, .second], from: date)
        func two(_ value: Int?) -> String { value.map { $0 < 10 ? "0\($0)" : "\($0)" } ?? "--" }
        return "\(two(parts.hour)):\(two(parts.minute)):\(two(parts.second))"
    }

    /// One JSON document in one line; anything else as it is.
    static func summary(_ payload: String) -> String {
        if payload.isEmpty { return "(cleared)" }
        guard let members = (try? JSONValue(parsing: payload))?.objectValue else { return payload }
        let names = members.keys.filter { !left.contains($0) }.sorted { a, b in
            (first.firstIndex(of: a) ?? first.count, a) < (first.firstIndex(of: b) ?? first.count, b)
        }
        return names.compactMap { name in
            guard let value = members[name], value != .array([]), value != .object([:]) else { return nil }
            return "\(words(name)) \(short(value))"
        }
        .joined(separator: " · ")
    }

    private static func words(_ name: String) -> String { name.replacing("_", with: " ") }

    private static func short(_ value: JSONValue) -> String {
        switch value {
        case .null: "–"
        case .bool(let flag): flag ? "yes" : "no"
        case .int(let number): "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): text
        case .array(let items):
            items.count <= 3 ? items.map(short).joined(separator: ", ") : "\(items.count) values"
        case .object(let members): members.isEmpty ? "–" : "{…}"
        }
    }
}
