import FoundationEssentials
import JSONText
import MQTTTypes

/// Everything a broker has retained at one moment, as somebody who comes new sees it.
struct RetainedPicture: Sendable {
    /// By whole topic.
    let messages: [String: Message]
    /// Base topic and site.
    var root = "ftw/home"

    /// The text below the site; `nil` when nothing is retained there.
    func text(_ path: String) -> String? { messages["\(root)/\(path)"]?.text }

    /// The document below the site; `nil` when nothing is retained there or it is no JSON.
    func document(_ path: String) -> JSONValue? {
        messages["\(root)/\(path)"].flatMap { try? JSONValue(parsing: $0.payload) }
    }

    /// Topics below the site.
    var paths: Set<String> {
        Set(messages.keys.filter { $0.hasPrefix(root + "/") }.map { String($0.dropFirst(root.count + 1)) })
    }

    /// How many discovery documents a usual house has: the site, its battery, a car, and the
    /// car's time of day, which stands alone.
    static let announcements = 4

    /// Discovery documents by topic.
    var discovery: [String: JSONValue] {
        messages.filter { $0.key.hasPrefix("homeassistant/") }
            .compactMapValues { try? JSONValue(parsing: $0.payload) }
    }

    /// Every `unique_id` that is announced.
    var uniqueIDs: Set<String> {
        Set(
            discovery.values.flatMap { document in
                (document["components"]?.objectValue ?? [:]).values.compactMap {
                    $0["unique_id"]?.stringValue
                }
            })
    }

    /// True once the box is there, every source is well and known for what it measures, and all of it is shown.
    var isLive: Bool {
        let sources = paths.filter { $0.hasPrefix("source/") && !$0.hasSuffix("/availability") }
        return text("bridge/availability") == "online" && text("box/availability") == "online"
            && document("power")?["live"]?.boolValue == true && !sources.isEmpty
            && sources.allSatisfy {
                document($0)?["roles"] != .array([]) && text("\($0)/availability") == "online"
            } && carsAreLive(sources)
    }

    /// Every charger's loadpoint was read and is shown as now.
    private func carsAreLive(_ sources: Set<String>) -> Bool {
        let chargers = sources.filter { document($0)?["roles"] == .array(["charger"]) }
        let cars = paths.filter { $0.hasPrefix("car/") && $0.hasSuffix("/state") }
        return cars.count >= chargers.count && cars.allSatisfy { document($0)?["live"]?.boolValue == true }
    }

    // MARK: Comparing

    /// Members whose value is a time, or the name of one run.
    private static let dated: Set<String> = ["at", "since", "started", "last_answered", "instance"]

    /// What two pictures have to have in common: times are only there or not,
    /// and of the counters only which there are.
    private var normal: [String: JSONValue] {
        var normal: [String: JSONValue] = [:]
        for (topic, message) in messages {
            if topic.hasSuffix("/bridge/instance") {
                normal[topic] = "an instance"
                continue
            }
            let value = (try? JSONValue(parsing: message.payload)) ?? .string(message.text ?? "no text")
            guard let members = value.objectValue, topic.hasPrefix(root + "/") else {
                normal[topic] = value
                continue
            }
            let isCounting = topic.hasSuffix("bridge/health")
            normal[topic] = .object(
                Dictionary(
                    uniqueKeysWithValues: members.map { name, value in
                        if isCounting { return (name, "a counter") }
                        if Self.dated.contains(name), !value.isNull { return (name, "a time") }
                        return (name, value)
                    }))
        }
        return normal
    }

    /// What is not as in `other`, one line for each topic.
    func differences(from other: RetainedPicture) -> [String] {
        let (mine, theirs) = (normal, other.normal)
        return Set(mine.keys).union(theirs.keys).sorted().compactMap { topic in
            if mine[topic] == theirs[topic] { return nil }
            return
                "\(topic): \(mine[topic]?.text ?? "nothing") instead of \(theirs[topic]?.text ?? "nothing")"
        }
    }

    /// Whether any of these bytes is anywhere in it.
    func contains(_ secret: Secrets) -> [String] {
        messages.values.flatMap {
            secret.found(in: $0.topic) + secret.found(in: String(decoding: $0.payload, as: UTF8.self))
        }
    }
}

/// What must be nowhere, in the forms it usually takes.
struct Secrets: Sendable {
    private var forms: [(name: String, form: String)] = []

    mutating func add(_ name: String, _ secret: [UInt8]) {
        let base64 = Data(secret).base64EncodedString()
        let bare = base64.replacing("=", with: "")
        let url = bare.replacing("+", with: "-").replacing("/", with: "_")
        let digits = Array("0123456789abcdef")
        let hex = String(secret.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
        var all = [bare, url, hex]
        if let text = String(validating: secret, as: UTF8.self) { all.append(text) }
        // Inside something longer the first and last characters are others; the middle is the same
        // for one of three places where it can begin.
        for shift in 0..<3 {
            let shifted = Data([UInt8](repeating: 0, count: shift) + secret).base64EncodedString()
            all.append(String(shifted.replacing("=", with: "").dropFirst(shift == 0 ? 0 : 4).dropLast(4)))
        }
        forms += all.filter { $0.count >= 6 }.map { (name, $0) }
    }

    /// The names of those that stand in a text.
    func found(in text: String) -> [String] { forms.filter { text.contains($0.form) }.map(\.name) }
}

/// Looks again and again until it is so. Never a measure of how long it took.
///
/// - Parameters:
///   - what: What is waited for, for the message when it does not come.
///   - limit: Generous, for a machine that is busy; a passing test does not need it.
///   - probe: `nil`: not yet.
func eventually<T: Sendable>(
    _ what: String, within limit: Duration = .seconds(60), _ probe: () async throws -> T?
) async throws -> T {
    let deadline = ContinuousClock.now + limit
    while true {
        if let found = try await probe() { return found }
        guard ContinuousClock.now < deadline else { throw TestSetupError("\(what): it did not come to that") }
        try await Task.sleep(for: .milliseconds(150))
    }
}
