import BoxSimulator
import Configuration
import EnergyModel
import FoundationEssentials
import JSONText
import MQTTClient
import MQTTTypes
import Testing

@testable import Bridge

extension Recipes {
    /// What people say, as Rhasspy sends it over a real broker, down to the box and back.
    @Suite(.needsBroker, .timeLimit(.minutes(6))) struct HermesTests {
        /// A recognizer and a speaker on the bus.
        private struct Room {
            let client: TestClient
            let lang: String

            /// Says something and returns what is said back, with its topic's last level.
            func say(
                _ intent: String, _ slots: [String: JSONValue] = [:], session: String? = nil
            ) async throws -> (topic: String, answer: JSONValue) {
                let session = session ?? "room-\(UInt64.random(in: 0...UInt64.max))"
                let list: [JSONValue] = slots.map { name, value in
                    [
                        "entity": .string(name), "slotName": .string(name), "confidence": 1,
                        "value": ["kind": value.stringValue == nil ? "Number" : "Unknown", "value": value],
                        "rawValue": .string(value.text), "range": ["start": 0, "end": 1],
                    ]
                }
                let document: JSONValue = [
                    "input": "…", "intent": ["intentName": .string(intent), "confidenceScore": 1],
                    "siteId": "kitchen", "sessionId": .string(session), "slots": .array(list),
                    "lang": .string(lang), "customData": nil, "asrTokens": [], "wakewordId": "porcupine",
                ]
                client.client.publish(Message("hermes/intent/\(intent)", document.bytes, qos: .atMostOnce))
                let message = try await client.next("an answer to \(intent)") { message in
                    (try? JSONValue(parsing: message.payload))?["sessionId"]?.stringValue == session
                }
                return (
                    message.topic.split(separator: "/").last.map(String.init) ?? "",
                    try JSONValue(parsing: message.payload)
                )
            }
        }

        @Test(arguments: [Language.en, .sv])
        func everythingThatCanBeSaidIsAnsweredAndDone(language: Language) async throws {
            try await RecipeStage.run { recipe in
                let client = try await TestClient.subscribed(
                    recipe.stage.broker.settings(clientID: "rhasspy"),
                    to: ["hermes/dialogueManager/#", "hermes/tts/#"])
                let room = Room(client: client, lang: language == .sv ? "sv_SE" : "en_US")
                let ear = Speakable(language: language)
                func say(_ intent: String, _ slots: [String: JSONValue] = [:]) async throws -> String {
                    let (topic, answer) = try await room.say(intent, slots)
                    #expect(topic == "endSession" && answer["siteId"] == "kitchen")
                    return answer["text"]?.stringValue ?? ""
                }
                func text(_ en: String, _ sv: String) -> String { language == .sv ? sv : en }

                // Questions: what the topic says, for the ear.
                var topic = try #require(try await recipe.document("car/garage/text/\(language.rawValue)"))
                let level = try await say("FtwCarLevel")
                #expect(level == ear.text(topic["level"]?.stringValue ?? ""))
                #expect(
                    level
                        == text("Battery 50 percent, the car says so.", "Batteriet 50 procent, enligt bilen.")
                )

                // Commands: their outcome, and what the box did.
                #expect(
                    try await say("FtwPause")
                        == text("Done: charging is paused.", "Klart: laddningen är pausad.")
                )
                try await recipe.becomes("car/garage/control", "paused")
                #expect(
                    try await say("FtwCarReady").contains(
                        text(
                            "Charging is paused until someone resumes it.",
                            "Laddningen är pausad tills någon startar den.")))
                #expect(
                    try await say("FtwChargeNow") == text("Done: charge now is on.", "Klart: ladda nu är på.")
                )
                try await recipe.becomes("car/garage/control", "charge_now")
                #expect(try await recipe.document("car/garage/hold")?["asked_by"] == "voice")
                #expect(
                    try await say("FtwBackToPlan")
                        == text("Done: the plan decides again.", "Klart: planen bestämmer igen."))
                try await recipe.becomes("car/garage/control", "plan")
                #expect(
                    try await say("FtwSetGoal", ["level": 80, "hour": 7])
                        == text(
                            "Done: the goal is 80 percent by 7 am, every day.",
                            "Klart: målet är 80 procent till klockan 7, varje dag."))
                try await recipe.stage.picture("the goal") { picture in
                    picture.document("car/garage/goal")?["level"] == 80
                        && picture.document("car/garage/goal")?["by"] == "07:00"
                }
                try await recipe.stage.picture("a word about readiness") {
                    $0.document("car/garage/text/\(language.rawValue)")?["readiness"]?.stringValue != nil
                }
                topic = try #require(try await recipe.document("car/garage/text/\(language.rawValue)"))
                #expect(
                    try await say("FtwCarReady").hasPrefix(ear.text(topic["readiness"]?.stringValue ?? "?")))
                #expect(
                    await recipe.applied.map(\.op).filter { $0.hasPrefix("loadpoint.") }.count >= 3)
                let puts = await recipe.stage.box.requestLog.requests.filter { $0.method == "PUT" }
                #expect(puts.count == 1)

                // A car that speaks for itself is believed: what somebody says is not told as done.
                #expect(
                    try await say("FtwSetLevel", ["level": 62])
                        .hasPrefix(
                            text("The box kept another value: 5", "Boxen behöll ett annat värde: 5")))
                let result = try #require(try await recipe.document("car/garage/last_command"))
                #expect(result["requested"] == "62" && result["stage"] == "superseded")
                // It may have charged a little meanwhile; it is nowhere near what was said.
                let shown = try await recipe.document("car/garage/level")?["level"]?.doubleValue
                for level in [result["value"]?.doubleValue, shown] {
                    #expect(level.map { (50..<52).contains($0) } == true, "\(String(describing: level))")
                }
                #expect(
                    try await say("FtwSetLevel", ["level": 162]).hasPrefix(text("Not done: ", "Inte gjort: "))
                )

                // Another skill's intent, and one that the broker kept.
                let before = await recipe.applied.count
                client.client.publish(Message("hermes/intent/Pause", #"{"intent":{"intentName":"Pause"}}"#))
                client.client.publish(
                    Message(
                        "hermes/intent/FtwChargeNow",
                        Array(#"{"intent":{"intentName":"FtwChargeNow"},"sessionId":"kept"}"#.utf8),
                        retained: true))
                #expect(try await say("FtwCancel") == text("I asked nothing.", "Jag har inte frågat något."))
                #expect(await recipe.applied.count == before)
                await client.close()
            }
        }

        @Test func aLevelThatSomebodySaysIsTheBoxesLevel() async throws {
            try await RecipeStage.run(car: .assumed) { recipe in
                let client = try await TestClient.subscribed(
                    recipe.stage.broker.settings(clientID: "rhasspy"), to: ["hermes/dialogueManager/#"])
                let room = Room(client: client, lang: "sv")
                let (_, answer) = try await room.say("FtwSetLevel", ["level": "62 procent"])
                #expect(answer["text"] == "Klart: nivån är 62 procent.")
                #expect(await recipe.applied.map(\.op) == ["loadpoint.soc.set"])
                try await recipe.stage.picture("the level") {
                    $0.document("car/garage/level")?["level"] == 62
                }
                let (_, level) = try await room.say("FtwCarLevel")
                #expect(level["text"]?.stringValue?.hasPrefix("Ungefär 62 procent, ") == true, "\(level)")
                await client.close()
            }
        }

        @Test func withTwoCarsItAsksAndGoesOn() async throws {
            try await RecipeStage.run(car: .twoChargers) { recipe in
                let client = try await TestClient.subscribed(
                    recipe.stage.broker.settings(clientID: "rhasspy"),
                    to: ["hermes/dialogueManager/#", "hermes/tts/#"])
                let room = Room(client: client, lang: "en")
                try await recipe.stage.picture("the second car") {
                    $0.document("car/carport/state")?["live"] == true
                }
                let (topic, question) = try await room.say("FtwPause", session: "talk")
                #expect(topic == "continueSession")
                #expect(question["text"]?.stringValue?.hasPrefix("Which car: ") == true)
                #expect(question["intentFilter"] == ["FtwWhichCar", "FtwCancel"])
                let (end, answer) = try await room.say("FtwWhichCar", ["car": "carport"], session: "talk")
                #expect(end == "endSession")
                #expect(answer["text"]?.stringValue?.contains("charging is paused") == true, "\(answer)")
                #expect(await recipe.applied.count == 1)
                await client.close()
            }
        }

        /// A kept intent is old: neither a start of the bridge nor a reconnection acts on it.
        @Test func whatTheBrokerKeptIsNeverActedOn() async throws {
            var options = Stage.Options()
            options.isHouseAwake = true
            let stage = try await Stage(options)
            await stage.box.setCar(.carLive(0.5))
            let client = try await TestClient.subscribed(
                stage.broker.settings(clientID: "rhasspy"), to: ["hermes/dialogueManager/#"])
            client.client.publish(
                Message(
                    "hermes/intent/FtwChargeNow",
                    Array(#"{"intent":{"intentName":"FtwChargeNow"},"sessionId":"kept"}"#.utf8),
                    retained: true))
            client.client.publish(
                Message(
                    "hermes/intent/FtwCarLevel",
                    Array(#"{"intent":{"intentName":"FtwCarLevel"},"sessionId":"kept-too"}"#.utf8),
                    retained: true
                ))
            await client.client.drain(limit: .seconds(5))
            let bridge = try stage.bridge { $0.voice.hermes = true }
            try await stage.picture("a live house") { $0.isLive }
            // What is said now is answered, and it is the only thing.
            client.client.publish(
                Message(
                    "hermes/intent/FtwCarLevel", #"{"intent":{"intentName":"FtwCarLevel"},"sessionId":"now"}"#
                ))
            let answer = try await client.next("an answer") { $0.topic.hasSuffix("endSession") }
            #expect(answer.text?.contains(#""sessionId":"now""#) == true)
            #expect(await stage.box.requestLog.commands.isEmpty)
            await client.close()
            await bridge.stop()
            await stage.close()
        }
    }
}
