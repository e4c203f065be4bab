import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

/// The sentences that are shipped for Rhasspy, said to the bridge one by one.
@Suite struct SentenceFileTests {
    static func intents(_ language: Language) throws -> [(
        intent: String, sentences: [RhasspyTemplate.Sentence]
    )] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "config/hermes/sentences.\(language.rawValue).ini")
        return try RhasspyTemplate.intents(of: String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }

    @Test(arguments: Language.allCases)
    func everyIntentHasSentencesAndNoOther(language: Language) throws {
        let intents = try Self.intents(language)
        #expect(intents.map(\.intent).sorted() == VoiceIntent.allCases.map { "Ftw" + $0.rawValue }.sorted())
        #expect(intents.allSatisfy { !$0.sentences.isEmpty })
        // One sentence cannot mean two things.
        let words = intents.flatMap { intent in Set(intent.sentences.map(\.words)) }
        #expect(Dictionary(grouping: words) { $0 }.filter { $0.value.count > 1 }.keys.sorted() == [])
    }

    @Test(arguments: Language.allCases)
    func everySentenceIsUnderstood(language: Language) throws {
        var said = 0
        let fresh = voiceBench(listening(language), house: VoiceAnswerTests.twoCars())
        for (intent, sentences) in try Self.intents(language) {
            for sentence in sentences {
                said += 1
                var bench = fresh
                if intent.hasSuffix("WhichCar") || intent.hasSuffix("Cancel") {
                    bench.feed(.message(heard("FtwPause")))
                    let answer = bench.feed(.message(heard(intent, sentence.slots))).spoken
                    // The file's cars are examples; the house's are called otherwise.
                    #expect(intent.hasSuffix("Cancel") ? answer.count == 1 : !sentence.slots.isEmpty)
                    continue
                }
                var slots = sentence.slots
                slots["car"] = "garage"
                let sent = bench.feed(.message(heard(intent, slots)))
                if ["FtwCarLevel", "FtwCarReady"].contains(intent) {
                    #expect(sent.spoken.count == 1 && bench.orders.isEmpty, "\(sentence.words)")
                } else {
                    #expect(sent.spoken.isEmpty, "\(sentence.words): \(sent.spoken)")
                    #expect(bench.orders.count == 1, "\(sentence.words)")
                }
            }
        }
        #expect(said > 150)
    }

    @Test func whatIsSaidIsWhatIsMeant() throws {
        let en = try Self.intents(.en)
        func slots(_ words: String) -> JSONValue? {
            en.flatMap(\.sentences).first { $0.words == words }.map { .object($0.slots) }
        }
        #expect(
            slots("charge the car to 100 percent by 12 o clock p m") == [
                "level": 100, "hour": 12, "part": "pm",
            ])
        #expect(slots("charge the car to 1 by 0 30") == ["level": 1, "hour": 0, "minute": 30])
        #expect(slots("charge the car for 12 hours") == ["hours": 12])
        #expect(slots("the volvo") == ["car": "volvo"])
        #expect(slots("go back to the plan") == [:])
    }

    /// The page beside them names every intent.
    @Test func thePageNamesEveryIntent() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = String(
            decoding: try Data(contentsOf: root.appending(path: "config/hermes/README.md")), as: UTF8.self)
        for intent in VoiceIntent.allCases { #expect(page.contains("`Ftw\(intent.rawValue)`")) }
    }
}
