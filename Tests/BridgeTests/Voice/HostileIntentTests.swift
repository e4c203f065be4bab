import EnergyModel
import JSONText
import MQTTTypes
import TestSupport
import Testing

@testable import Bridge

/// What may arrive on a bus that every skill of a home writes to.
@Suite struct HostileIntentTests {
    static let broken: [(name: String, payload: [UInt8])] = [
        ("empty", []), ("no text", [0xFF, 0xFE]), ("no JSON", Array("pause".utf8)),
        ("a list", Array("[]".utf8)),
        ("no intent", Array(#"{"sessionId":"s"}"#.utf8)),
        ("another intent", Array(#"{"intent":{"intentName":"FtwChargeNow"},"sessionId":"s"}"#.utf8)),
        ("intent is a text", Array(#"{"intent":"FtwPause","sessionId":"s"}"#.utf8)),
        ("session is a number", Array(#"{"intent":{"intentName":"FtwPause"},"sessionId":7}"#.utf8)),
        (
            "session with a control character",
            Array(#"{"intent":{"intentName":"FtwPause"},"sessionId":"a\u0000b"}"#.utf8)
        ),
        (
            "endless session",
            Array(
                #"{"intent":{"intentName":"FtwPause"},"sessionId":"\#(String(repeating: "x", count: 300))"}"#
                    .utf8)
        ),
        (
            "huge",
            Array(
                #"{"intent":{"intentName":"FtwPause"},"x":"\#(String(repeating: "x", count: 40_000))"}"#.utf8)
        ),
        ("deep", Array((String(repeating: "[", count: 5_000)).utf8)),
    ]

    @Test(arguments: broken.map(\.name))
    func whatCannotBeAnsweredIsIgnored(name: String) throws {
        let payload = try #require(Self.broken.first { $0.name == name }?.payload)
        var bench = voiceBench()
        #expect(bench.feed(.message(Message("hermes/intent/FtwPause", payload))).isEmpty)
        #expect(bench.orders.isEmpty && bench.log.count == 1)
    }

    @Test func oddSurroundingsDoNotMatter() {
        var bench = voiceBench()
        for (number, members) in [
            #""slots":null"#, #""slots":{}"#, #""slots":[1,null,"x",{}]"#, #""slots":[],"siteId":7"#,
            #""slots":[],"siteId":"\u0000""#, #""slots":[],"lang":["sv"]"#, #""slots":[],"lang":"tlh""#,
            #""slots":[{"slotName":"level"},{"slotName":7,"value":1}]"#, #""slots":[],"customData":{"a":1}"#,
        ].enumerated() {
            let text = #"{"intent":{"intentName":"FtwCarLevel"},"sessionId":"s\#(number)",\#(members)}"#
            let said = bench.feed(.message(Message("hermes/intent/FtwCarLevel", text)))
            #expect(said.spoken == ["endSession: Battery 50 percent, the car says so."], "\(members)")
        }
    }

    @Test func aFloodOfQuestionsAndCommandsIsBounded() {
        var bench = voiceBench(house: VoiceAnswerTests.twoCars())
        var asked = 0
        for number in 0..<200 {
            let said = bench.feed(.message(heard("FtwPause", session: "q\(number)"))).spoken
            if said.first?.hasPrefix("continueSession") == true { asked += 1 }
        }
        #expect(asked == VoiceDesk.limit)
        var answers = 0
        for number in 0..<200 {
            answers +=
                bench.feed(.message(heard("FtwPause", ["car": "volvo"], session: "c\(number)"))).spoken.count
        }
        #expect((bench.machine.voice?.pending.count ?? 0) <= VoiceDesk.limit)
        answers += bench.pass(.seconds(120)).spoken.count
        #expect(answers == 200)
    }

    /// Good messages with bytes changed, dropped and doubled: never a crash, never more
    /// than one order, and every answer is a message of the protocol.
    @Test func mutatedIntentsNeverDoHarm() {
        var dice = SeededDice(6)
        let good = [
            heard("FtwSetGoal", ["level": 80, "hour": 7, "minute": 30, "part": "am"]),
            heard("FtwSetLevel", ["level": "62 %", "car": "garage"], lang: "sv_SE"),
            heard("FtwChargeNow", ["hours": 2]), heard("FtwCarReady", ["home": "home"]),
            heard("FtwWhichCar", ["car": "garage"]),
        ]
        var bench = voiceBench(house: VoiceAnswerTests.twoCars())
        var heardCount = 0
        for round in 0..<6_000 {
            var message = good[round % good.count]
            for _ in 0..<Int.random(in: 1...4, using: &dice) where !message.payload.isEmpty {
                let place = Int.random(in: 0..<message.payload.count, using: &dice)
                switch Int.random(in: 0..<4, using: &dice) {
                case 0: message.payload[place] = UInt8.random(in: 0...255, using: &dice)
                case 1: message.payload.remove(at: place)
                case 2: message.payload.insert(message.payload[place], at: place)
                default: message.payload.removeLast(message.payload.count - place)
                }
            }
            let before = bench.orders.count
            let sent = bench.feed(.message(message))
            #expect(bench.orders.count - before <= 1)
            for answer in sent where answer.topic.hasPrefix("hermes/") {
                heardCount += 1
                #expect((try? JSONValue(parsing: answer.payload))?.objectValue != nil && !answer.retained)
                #expect(
                    [
                        "hermes/dialogueManager/endSession", "hermes/dialogueManager/continueSession",
                        "hermes/tts/say",
                    ].contains(answer.topic))
            }
            if round % 50 == 0 { bench.confirm(nil); bench.pass(.seconds(30)) }
        }
        #expect(heardCount > 100)
    }
}
