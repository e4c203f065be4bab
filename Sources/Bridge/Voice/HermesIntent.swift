import EnergyModel
import JSONText
import MQTTTypes

/// One recognized sentence, as far as we use it (`hermes/intent/<name>`,
/// rhasspy-hermes `NluIntent`).
struct HermesIntent: Sendable, Equatable {
    /// One value of a slot: Rhasspy gives `{"kind":…,"value":…}`, older ones the value alone.
    enum SlotValue: Sendable, Equatable {
        case text(String)
        case number(Double)
        /// Nothing that a sentence could have said.
        case unusable
    }

    var intent: VoiceIntent
    /// The name as it was sent, such as `FtwPause` or `anna:FtwPause`.
    var name: String
    /// Where the answer goes; `nil` when nobody holds a conversation.
    var sessionID: String?
    /// The satellite that heard it, where the answer is to be heard too.
    var siteID: String
    /// The sentence's language as it was sent; `nil` when it was not.
    var lang: String?
    /// Every value of each slot.
    var slots: [String: [SlotValue]]

    /// What became of a message.
    enum Reading: Equatable {
        /// Another skill's, or none at all.
        case notOurs
        /// Ours, but not to be used or answered; why, for the log.
        case unusable(String)
        case intent(HermesIntent)
    }

    static let topicPrefix = "hermes/intent/"
    /// The longest payload that is looked at, in bytes; one with every token of
    /// the recognizer is a few thousand.
    static let longestPayload = 32_768
    /// The most slots that are looked at.
    private static let mostSlots = 32

    /// Reads a message on `hermes/intent/#`.
    ///
    /// The topic alone decides whether it is ours, so that a broken message of
    /// another skill is never answered by us.
    static func read(_ message: Message, prefix: String) -> Reading {
        guard message.topic.hasPrefix(topicPrefix) else { return .notOurs }
        let name = String(message.topic.dropFirst(topicPrefix.count))
        // Snips put the skill's author before the name.
        let own = name.split(separator: ":", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        guard name.utf8.count <= 200, own.hasPrefix(prefix),
            let intent = VoiceIntent(rawValue: String(own.dropFirst(prefix.count)))
        else { return .notOurs }
        guard message.payload.count <= longestPayload else { return .unusable("it is too long") }
        guard let document = try? JSONValue(parsing: message.payload), document.objectValue != nil else {
            return .unusable("it is no JSON object")
        }
        // Something that is no intent may get here too, such as an answer sent to the wrong topic.
        guard document["intent"]?["intentName"]?.stringValue == name else {
            return .unusable("it names another intent than its topic")
        }
        let session = document["sessionId"] ?? .null
        guard
            session.isNull || session.stringValue.map({ $0.isEmpty || isPrintable($0, atMost: 256) }) == true
        else { return .unusable("its sessionId is none") }
        let lang = document["lang"]?.stringValue.flatMap { isPrintable($0, atMost: 35) ? $0 : nil }
        return .intent(
            HermesIntent(
                intent: intent, name: name,
                sessionID: session.stringValue.flatMap { $0.isEmpty ? nil : $0 },
                siteID: document["siteId"]?.stringValue.flatMap { isPrintable($0, atMost: 256) ? $0 : nil }
                    ?? "default",
                lang: lang, slots: slots(document["slots"])))
    }

    private static func slots(_ value: JSONValue?) -> [String: [SlotValue]] {
        var slots: [String: [SlotValue]] = [:]
        for slot in (value?.arrayValue ?? []).prefix(mostSlots) {
            guard let name = slot["slotName"]?.stringValue ?? slot["entity"]?.stringValue,
                isPrintable(name, atMost: 64)
            else { continue }
            let given = slot["value"] ?? .null
            slots[name, default: []].append(read(given.objectValue == nil ? given : given["value"] ?? .null))
        }
        return slots
    }

    private static func read(_ value: JSONValue) -> SlotValue {
        if let text = value.stringValue {
            let typed = TypedText.trimmed(text)
            return isPrintable(typed, atMost: 100) ? .text(typed) : .unusable
        }
        guard let number = value.doubleValue, number.isFinite, abs(number) < 1e9 else { return .unusable }
        return .number(number)
    }

    /// Not empty, not longer, and nothing in it that no sentence has.
    private static func isPrintable(_ text: String, atMost limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count) && TypedText.isPrintable(text)
    }

    // MARK: What was said

    /// The one value of a slot.
    ///
    /// - Returns: `nil` when it was not said.
    /// - Throws: `VoiceProblem.notUnderstood` when it was said twice in different ways, or makes no sense.
    func slot(_ name: String) throws(VoiceProblem) -> SlotValue? {
        guard let values = slots[name], let first = values.first else { return nil }
        guard first != .unusable, values.allSatisfy({ $0 == first }) else { throw .notUnderstood }
        return first
    }

    /// The one value as it would be typed.
    func text(_ name: String) throws(VoiceProblem) -> String? {
        switch try slot(name) {
        case .text(let text)?: text
        case .number(let number)?: Self.typed(number)
        case .unusable?, nil: nil
        }
    }

    /// A whole number within bounds; its text may carry a unit that says nothing new, such as `62 %`.
    func whole(_ name: String, _ range: ClosedRange<Int>) throws(VoiceProblem) -> Int? {
        guard let typed = try text(name) else { return nil }
        guard let quantity = TypedText.quantity(typed), quantity.unit.isEmpty,
            let number = Int(exactly: quantity.number), range.contains(number)
        else { throw .notUnderstood }
        return number
    }

    private static func typed(_ number: Double) -> String {
        Int64(exactly: number).map(String.init) ?? String(number)
    }

    /// The language to answer in: the sentence's if it is one of ours, else `configured`.
    func language(or configured: Language) -> Language {
        lang.flatMap { Language(rawValue: String($0.lowercased().prefix { $0.isLetter })) } ?? configured
    }
}
