import FoundationEssentials
import JSONText
import MQTTTypes

/// What our items in openHAB show while messages arrive: its generic MQTT things and JSONPath, and
/// those of our rules that follow a thing's status. A model, made from the binding's source.
struct OpenHABItems {
    private let files: OpenHABFiles
    /// By thing; a thing without a word is not there yet.
    private(set) var status: [String: String] = [:]
    /// By name; `nil` is UNDEF, and an item without a word is not there.
    private(set) var states: [String: String?] = [:]

    init(_ files: OpenHABFiles) { self.files = files }

    /// Items that show something.
    var known: Set<String> { Set(states.filter { $0.value != nil }.keys) }

    /// Takes a message in; returns what the rules publish for it.
    mutating func take(_ message: Message) -> [(topic: String, payload: String)] {
        let text = message.text ?? ""
        var published: [(topic: String, payload: String)] = []
        for thing in files.things {
            if message.topic == thing.options["availabilityTopic"] {
                published += changed(
                    thing.uid, text == thing.options["payloadAvailable"] ? "ONLINE" : "OFFLINE")
            }
            // A channel is updated whatever its thing's status is.
            for channel in thing.channels where channel.options["stateTopic"] == message.topic {
                guard let state = Self.state(text, channel) else { continue }
                for item in files.items where item.channel == "\(thing.uid):\(channel.id)" {
                    states.updateValue(state, forKey: item.name)
                }
            }
        }
        return published
    }

    private mutating func changed(_ thing: String, _ new: String) -> [(topic: String, payload: String)] {
        let old = status.updateValue(new, forKey: thing) ?? "UNKNOWN"
        guard old != new else { return [] }
        let rules = files.rules.filter { $0.isTriggered(by: thing, from: old, to: new) }
        for group in rules.flatMap(\.cleared) {
            for item in files.items where item.groups.contains(group) {
                states.updateValue(nil, forKey: item.name)
            }
        }
        return rules.flatMap(\.publishes)
    }

    /// What a channel makes of a payload; `nil` when it makes nothing of it, and keeps what it has.
    private static func state(_ text: String, _ channel: OpenHABFiles.Channel) -> String? {
        var text = text
        if let pattern = channel.options["transformationPattern"] {
            let member = String(pattern.dropFirst("JSONPATH:$.".count))
            guard let value = try? JSONValue(parsing: text)[member], value != .null else { return nil }
            text = value.stringValue ?? value.text
        }
        if channel.type == "switch", ![channel.options["on"], channel.options["off"]].contains(text) {
            return nil
        }
        return text
    }
}
