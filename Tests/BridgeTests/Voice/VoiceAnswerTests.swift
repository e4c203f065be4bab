import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

/// Questions, and which car and which home they are about.
@Suite struct VoiceAnswerTests {
    func ask(_ bench: inout Bench, _ intent: String, _ slots: [String: JSONValue] = [:], lang: String? = nil)
        -> [String]
    {
        bench.feed(.message(heard("Ftw" + intent, slots, lang: lang))).spoken
    }

    @Test func theLevelIsAnsweredWithItsOriginAndAge() {
        var bench = voiceBench()
        #expect(ask(&bench, "CarLevel") == ["endSession: Battery 50 percent, the car says so."])
        #expect(ask(&bench, "CarLevel", lang: "sv") == ["endSession: Batteriet 50 procent, enligt bilen."])
        bench.see(
            houseWithOneCar { car in
                car.level = CarLevel(soc: 0.62, origin: .carOld, at: morning - 26 * 3_600)
            })
        #expect(
            ask(&bench, "CarLevel")
                == ["endSession: Battery 62 percent, the car's last word yesterday at 8 am."])
        #expect(
            ask(&bench, "CarLevel", lang: "sv_SE")
                == ["endSession: Batteriet 62 procent, bilens senaste besked i går klockan 8."])
    }

    /// Every situation: what is said is what `car/<id>/text/<lang>` says, in words for the ear.
    @Test(arguments: Situation.all, Language.allCases)
    func aSpokenAnswerIsTheTopicsSentence(situation: Situation, language: Language) throws {
        var bench = voiceBench(listening(language), house: house().with(try situation.car()))
        let text = try #require(bench.json("car/garage/text/\(language.rawValue)"))
        let ear = Speakable(language: language)
        func member(_ name: String) -> String { ear.text(text[name]?.stringValue ?? "") }
        #expect(ask(&bench, "CarLevel") == ["endSession: \(member("level"))"])
        let ready = try #require(ask(&bench, "CarReady").first)
        let expected =
            text["readiness"] != .null
            ? member("readiness") : text["charging"] != .null ? member("charging") : member("level")
        #expect(ready.hasPrefix("endSession: ") && ready.contains(expected), "\(ready)")
        #expect(ready.unicodeScalars.count <= 300)
    }

    @Test func aLostBoxIsNamedAndTheLevelDated() {
        var bench = voiceBench()
        let lost = Link(state: .lost, since: morning, reason: .boxAway)
        bench.see(
            houseWithOneCar { car in
                car.isCurrent = false
                car.level.outdated = true
            }.changed { $0.link = lost })
        let level = "Battery 50 percent, the car's last word at 10 am."
        let link = "The box is not there. Is it switched on and online?"
        #expect(ask(&bench, "CarLevel") == ["endSession: \(link) \(level)"])
        #expect(ask(&bench, "CarReady") == ["endSession: \(link) Nothing newer is known. \(level)"])
    }

    @Test func aChangeUnderWayIsSaidToBeOne() {
        var bench = voiceBench()
        bench.feed(.message(heard("FtwSetLevel", ["level": 80], session: "other")))
        #expect(
            ask(&bench, "CarLevel") == [
                "endSession: Battery 50 percent, the car says so. A change is under way; ask again in a moment."
            ])
    }

    @Test func aHouseThatIsNotKnownYetIsNotGuessed() {
        var bench = Bench(listening())
        bench.connect()
        #expect(ask(&bench, "CarLevel") == ["endSession: Nothing is known of the car yet."])
        #expect(ask(&bench, "Pause") == ["endSession: Nothing is known of the car yet."])
        bench.see(house().with())
        #expect(ask(&bench, "CarLevel", lang: "sv") == ["endSession: Boxen har ingen laddare."])
    }

    @Test func whatIsMissingIsAskedForInWords() {
        var bench = voiceBench()
        #expect(
            ask(&bench, "SetLevel")
                == ["endSession: Which level? Say for instance: the car is at 62 percent."])
        #expect(
            ask(&bench, "SetGoal", lang: "sv")
                == ["endSession: Vilket mål? Säg till exempel: ladda bilen till 80 procent till sju."])
        for slots: [String: JSONValue] in [
            ["level": 80, "hour": 25], ["level": 80, "hour": 7, "minute": 60], ["level": 80, "minute": 5],
            ["level": 80, "hour": 13, "part": "pm"], ["level": 80, "hour": 7, "part": "noonish"],
            ["level": 80, "hour": 7.5], ["level": 80, "time": "half past"], ["level": ["a": 1], "hour": 7],
            ["level": "8\u{0}0"], ["level": .null],
        ] {
            #expect(ask(&bench, "SetGoal", slots) == ["endSession: I did not understand that."], "\(slots)")
        }
        #expect(bench.orders.isEmpty)
    }

    @Test func aSlotSaidTwiceDifferentlyIsNotGuessed() throws {
        var bench = voiceBench()
        let slot = { (level: Int64) -> JSONValue in
            ["slotName": "level", "value": ["kind": "Number", "value": .int(level)]]
        }
        func message(_ slots: [JSONValue]) -> Message {
            let document: JSONValue = [
                "intent": ["intentName": "FtwSetLevel"], "sessionId": "s", "slots": .array(slots),
            ]
            return Message("hermes/intent/FtwSetLevel", document.bytes)
        }
        #expect(
            bench.feed(.message(message([slot(62), slot(80)]))).spoken
                == ["endSession: I did not understand that."])
        bench.feed(.message(message([slot(62), slot(62)])))
        #expect(bench.orders.map(\.intent) == [.level(.exactly(0.62))])
    }

    // MARK: Several cars

    static func twoCars() -> SiteState {
        houseWithCars().changed { house in
            house.cars?[0].loadpoint.vehicleName = "Volvo EX30"
            house.cars?[1].loadpoint.vehicleName = "Blå bilen"
        }
    }

    @Test(arguments: [
        ("Volvo EX30", "garage"), ("volvo ex30", "garage"), ("volvo", "garage"), ("VOLVO", "garage"),
        ("garage", "garage"), ("Gatan Norr", "Gatan Norr"), ("gatan norr", "Gatan Norr"),
        ("blå bilen", "Gatan Norr"), ("blå", "Gatan Norr"), ("norr", "Gatan Norr"),
    ])
    func aCarIsFoundByWhatItIsCalled(said: String, id: String) {
        var bench = voiceBench(house: Self.twoCars())
        bench.feed(.message(heard("FtwPause", ["car": .string(said)])))
        #expect(bench.orders.map(\.loadpoint) == [id])
        let name = id == "garage" ? "Volvo EX30" : "Blå bilen"
        #expect(bench.confirm(nil).spoken == ["endSession: \(name): Done: charging is paused."])
    }

    @Test func aNameNobodyHasIsNotGuessed() {
        var bench = voiceBench(house: Self.twoCars())
        #expect(
            ask(&bench, "CarLevel", ["car": "Saab"])
                == ["endSession: I know no car called Saab. There is Volvo EX30 and Blå bilen."])
        bench = voiceBench()
        #expect(
            ask(&bench, "CarLevel", ["car": "Saab"]) == [
                "endSession: I know no car called Saab. There is garage."
            ])
        #expect(
            ask(&bench, "CarLevel", ["car": "  - "]) == [
                "endSession: I know no car called -. There is garage."
            ])
    }

    @Test func withSeveralCarsItAsksWhichOne() throws {
        var bench = voiceBench(house: Self.twoCars())
        var sent = bench.feed(.message(heard("anna:FtwSetLevel", ["level": 62])))
        #expect(
            sent == [
                Message(
                    "hermes/dialogueManager/continueSession",
                    #"{"intentFilter":["anna:FtwWhichCar","anna:FtwCancel"],"sendIntentNotRecognized":false,"#
                        + #""sessionId":"s-1","siteId":"kitchen","text":"Which car: Volvo EX30 or Blå bilen?"}"#
                )
            ])
        #expect(bench.orders.isEmpty)
        // Another conversation does not answer for this one.
        #expect(
            bench.feed(.message(heard("FtwWhichCar", ["car": "volvo"], session: "s-2"))).spoken
                == ["endSession: I asked nothing."])
        sent = bench.feed(.message(heard("anna:FtwWhichCar", ["car": "volvo"])))
        #expect(sent.spoken.isEmpty && bench.orders.map(\.intent) == [.level(.exactly(0.62))])
        #expect(
            bench.confirm(.number(0.62)).spoken == ["endSession: Volvo EX30: Done: the level is 62 percent."])
    }

    @Test func anAnswerThatNamesNoCarChangesNothing() {
        for (intent, slots, text) in [
            ("Cancel", [:], "Nothing was changed."), ("WhichCar", [:], "Nothing was changed."),
            (
                "WhichCar", ["car": "Saab"],
                "I know no car called Saab. There is Volvo EX30 and Blå bilen. Nothing was changed."
            ),
        ] as [(String, [String: JSONValue], String)] {
            var bench = voiceBench(house: Self.twoCars())
            bench.feed(.message(heard("FtwChargeNow")))
            #expect(ask(&bench, intent, slots) == ["endSession: \(text)"])
            // The question is closed with it.
            #expect(ask(&bench, "WhichCar", ["car": "volvo"]) == ["endSession: I asked nothing."])
            #expect(bench.orders.isEmpty)
        }
    }

    @Test func aQuestionOfOursStandsForAMinute() {
        var bench = voiceBench(house: Self.twoCars())
        bench.feed(.message(heard("FtwChargeNow")))
        bench.pass(.seconds(61))
        #expect(ask(&bench, "WhichCar", ["car": "volvo"]) == ["endSession: I asked nothing."])
        #expect(bench.orders.isEmpty)
    }

    @Test func carsThatAreCalledTheSameAreCalledByTheirChargers() {
        var bench = voiceBench(
            house: Self.twoCars().changed { $0.cars?[1].loadpoint.vehicleName = "volvo ex30" })
        #expect(ask(&bench, "Pause") == ["continueSession: Which car: garage or Gatan Norr?"])
        bench.feed(.message(heard("FtwWhichCar", ["car": "norr"])))
        #expect(bench.orders.map(\.loadpoint) == ["Gatan Norr"])
        #expect(bench.confirm(nil).spoken == ["endSession: Gatan Norr: Done: charging is paused."])
    }

    @Test func withoutAConversationNothingCanBeAskedBack() {
        var bench = voiceBench(house: Self.twoCars())
        let sent = bench.feed(.message(heard("FtwChargeNow", session: nil)))
        #expect(sent.spoken == ["say: There are several cars: Volvo EX30 and Blå bilen. Say which one."])
        #expect(bench.orders.isEmpty)
    }

    // MARK: Several homes

    @Test func ofSeveralHomesExactlyOneAnswers() {
        for (home, expected) in [
            (nil, [true, false]), ("Home", [true, false]), ("home", [true, false]), ("cabin", [false, true]),
            ("The Cabin", [false, true]), ("castle", [true, false]),
        ] as [(String?, [Bool])] {
            let first = listening(voice: VoiceSettings(otherHomes: ["cabin", "The Cabin"]))
            var second = settings(site: "cabin", name: "The Cabin")
            second.voice = VoiceSettings(isFirst: false, otherHomes: ["home", "Home"])
            let answered = [first, second].map { settings in
                var bench = voiceBench(settings)
                return !ask(&bench, "CarLevel", home.map { ["home": .string($0)] } ?? [:]).isEmpty
            }
            #expect(answered == expected, "\(home ?? "none")")
        }
    }

    @Test func theHomeThatAskedIsTheOneThatGoesOn() {
        var first = voiceBench(listening(voice: VoiceSettings(otherHomes: ["cabin"])), house: Self.twoCars())
        var settings = settings(site: "cabin", name: "The Cabin")
        settings.voice = VoiceSettings(isFirst: false, otherHomes: ["home", "Home"])
        var second = voiceBench(settings, house: Self.twoCars())
        #expect(ask(&first, "Pause", ["home": "cabin"]).isEmpty)
        #expect(ask(&second, "Pause", ["home": "cabin"]).count == 1)
        #expect(ask(&first, "WhichCar", ["car": "volvo"]).isEmpty)
        #expect(ask(&second, "WhichCar", ["car": "volvo"]).isEmpty)
        #expect(first.orders.isEmpty && second.orders.count == 1)
    }

    @Test func anUnknownHomeIsSaidToBeUnknown() {
        var bench = voiceBench()
        #expect(ask(&bench, "CarLevel", ["home": "castle"]) == ["endSession: I know no home called castle."])
    }
}
