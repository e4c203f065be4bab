import Bridge
import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes

/// What the retained topics of a site say, as lines for a person. Pure.
struct StatusReport {
    private let name: String
    private let id: String
    private let topics: [String: JSONValue]
    private let plain: [String: String]

    private let machineNow: Date

    init(name: String, id: String, base: String, topics: [String: Message], now: Date) {
        machineNow = now
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

    /// The language that the bridge speaks; its sentences stand beside our labels.
    private var language: Language {
        topics["bridge/info"]?["language"]?.stringValue.flatMap(Language.init) ?? .en
    }
    private var zone: Zone { topics["bridge/info"]?["zone"]?.stringValue.flatMap { Zone(named: $0) } ?? .utc }

    /// Further apart than this the bridge goes by another clock than this machine.
    private static let clockTolerance = 600.0

    /// What the bridge's own clock shows, as far as its newest report tells; `nil` when that is this
    /// machine's, or when a bridge that is gone reports nothing new.
    private var otherClock: Date? {
        guard isOnline else { return nil }
        let newest = topics.values.compactMap { $0["at"]?.stringValue.flatMap(instant(rfc3339:)) }.max()
        return newest.flatMap { abs($0.timeIntervalSince(machineNow)) > Self.clockTolerance ? $0 : nil }
    }
    private var now: Date { otherClock ?? machineNow }

    private func say(_ en: String, _ sv: String) -> String { LocalText(en, sv)[language] }
    var isEmpty: Bool { plain.isEmpty }
    var isOnline: Bool { plain["bridge/availability"] == "online" }

    func lines(_ terminal: Terminal) -> [String] {
        var lines = [terminal.styled("\(name) (\(id))", .bold)]
        func row(_ label: String, _ text: String) {
            let label = "  \(label)\(String(repeating: " ", count: max(1, 12 - label.count)))"
            let rest = String(repeating: " ", count: 14)
            for (index, piece) in terminal.wrapped(text, indent: 14).enumerated() {
                lines.append((index == 0 ? label : rest) + piece)
            }
        }
        if !isOnline {
            row(
                say("bridge", "bryggan"),
                terminal.styled(
                    say("offline; what follows is the last it said", "borta; detta är det sista den sade"),
                    .red))
        } else if let info = topics["bridge/info"] {
            let version = info["version"]?.stringValue ?? say("not said", "okänd")
            row(say("bridge", "bryggan"), say("online, version ", "ansluten, version ") + version)
        }
        if let link = topics["box/link"] {
            row(
                say("box", "boxen"),
                link["sentence"]?.stringValue ?? link["state"]?.stringValue ?? say("not said", "okänt"))
        }
        if let sentence = topics["control"]?["sentence"]?.stringValue {
            row(say("control", "styrning"), sentence)
        }
        if let mode = topics["mode"]?["label"]?.stringValue { row(say("mode", "driftläge"), mode) }
        if let power = topics["power"] {
            let age = power["live"]?.boolValue == true ? "" : dated(power["at"])
            let flows = [
                ("grid", "elnät"), ("solar", "sol"), ("battery", "batteri"), ("car", "bil"), ("house", "hus"),
            ]
            for (key, swedish) in flows {
                guard let watts = power[key] else { continue }
                row(
                    say(key, swedish),
                    watts.doubleValue.map { self.watts($0, key) + age } ?? say("not known", "okänt"))
            }
        }
        if let level = topics["battery"]?["level"]?.doubleValue {
            row(
                say("battery at", "batterinivå"),
                "\(number(level)) %"
                    + (topics["battery"]?["live"]?.boolValue == true
                        ? "" : dated(topics["battery"]?["at"])))
        }
        for key in topics.keys.filter({ $0.hasPrefix("car/") && $0.hasSuffix("/text/\(language.rawValue)") })
            .sorted()
        {
            for name in ["level", "charging", "goal", "readiness"] {
                if let sentence = topics[key]?[name]?.stringValue { row(say("car", "bil"), sentence) }
            }
        }
        if let otherClock {
            row(
                say("clock", "klocka"),
                zone.iso8601(otherClock) + say(" at the bridge, not this machine's", " hos bryggan, inte här")
            )
        }
        row(say("price", "pris"), priceNow)
        if let cheapest { row(say("cheapest", "billigast"), cheapest) }
        if let day = DayPicture(topics: topics, language: language, now: now) { lines += day.lines(terminal) }
        let sources = topics.keys.filter { $0.hasPrefix("source/") && !$0.hasSuffix("/availability") }
            .sorted()
        for key in sources {
            guard let state = topics[key]?["state"]?.stringValue else { continue }
            let name = topics[key]?["name"]?.stringValue ?? String(key.dropFirst(7))
            let isLive = state == "live" && isHeard(key)
            var text = state == "live" && !isLive ? say("not live", "inte live") : self.state(state)
            if !isLive, let last = topics[key]?["last_answered"]?.stringValue {
                text += say(", last answered ", ", svarade senast ") + last
            }
            row(say("source", "källa"), "\(name): \(terminal.styled(text, isLive ? .green : .yellow))")
        }
        return lines
    }

    /// Whether what a source's document says is still so: a will empties no documents.
    private func isHeard(_ source: String) -> Bool {
        isOnline && plain["box/availability"] == "online" && plain["\(source)/availability"] == "online"
    }

    /// The price that holds now, said anew: what is retained may be from before a change.
    private var priceNow: String {
        let unknown = say("prices unknown", "priser okända")
        guard let price = topics["price/now"], let total = price["total"]?.doubleValue,
            let end = price["end"]?.stringValue.flatMap(instant(rfc3339:)), end > now
        else { return unknown }
        let unit = price["unit"]?.stringValue ?? say("per kWh", "per kWh")
        return Sentence.price(perKWh: total, unit: unit, until: end).text(language, zone: zone, now: now)
    }

    /// Of the lengths that are published the middle one, as on the dashboards; `nil` when none lies ahead.
    private var cheapest: String? {
        let windows = topics.filter { $0.key.hasPrefix("price/cheap/") }.values
            .compactMap { document -> Sentence? in
                guard let hours = document["hours"]?.doubleValue.flatMap({ Int(exactly: $0) }),
                    let start = document["start"]?.stringValue.flatMap(instant(rfc3339:)),
                    let end = document["end"]?.stringValue.flatMap(instant(rfc3339:)), end > now
                else { return nil }
                return .cheapest(hours: hours, start: start, end: end, isRunning: start <= now)
            }
            .sorted { a, b in
                guard case .cheapest(let one, _, _, _) = a, case .cheapest(let other, _, _, _) = b else {
                    return false
                }
                return one < other
            }
        return windows.dropFirst((windows.count - 1) / 2).first?.text(language, zone: zone, now: now)
    }

    private func state(_ token: String) -> String {
        switch token {
        case "live": say("live", "färsk")
        case "lagging": say("lagging", "släpar efter")
        case "stale": say("stale", "gammal")
        case "down": say("down", "nere")
        case "never": say("never", "aldrig hörd")
        case "unknown": say("unknown", "okänd")
        default: token
        }
    }

    private func dated(_ at: JSONValue?) -> String {
        at?.stringValue.map { say(" (not live; as of \($0))", " (inte färskt; från \($0))") }
            ?? say(" (not live)", " (inte färskt)")
    }

    private func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "?" }
        if value == value.rounded() { return "\(Int64(value))" }
        let text = "\((value * 10).rounded() / 10)"
        return language == .sv ? text.replacing(".", with: ",") : text
    }

    /// Watts with the words that the sign means.
    private func watts(_ value: Double, _ key: String) -> String {
        let size = "\(number(abs(value))) W"
        switch key {
        case "grid":
            return value == 0
                ? size : size + (value > 0 ? say(" imported", " köps") : say(" exported", " säljs"))
        case "solar": return size
        case "battery":
            return value == 0
                ? size : size + (value > 0 ? say(" charging", " laddas") : say(" discharging", " laddas ur"))
        default: return number(value) + " W"
        }
    }
}
