import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

/// From what somebody said to what is said back.
@Suite struct VoiceFlowTests {
    // MARK: Commands

    struct Order: Sendable, CustomTestStringConvertible {
        var intent: String
        var slots: [String: JSONValue] = [:]
        var wish: Intent
        /// What the box reads back.
        var readBack: BoxOutcome.BoxValue?
        var en: String
        var sv: String
        var testDescription: String { "\(intent) \(JSONValue.object(slots).text)" }
    }

    static func goal(_ soc: Double?, _ minute: Int?, days: Int? = nil, recurring: Bool? = nil) -> Intent {
        .goal(.change(soc: soc, minuteOfDay: minute, days: days, isRecurring: recurring))
    }

    /// Today at that time, or tomorrow: 10:00 has struck.
    static func until(_ hour: Double) -> Intent {
        .control(.chargeNow(powerW: nil, until: morning + (hour - 10 + (hour > 10 ? 0 : 24)) * 3_600))
    }

    static let orders = [
        Order(
            intent: "ChargeNow", wish: .control(.chargeNow(powerW: nil, until: nil)),
            readBack: .text("charge_now"), en: "Done: charge now is on.", sv: "Klart: ladda nu är på."),
        Order(
            intent: "ChargeNow", slots: ["hours": 2, "minutes": "30"], wish: until(12.5),
            en: "Done: charge now is on.", sv: "Klart: ladda nu är på."),
        Order(
            intent: "ChargeNow", slots: ["hour": 7], wish: until(7), en: "Done: charge now is on.",
            sv: "Klart: ladda nu är på."),
        Order(
            intent: "Pause", wish: .control(.pause), readBack: .text("paused"),
            en: "Done: charging is paused.", sv: "Klart: laddningen är pausad."),
        Order(
            intent: "BackToPlan", wish: .control(.plan), readBack: .text("plan"),
            en: "Done: the plan decides again.", sv: "Klart: planen bestämmer igen."),
        Order(
            intent: "SetLevel", slots: ["level": "62"], wish: .level(.exactly(0.62)), readBack: .number(0.62),
            en: "Done: the level is 62 percent.", sv: "Klart: nivån är 62 procent."),
        Order(
            intent: "SetLevel", slots: ["level": 62], wish: .level(.exactly(0.62)), readBack: .number(0.62),
            en: "Done: the level is 62 percent.", sv: "Klart: nivån är 62 procent."),
        Order(
            intent: "SetLevel", slots: ["level": "62 percent"], wish: .level(.exactly(0.62)),
            readBack: .number(0.62), en: "Done: the level is 62 percent.", sv: "Klart: nivån är 62 procent."),
        Order(
            intent: "SetGoal", slots: ["level": 80, "hour": 7], wish: goal(0.8, 420),
            readBack: .text("80% 07:00 daily"),
            en: "Done: the goal is 80 percent by 7 am, every day.",
            sv: "Klart: målet är 80 procent till klockan 7, varje dag."),
        Order(
            intent: "SetGoal", slots: ["level": 80, "hour": 5, "minute": 30, "part": "p.m."],
            wish: goal(0.8, 1_050), readBack: .text("80% 17:30 once"),
            en: "Done: the goal is 80 percent by 5:30 pm, this time only.",
            sv: "Klart: målet är 80 procent till klockan 17:30, bara denna gång."),
        Order(
            intent: "SetGoal", slots: ["time": "06:45"], wish: goal(nil, 405),
            readBack: .text("80% 06:45 mon,tue,wed,thu,fri"),
            en: "Done: the goal is 80 percent by 6:45 am, on weekdays.",
            sv: "Klart: målet är 80 procent till klockan 6:45, på vardagar."),
        Order(
            intent: "SetGoal", slots: ["level": 90, "days": "weekends"],
            wish: goal(0.9, nil, days: 96, recurring: true), readBack: .text("90% 07:00 sat,sun"),
            en: "Done: the goal is 90 percent by 7 am, on weekends.",
            sv: "Klart: målet är 90 procent till klockan 7, på helger."),
        Order(
            intent: "SetGoal", slots: ["level": 70], wish: goal(0.7, nil),
            readBack: .text("70% 07:00 mon,wed"),
            en: "Done: the goal is 70 percent by 7 am, on Monday and Wednesday.",
            sv: "Klart: målet är 70 procent till klockan 7, måndag och onsdag."),
    ]

    @Test(arguments: orders, Language.allCases)
    func aCommandIsAnsweredWithItsOutcomeAndNotBefore(order: Order, language: Language) {
        var bench = voiceBench()
        var sent = bench.feed(
            .message(heard("Ftw" + order.intent, order.slots, lang: language == .sv ? "sv_SE" : "en")))
        #expect(bench.orders.map(\.intent) == [order.wish])
        #expect(bench.orders.map(\.loadpoint) == ["garage"])
        sent += bench.feed(.progress(bench.orders[0].id, .acknowledged))
        sent += bench.pass(.seconds(10))
        // Nothing is claimed while it is under way.
        #expect(sent.spoken.isEmpty)
        sent = bench.feed(.progress(bench.orders[0].id, .ended(.applied(order.readBack))))
        #expect(sent.spoken == ["endSession: \(language == .sv ? order.sv : order.en)"])
        #expect(bench.pass(.seconds(60)).spoken.isEmpty)
    }

    @Test func anAnswerIsTheProtocolsMessage() throws {
        var bench = voiceBench()
        var sent = bench.feed(.message(heard("FtwPause")))
        sent += bench.confirm(nil)
        let said = sent.filter { $0.topic.hasPrefix("hermes/") }
        #expect(
            said == [
                Message(
                    "hermes/dialogueManager/endSession",
                    #"{"sessionId":"s-1","siteId":"kitchen","text":"Done: charging is paused."}"#)
            ])
        // Without a conversation it is just said where it was asked.
        sent = bench.feed(.message(heard("FtwBackToPlan", session: nil, lang: "sv-SE"))) + bench.confirm(nil)
        #expect(
            sent.filter { $0.topic.hasPrefix("hermes/") } == [
                Message(
                    "hermes/tts/say",
                    #"{"lang":"sv-SE","siteId":"kitchen","text":"Klart: planen bestämmer igen."}"#)
            ])
    }

    @Test func itGoesTheWayOfEveryCommand() throws {
        var bench = voiceBench()
        let sent = bench.feed(.message(heard("FtwSetLevel", ["level": 62]))) + bench.confirm(.number(0.62))
        let stages = sent.documents("result")
        #expect(stages.map { $0["stage"]?.stringValue } == ["received", "accepted", "done"])
        #expect(stages.allSatisfy { $0["topic"] == "ftw/home/car/garage/level/set" })
        #expect(bench.orders[0].deadline == bench.monotonic + .seconds(30))
        #expect(bench.json("car/garage/last_command")?["stage"] == "done")
        #expect(bench.disk["commands"]?.text.contains(bench.orders[0].id) == true)
    }

    @Test func whatIsDeliveredTwiceIsDoneOnceAndAnsweredTheSame() {
        var bench = voiceBench()
        let message = heard("FtwChargeNow")
        var sent = bench.feed(.message(message)) + bench.feed(.message(message))
        #expect(bench.orders.count == 1)
        sent += bench.confirm(nil)
        #expect(sent.spoken == ["endSession: Done: charge now is on."])
        #expect(bench.feed(.message(message)).spoken == ["endSession: Done: charge now is on."])
        #expect(bench.orders.count == 1)
        // Another conversation, another command.
        bench.feed(.message(heard("FtwChargeNow", session: "s-2")))
        #expect(bench.orders.count == 2)
    }

    @Test(arguments: [
        (BoxOutcome.refused(BoxRefusalReason(kind: .notPluggedIn)), "Not done: plug the car in first."),
        (.refused(BoxRefusalReason(kind: .dispatchBlocked)), "Not done: the house meter is silent."),
        (.expired, "Not done: the request was too old."),
        (.unconfirmed, "The outcome is not known: no answer from the box."),
        (.overtaken(.number(0.7)), "The box kept another value: 70 percent."),
    ])
    func everyOtherEndIsToldAsItIs(outcome: BoxOutcome, text: String) {
        var bench = voiceBench()
        bench.feed(.message(heard("FtwSetLevel", ["level": 62])))
        let sent = bench.feed(.progress(bench.orders[0].id, .ended(outcome)))
        #expect(sent.spoken == ["endSession: \(text)"])
    }

    @Test func whatTheBoxHadAndSaidNoMoreOfIsToldSo() {
        var bench = voiceBench()
        bench.feed(.message(heard("FtwSetLevel", ["level": 62])))
        bench.feed(.progress(bench.orders[0].id, .acknowledged))
        let sent = bench.feed(.progress(bench.orders[0].id, .ended(.unconfirmed)))
        #expect(sent.spoken == ["endSession: Taken by the box, outcome not known."])
    }

    @Test func whatDoesNotEndInTimeIsNotConfirmed() {
        var bench = voiceBench()
        var sent = bench.feed(.message(heard("FtwChargeNow")))
        sent += bench.feed(.progress(bench.orders[0].id, .acknowledged))
        sent += bench.pass(.milliseconds(19_900))
        #expect(sent.spoken.isEmpty)
        let late = "endSession: Not confirmed: the box has not said what became of it."
        #expect(bench.pass(.milliseconds(200)).spoken == [late])
        // The end itself stands on `result`; nobody listens any more.
        sent = bench.feed(.progress(bench.orders[0].id, .ended(.applied(nil))))
        #expect(sent.spoken.isEmpty && sent.documents("result").count == 1)
    }

    @Test func withoutTheBoxItIsNotDelivered() {
        var bench = voiceBench()
        bench.see(
            houseWithOneCar().changed { $0.link = Link(state: .lost, since: morning, reason: .boxAway) })
        #expect(bench.feed(.message(heard("FtwPause", lang: "sv"))).spoken.isEmpty)
        #expect(
            bench.pass(.seconds(6)).spoken == ["endSession: Nådde inte fram: boxen kan inte nås."])
        #expect(bench.orders.isEmpty)
    }

    @Test func limitsHoldForTheVoiceToo() {
        var settings = listening()
        settings.isReadOnly = true
        var bench = voiceBench(settings)
        #expect(
            bench.feed(.message(heard("FtwPause"))).spoken == [
                "endSession: Not done: this bridge may only look."
            ])
        settings = listening()
        settings.commands = [.level]
        bench = voiceBench(settings)
        #expect(
            bench.feed(.message(heard("FtwPause", lang: "sv"))).spoken
                == ["endSession: Inte gjort: commands.allow i konfigurationen nämner inte control."])
        bench = voiceBench()
        for (level, text) in [("120", "120"), ("0.5", "0.5"), ("-3", "-3")] {
            let said = bench.feed(.message(heard("FtwSetLevel", ["level": .string(level)], session: level)))
                .spoken
            #expect(
                said.count == 1 && said[0].hasPrefix("endSession: Not done: found \"\(text)\";"), "\(said)")
        }
        #expect(bench.orders.isEmpty)
        for number in 1...12 {
            bench.feed(.message(heard("FtwPause", session: "p\(number)"))); bench.confirm(nil)
        }
        #expect(bench.orders.count == 10)
    }

    @Test func aBrokerThatLeavesMidwayHearsTheEndWhenItIsBack() {
        var bench = voiceBench()
        bench.feed(.message(heard("FtwPause")))
        bench.feed(.disconnected(BrokerLoss(code: .closed, sentence: "gone")))
        #expect(bench.confirm(nil).isEmpty)
        #expect(bench.connect().spoken == ["endSession: Done: charging is paused."])
        // Later than anybody waits, nothing is said to a conversation that is over.
        bench.feed(.message(heard("FtwChargeNow")))
        bench.feed(.disconnected(BrokerLoss(code: .closed, sentence: "gone")))
        bench.pass(.seconds(25))
        #expect(bench.confirm(nil).isEmpty && bench.connect().spoken.isEmpty)
    }

    // MARK: Who is meant

    @Test func nothingIsHeardUnlessItIsSwitchedOn() {
        var bench = voiceBench(settings())
        #expect(bench.machine.filters == ["ftw/home/#", "homeassistant/status"])
        #expect(bench.feed(.message(heard("FtwPause"))).isEmpty && bench.orders.isEmpty)
        bench = voiceBench()
        #expect(bench.machine.filters == ["ftw/home/#", "homeassistant/status", "hermes/intent/#"])
    }

    @Test func aRetainedIntentIsNeverActedOn() {
        var bench = voiceBench()
        for intent in VoiceIntent.allCases {
            var message = heard("Ftw" + intent.rawValue, ["level": 80, "hour": 7])
            message.retained = true
            #expect(bench.feed(.message(message)).isEmpty)
        }
        #expect(bench.orders.isEmpty)
    }

    @Test(arguments: [
        "Pause", "ChargeNow", "FtwMakeCoffee", "ftwPause", "Ftw", "FtwPause2", "XFtwPause", "GetTime",
        "FtwPause/more", "anna:Pause", "",
    ])
    func otherSkillsAreLeftAlone(name: String) {
        var bench = voiceBench()
        #expect(bench.feed(.message(heard(name))).isEmpty && bench.orders.isEmpty && bench.log.isEmpty)
    }

    @Test func thePrefixIsTheHouseholdsChoice() {
        var bench = voiceBench(listening(voice: VoiceSettings(prefix: "Bil_")))
        #expect(bench.feed(.message(heard("FtwPause"))).isEmpty)
        bench.feed(.message(heard("Bil_Pause")))
        bench.feed(.message(heard("anna:Bil_Pause", session: "s-2")))
        #expect(bench.orders.map(\.intent) == [.control(.pause)])
        bench.confirm(nil)
        #expect(bench.orders.count == 2)
    }

    @Test func aStandbyCopySaysNothing() {
        var bench = voiceBench()
        bench.feed(.message(Message("ftw/home/bridge/info", #"{"instance":"000000000000-00000000"}"#)))
        #expect(bench.machine.phase == .standby)
        #expect(bench.feed(.message(heard("FtwCarLevel"))).isEmpty)
    }

    @Test func noAnswerOfOursCanPassForSomethingSaid() {
        var bench = voiceBench()
        var message = Message("ftw/home/car/garage/control/set", "pause")
        message.responseTopic = "hermes/intent/FtwChargeNow"
        let sent = bench.feed(.message(message))
        #expect(!sent.isEmpty && sent.allSatisfy { !$0.topic.hasPrefix("hermes/") })
    }
}
