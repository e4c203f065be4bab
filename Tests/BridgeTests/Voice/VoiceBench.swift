import EnergyModel
import JSONText
import MQTTTypes

@testable import Bridge

/// What a recognizer sends, as Rhasspy 2.5 spells it.
func heard(
    _ intent: String, _ slots: [String: JSONValue] = [:], session: String? = "s-1", lang: String? = nil,
    name: String? = nil
) -> Message {
    let list: [JSONValue] = slots.sorted { $0.key < $1.key }.map { slot in
        [
            "entity": .string(slot.key), "slotName": .string(slot.key), "confidence": 1.0,
            "value": ["kind": "Unknown", "value": slot.value], "rawValue": .string(slot.value.text),
            "range": ["start": 0, "end": 1, "rawStart": 0, "rawEnd": 1],
        ]
    }
    let document: JSONValue = [
        "input": "what was said", "intent": ["intentName": .string(name ?? intent), "confidenceScore": 1.0],
        "slots": .array(list), "siteId": "kitchen", "id": nil, "customData": nil,
        "sessionId": session.map(JSONValue.string) ?? nil, "lang": lang.map(JSONValue.string) ?? nil,
        "asrTokens": [], "asrConfidence": nil, "rawInput": nil, "wakewordId": nil,
    ]
    return Message("hermes/intent/\(intent)", document.bytes, qos: .atMostOnce)
}

/// Settings with an ear.
func listening(_ language: Language = .en, voice: VoiceSettings = VoiceSettings()) -> BridgeSettings {
    var settings = settings(language: language)
    settings.voice = voice
    return settings
}

/// The usual house with one car.
func houseWithOneCar(_ change: (inout CarState) -> Void = { _ in }) -> SiteState {
    houseWithCars().changed { house in
        guard var car = house.cars?.first else { return }
        change(&car)
        house.cars = [car]
    }
}

/// A bridge that listens and is up.
func voiceBench(
    _ settings: BridgeSettings = listening(), house: SiteState = houseWithOneCar()
) -> Bench {
    var bench = Bench(settings)
    bench.see(house)
    bench.connect()
    return bench
}

extension [Message] {
    /// What was said back, each as its topic's last level and its text.
    var spoken: [String] {
        filter { $0.topic.hasPrefix("hermes/") }.compactMap { message in
            guard let text = (try? JSONValue(parsing: message.payload))?["text"]?.stringValue else {
                return nil
            }
            return "\(message.topic.split(separator: "/").last ?? ""): \(text)"
        }
    }
}

extension Bench {
    /// Lets the box confirm the newest order.
    @discardableResult mutating func confirm(_ value: BoxOutcome.BoxValue?) -> [Message] {
        guard let id = orders.last?.id else { return [] }
        return feed(.progress(id, .acknowledged)) + feed(.progress(id, .ended(.applied(value))))
    }
}
