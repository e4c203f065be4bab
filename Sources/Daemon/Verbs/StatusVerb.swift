import Ambient
import BoxLink
import Configuration
import FoundationEssentials
import Glibc
import JSONText
import MQTTTypes

/// `ftw-mqtt status`: the house as the bridge last published it.
struct StatusVerb {
    let options: SiteOptions
    let environment: [String: String]

    func run() async -> ExitCode {
        let around = Surroundings(
            environment: environment, logLevel: options.common.logLevel ?? "error",
            plain: options.common.plain)
        guard let settings = around.settings(options.common) else { return .configuration }
        guard let site = around.site(options.site, of: settings) else { return .usage }
        let assembly = SiteAssembly(
            settings: settings, site: site, loop: WebSocketLoop(), ambient: around.ambient)
        let base = "\(settings.mqtt.baseTopic)/\(site.id)"
        let answer = await Visit(assembly).retained(["\(base)/#"], within: .seconds(10))
        guard let answer else {
            around.complain(
                "the broker at \(settings.mqtt.host):\(settings.mqtt.port) cannot be reached; "
                    + "ftw-mqtt check says why")
            return .unreachable
        }
        let terminal = Terminal.of(STDOUT_FILENO, environment: environment, plain: options.common.plain)
        let report = StatusReport(
            name: site.name, id: site.id, base: base, topics: answer, now: around.ambient.time.wall)
        guard !report.isEmpty else {
            around.complain("nothing is published under \(base); is the bridge running?")
            return .failed
        }
        for line in report.lines(terminal) { print(line) }
        return report.isOnline ? .done : .failed
    }
}

/// What the retained topics of a site say, as lines for a person. Pure.
struct StatusReport {
    private let name: String
    private let id: String
    private let topics: [String: JSONValue]
    private let plain: [String: String]

    private let now: Date

    init(name: String, id: String, base: String, topics: [String: Message], now: Date) {
        self.now = now
        self.name = name
        self.id = id
        var documents: [String: JSONValue] = [:]
        var plain: [String: String] = [:]
        for (topic, message) in topics where topic.hasPrefix(base + "/") {
            let key = String(topic.dropFirst(base.count + 1))
            plain[key] = message.text
            documents[key] = try? JSONValue(parsing: message.payload)
        }
        self.topics = documents
        self.plain = plain
    }

    /// The language that the bridge speaks.
    private var language: String { topics["bridge/info"]?["language"]?.stringValue ?? "en" }
    var isEmpty: Bool { plain.isEmpty }
    var isOnline: Bool { plain["bridge/availability"] == "online" }

    func lines(_ terminal: Terminal) -> [String] {
        var lines = [terminal.styled("\(name) (\(id))", .bold)]
        func row(_ label: String, _ text: String) {
            lines.append("  \(label)\(String(repeating: " ", count: max(1, 12 - label.count)))\(text)")
        }
        if !isOnline {
            row("bridge", terminal.styled("offline; what follows is the last it said", .red))
        } else if let info = topics["bridge/info"] {
            row("bridge", "online, version \(info["version"]?.stringValue ?? "not said")")
        }
        if let link = topics["box/link"] {
            row("box", link["sentence"]?.stringValue ?? link["state"]?.stringValue ?? "not said")
        }
        if let sentence = topics["control"]?["sentence"]?.stringValue { row("control", sentence) }
        if let mode = topics["mode"]?["label"]?.stringValue { row("mode", mode) }
        if let power = topics["power"] {
            let age = power["live"]?.boolValue == true ? "" : Self.dated(power["at"])
            for key in ["grid", "solar", "battery", "car", "house"] {
                guard let watts = power[key] else { continue }
                row(key, watts.doubleValue.map { Self.watts($0, key) + age } ?? "not known")
            }
        }
        if let level = topics["battery"]?["level"]?.doubleValue {
            row(
                "battery at",
                "\(Self.number(level)) %"
                    + (topics["battery"]?["live"]?.boolValue == true
                        ? "" : Self.dated(topics["battery"]?["at"])))
        }
        for key in topics.keys.filter({ $0.hasPrefix("car/") && $0.hasSuffix("/text/\(language)") }).sorted()
        {
            for name in ["level", "charging", "goal", "readiness"] {
                if let sentence = topics[key]?[name]?.stringValue { row("car", sentence) }
            }
        }
        if let day = DayPicture(topics: topics, now: now) { lines += day.lines(terminal) }
        let sources = topics.keys.filter { $0.hasPrefix("source/") && !$0.hasSuffix("/availability") }
            .sorted()
        for key in sources {
            guard let state = topics[key]?["state"]?.stringValue else { continue }
            let name = topics[key]?["name"]?.stringValue ?? String(key.dropFirst(7))
            let isLive = state == "live" && isHeard(key)
            var text = state == "live" && !isLive ? "not live" : state
            if !isLive, let last = topics[key]?["last_answered"]?.stringValue {
                text += ", last answered \(last)"
            }
            row("source", "\(name): \(terminal.styled(text, isLive ? .green : .yellow))")
        }
        return lines
    }

    /// Whether what a source's document says is still so: a will empties no documents.
    private func isHeard(_ source: String) -> Bool {
        isOnline && plain["box/availability"] == "online" && plain["\(source)/availability"] == "online"
    }

    private static func dated(_ at: JSONValue?) -> String {
        at?.stringValue.map { " (not live; as of \($0))" } ?? " (not live)"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? "\(Int64(value))" : "\((value * 10).rounded() / 10)"
    }

    /// Watts with the words that the sign means.
    private static func watts(_ value: Double, _ key: String) -> String {
        let size = "\(number(abs(value))) W"
        switch key {
        case "grid": return value == 0 ? size : size + (value > 0 ? " imported" : " exported")
        case "solar": return size
        case "battery": return value == 0 ? size : size + (value > 0 ? " charging" : " discharging")
        default: return number(value) + " W"
        }
    }
}
