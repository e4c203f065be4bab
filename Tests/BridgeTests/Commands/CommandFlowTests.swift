import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

/// From the message on a command topic to the messages that answer it.
@Suite struct CommandFlowTests {
    func bench(_ settings: BridgeSettings = settings(), disk: [String: JSONValue] = [:]) -> Bench {
        var bench = Bench(settings, disk: disk)
        bench.see(houseWithCars())
        bench.connect()
        return bench
    }

    func ask(_ bench: inout Bench, _ path: String, _ payload: String, answerTo: String? = nil) -> [Message] {
        var message = Message("ftw/home/\(path)", payload)
        message.responseTopic = answerTo
        message.correlationData = answerTo.map { Array($0.utf8) }
        return bench.feed(.message(message))
    }

    @Test func everyStageIsAWholeMessage() {
        var bench = bench()
        var sent = ask(&bench, "car/garage/level/set", #"{"id":"a1","value":"62 %"}"#, answerTo: "me/answers")
        #expect(
            bench.orders == [
                BoxOrder(
                    id: "a1", loadpoint: "garage", intent: .level(.exactly(0.62)),
                    deadline: bench.monotonic + .seconds(30))
            ])
        sent += bench.feed(.progress("a1", .acknowledged))
        sent += bench.feed(.progress("a1", .ended(.applied(.number(0.62)))))
        func text(
            _ stage: String, _ words: String, final: Bool = false, value: String = "null",
            repeated: String = #""repeated":false,"#
        ) -> String {
            #"{"at":"2026-11-30T10:00:00+01:00","box_code":null,"code":null,"final":\#(final),"from":null,"id":"a1","#
                + #"\#(repeated)"requested":"62 %","stage":"\#(stage)","text":"\#(words)","#
                + #""topic":"ftw/home/car/garage/level/set","value":\#(value)}"#
        }
        let stages = [
            text("received", "Received."), text("accepted", "The box has it."),
            text("done", "Done.", final: true, value: "62"),
        ]
        #expect(sent.to("result") == stages.map { Message("ftw/home/result", $0) })
        #expect(
            sent.filter { $0.topic == "me/answers" }
                == stages.map {
                    Message("me/answers", Array($0.utf8), correlationData: Array("me/answers".utf8))
                })
        #expect(
            sent.to("car/garage/last_command") == [
                Message(
                    "ftw/home/car/garage/last_command",
                    text("done", "Done.", final: true, value: "62", repeated: ""), retained: true,
                    expirySeconds: 86_400)
            ])
        // No state topic ever shows the wish.
        #expect(
            sent.allSatisfy {
                $0.topic.hasSuffix("result") || $0.topic.hasSuffix("answers")
                    || $0.topic.hasSuffix("last_command") || $0.topic.contains("/text/")
            })
        #expect(bench.json("bridge/health") != nil)
        #expect(bench.machine.publisher.health.commands == ["done": 1])
    }

    @Test func theLedgerIsSavedBeforeAnythingGoesToTheBox() {
        var bench = bench()
        let actions = bench.machine.handle(
            .message(Message("ftw/home/car/garage/control/set", "pause")), now: bench.now)
        let saved = actions.firstIndex { if case .save("commands", _) = $0 { true } else { false } }
        let sent = actions.firstIndex { if case .perform = $0 { true } else { false } }
        #expect(saved != nil && sent != nil)
        if let saved, let sent { #expect(saved < sent) }
    }

    @Test func twoClientsGetTheirOwnAnswers() {
        var bench = bench()
        var sent = ask(&bench, "car/garage/level/set", #"{"id":"a1","value":60}"#, answerTo: "client/a")
        sent += ask(&bench, "mode/set", #"{"id":"b1","value":"idle"}"#, answerTo: "client/b")
        sent += bench.feed(.progress("b1", .ended(.applied(.text("idle")))))
        sent += bench.feed(.progress("a1", .acknowledged))
        sent += bench.feed(
            .progress("a1", .ended(.refused(.init(kind: .notPluggedIn, boxCode: "E_UNAVAILABLE")))))
        func stages(_ topic: String) -> [String] {
            sent.filter { $0.topic == topic }.compactMap { message in
                (try? JSONValue(parsing: message.payload)).flatMap { said in
                    said["id"]?.stringValue.flatMap { id in said["stage"]?.stringValue.map { "\(id) \($0)" } }
                }
            }
        }
        #expect(stages("client/a") == ["a1 received", "a1 accepted", "a1 refused"])
        #expect(stages("client/b") == ["b1 received", "b1 done"])
        #expect(stages("ftw/home/result").count == 5)
    }

    @Test func aRetainedCommandIsRefusedAndCleared() {
        var bench = bench()
        let topic = "ftw/home/car/garage/control/set"
        let sent = bench.feed(.message(Message(topic, "charge_now", retained: true)))
        #expect(sent.first == Message(topic, [], retained: true))
        #expect(sent.documents("result").map { $0["code"] } == ["retained"])
        #expect(sent.documents("result").first?["final"] == true)
        #expect(bench.orders.isEmpty)
    }

    @Test func textIsInTheConfiguredLanguage() {
        var bench = bench(settings(language: .sv))
        let sent = ask(&bench, "car/garage/level/set", "101")
        #expect(
            sent.documents("result").first?["text"]
                == "Inte gjort: där står \"101\"; en nivå är ett tal från 0 till 100 %, som 62.")
    }

    private func words(_ code: CommandCode, _ language: Language) -> String {
        let documents = SiteDocuments(
            household: HouseholdZone(boxZone: nil, configured: .utc), language: language)
        let report = StageReport(
            id: "a", topic: "t", loadpoint: nil, stage: .refused, code: code, requested: nil, at: morning)
        return documents.result(report, path: nil)["text"]?.stringValue ?? ""
    }

    @Test(arguments: CommandCode.allCases)
    func everyCodeHasASentenceInEachLanguage(code: CommandCode) {
        let texts = Language.allCases.map { words(code, $0) }
        #expect(texts.allSatisfy { $0.hasSuffix(".") && $0.unicodeScalars.count <= 255 })
        #expect(Set(texts).count == Language.allCases.count)
    }

    /// The box's codes become kinds, and each kind a code of the same name with its own words.
    @Test(arguments: BoxRefusalReason.Kind.allCases)
    func everyKindOfRefusalOfABoxIsToldByItsName(kind: BoxRefusalReason.Kind) {
        #expect(CommandCode(kind).rawValue == kind.rawValue)
        let others = BoxRefusalReason.Kind.allCases.filter { $0 != kind }.map { words(CommandCode($0), .en) }
        #expect(!others.contains(words(CommandCode(kind), .en)))
        var bench = bench()
        _ = ask(&bench, "car/garage/control/set", #"{"id":"k","value":"pause"}"#)
        let sent = bench.feed(
            .progress("k", .ended(.refused(.init(kind: kind, boxCode: "E_X", detail: "why")))))
        let result = sent.documents("result").last
        #expect(result?["code"] == .string(kind.rawValue) && result?["box_code"] == "E_X")
        #expect(result?["stage"] == "refused" && result?["final"] == true)
    }

    @Test func aKillBetweenSendAndResultIsSettledByReading() {
        var first = bench()
        _ = ask(&first, "car/garage/control/set", #"{"id":"k","value":"pause"}"#)
        var second = Bench(disk: first.disk, started: morning + 5)
        second.see(houseWithCars())
        second.connect()
        #expect(second.readings.map(\.id) == ["k"])
        #expect(second.orders.isEmpty)
        let sent = second.feed(.wasRead("k", .matches(.text("paused"))))
        #expect(sent.documents("result").map { $0["stage"] } == ["done"])
        let again = ask(&second, "car/garage/control/set", #"{"id":"k","value":"pause"}"#)
        #expect(again.documents("result").map { $0["stage"] } == ["done"])
        #expect(second.orders.isEmpty)
    }

    @Test func whatIsToldAgainSaysSo() {
        var bench = bench()
        let pause = #"{"id":"k","value":"pause"}"#
        _ = ask(&bench, "car/garage/control/set", pause)
        let first = bench.feed(.progress("k", .ended(.applied(.text("paused"))))).documents("result")
        #expect(first.map { $0["repeated"] } == [false])
        // Without a response topic the asker has nowhere else to look.
        let again = ask(&bench, "car/garage/control/set", pause).documents("result")
        #expect(again.map { $0["repeated"] } == [true] && again.first?["at"] == first.first?["at"])
        // With one, nobody else is told.
        let topic = "ftw/home/car/garage/control/set"
        let asked = bench.feed(.message(Message(topic, Array(pause.utf8), responseTopic: "answers/k")))
        #expect(asked.documents("result").isEmpty)
        let answers = asked.filter { $0.topic == "answers/k" }
        #expect(answers.count == 1 && answers.first?.text?.contains(#""repeated":true"#) == true)
        // A topic that cannot be used is none.
        let unusable = bench.feed(.message(Message(topic, Array(pause.utf8), responseTopic: "answers/#")))
        #expect(unusable.documents("result").map { $0["repeated"] } == [true])
        #expect(bench.orders.count == 1)
    }

    /// Whoever asks for an id that is under way hears the rest of it, each at the own place.
    @Test func everybodyWhoAskedForTheSameHearsItsEnd() {
        var bench = bench()
        let pause = #"{"id":"k","value":"pause"}"#
        var sent = ask(&bench, "car/garage/control/set", pause, answerTo: "me/1")
        sent += ask(&bench, "car/garage/control/set", pause, answerTo: "me/2")
        sent += ask(&bench, "car/garage/control/set", pause, answerTo: "me/2")
        sent += ask(&bench, "car/garage/control/set", pause)
        sent += bench.feed(.progress("k", .acknowledged))
        sent += ask(&bench, "car/garage/control/set", pause, answerTo: "me/3")
        sent += bench.feed(.progress("k", .ended(.applied(.text("paused")))))
        func stages(_ topic: String) -> [String] {
            sent.filter { $0.topic == topic }.compactMap { message in
                let document = try? JSONValue(parsing: message.payload)
                return
                    "\(document?["stage"]?.stringValue ?? "-") \(document?["repeated"]?.boolValue ?? false)"
            }
        }
        #expect(stages("me/1") == ["received false", "accepted false", "done false"])
        #expect(stages("me/2") == ["received true", "received true", "accepted true", "done true"])
        #expect(stages("me/3") == ["accepted true", "done true"])
        // Everybody else is told once, and who named no place is answered there.
        #expect(
            stages("ftw/home/result") == [
                "received false", "received true", "accepted false", "done false",
            ])
        #expect(
            sent.filter { $0.topic.hasPrefix("me/") }.allSatisfy {
                $0.correlationData == Array($0.topic.utf8)
            })
        #expect(bench.orders.count == 1 && bench.machine.publisher.health.commands == ["done": 1])
    }

    /// Its first answer would be a lie.
    @Test(arguments: [
        ("car/garage/control/set", #"{"id":"k","value":"charge_now"}"#),
        ("car/garage/level/set", #"{"id":"k","value":60}"#),
        ("mode/set", #"{"id":"k","value":"idle"}"#),
        ("car/garage/control/set", #"{"id":"k","value":"nonsense"}"#),
    ])
    func anotherWishUnderAnIDThatWasUsedIsRefused(path: String, payload: String) {
        for ended in [false, true] {
            var bench = bench()
            let pause = #"{"id":"k","value":"pause"}"#
            _ = ask(&bench, "car/garage/control/set", pause)
            if ended { bench.feed(.progress("k", .ended(.applied(.text("paused"))))) }
            let sent = ask(&bench, path, payload, answerTo: "me/2")
            for result in [sent.documents("result").last, sent.documents("result").first] {
                #expect(result?["stage"] == "refused" && result?["code"] == "bad_payload")
                #expect(result?["repeated"] == false && result?["id"] == "k")
            }
            #expect(sent.filter { $0.topic == "me/2" }.count == 1)
            #expect(sent.to("car/garage/last_command").isEmpty)
            #expect(bench.orders.count == 1)
            // The first keeps its own answer.
            if !ended {
                let end = bench.feed(.progress("k", .ended(.applied(.text("paused")))))
                #expect(end.documents("result").map { $0["stage"] } == ["done"])
            }
            let again = ask(&bench, "car/garage/control/set", pause).documents("result")
            #expect(again.map { $0["stage"] } == ["done"] && again.map { $0["repeated"] } == [true])
        }
    }

    @Test func anEndWhileTheBrokerIsAwayFindsEverybodyWhoAsked() {
        var bench = bench()
        let pause = #"{"id":"k","value":"pause"}"#
        _ = ask(&bench, "car/garage/control/set", pause, answerTo: "me/1")
        for place in 2...40 { _ = ask(&bench, "car/garage/control/set", pause, answerTo: "me/\(place)") }
        bench.feed(.disconnected(BrokerLoss(code: .closed, sentence: "gone")))
        #expect(bench.feed(.progress("k", .ended(.applied(nil)))).isEmpty)
        let topics = bench.connect().filter { $0.topic.hasPrefix("me/") }.map(\.topic)
        #expect(topics == (1...9).map { "me/\($0)" })
        bench.pass(.seconds(10))
        #expect(bench.machine.desk.alsoAsked.isEmpty)
    }

    /// The words say whether the box had it, the code is the same.
    @Test(arguments: [
        (true, "Taken by the box, outcome not known."),
        (false, "The outcome is not known: no answer from the box."),
    ])
    func anUnknownOutcomeHasItsCode(wasAcknowledged: Bool, text: String) {
        var bench = bench()
        _ = ask(&bench, "car/garage/control/set", #"{"id":"k","value":"pause"}"#)
        if wasAcknowledged { bench.feed(.progress("k", .acknowledged)) }
        let result = bench.feed(.progress("k", .ended(.unconfirmed))).documents("result").last
        #expect(result?["stage"] == "unconfirmed" && result?["code"] == "no_answer")
        #expect(result?["text"] == .string(text))
    }

    @Test(arguments: BoxRefusalReason.Missing.allCases)
    func aChangeOfNoGoalSaysWhatToName(missing: BoxRefusalReason.Missing) {
        var texts: Set<String> = []
        for language in Language.allCases {
            var bench = bench(settings(language: language))
            _ = ask(&bench, "car/garage/goal/set", #"{"id":"k","value":80}"#)
            let refusal = BoxRefusalReason(kind: .precondition, missing: missing)
            let result = bench.feed(.progress("k", .ended(.refused(refusal)))).documents("result").last
            #expect(result?["code"] == "precondition")
            texts.insert(result?["text"]?.stringValue ?? "")
        }
        let word = ["goalLevel": "level", "goalTime": "time", "goalDays": "days"]["\(missing)"] ?? "?"
        #expect(texts.count == 2 && texts.contains { $0.contains(word) })
    }

    @Test func anEndThatABrokerOrARunTookAlongIsToldAsARepeat() {
        var first = bench()
        _ = ask(&first, "car/garage/control/set", #"{"id":"k","value":"pause"}"#)
        first.feed(.progress("k", .ended(.applied(nil))))
        var second = Bench(disk: first.disk, started: morning + 2)
        second.see(houseWithCars())
        #expect(second.connect().documents("result").map { $0["repeated"] } == [true])
        first.feed(.disconnected(BrokerLoss(code: .closed, sentence: "gone")))
        #expect(first.connect().documents("result").map { $0["repeated"] } == [true])
    }

    @Test func anEndWhileTheBrokerIsAwayIsToldWhenItIsBack() {
        var bench = bench()
        _ = ask(&bench, "car/garage/control/set", #"{"id":"k","value":"pause"}"#)
        bench.feed(.disconnected(BrokerLoss(code: .closed, sentence: "gone")))
        #expect(bench.feed(.progress("k", .ended(.applied(nil)))).isEmpty)
        let sent = bench.connect()
        #expect(sent.documents("result").map { $0["stage"] } == ["done"])
        #expect(sent.documents("result").map { $0["repeated"] } == [false])
        bench.pass(.seconds(10))
        bench.feed(.disconnected(BrokerLoss(code: .closed, sentence: "gone")))
        #expect(bench.connect().documents("result").isEmpty)
    }

    @Test func theLastCommandOutlivesARestart() {
        var first = bench()
        _ = ask(&first, "car/garage/control/set", "pause")
        first.feed(.progress(first.orders[0].id, .ended(.applied(nil))))
        first.pass(.seconds(10))
        var second = Bench(disk: first.disk, started: morning + 60)
        second.see(houseWithCars())
        second.connect()
        #expect(second.json("car/garage/last_command")?["stage"] == "done")
    }

    @Test func withoutTheBoxACommandEndsInFiveSeconds() {
        var bench = bench()
        bench.see(houseWithCars().changed { $0.link.state = .lost })
        _ = ask(&bench, "car/garage/control/set", "pause")
        let sent = bench.pass(.seconds(6))
        #expect(sent.documents("result").map { $0["code"] } == ["box_unreachable"])
    }

    @Test func whetherTheBoxTakesCommandsIsATopic() {
        var bench = bench()
        #expect(bench.text("car/garage/commands/availability") == "online")
        bench.see(houseWithCars().changed { $0.link.state = .readonly })
        bench.pass(.seconds(1))
        #expect(bench.text("car/garage/commands/availability") == "offline")
    }

    @Test func aForeignValueIsPutBackWithTheWayToCommand() {
        var bench = bench()
        bench.feed(.message(Message("ftw/home/car/garage/level", "80")))
        #expect(bench.log.last?.contains("ftw/home/car/garage/level/set") == true)
        let sent = bench.pass(.seconds(1))
        #expect(sent.to("car/garage/level").count == 1)
    }

    // MARK: Home Assistant

    @Test func theSwitchHasTheDevicesNameAndShowsWhatTheBoxHolds() {
        let bench = bench()
        let device = bench.discovery("ftw_0123456789abcdef_car_garage")
        #expect(device?["device"]?["name"] == "Car charging garage")
        #expect(
            device?["components"]?["switch"] == [
                "platform": "switch", "name": nil, "unique_id": "ftw_0123456789abcdef_car_garage_switch",
                "default_entity_id": "switch.ftw_home_car_garage_switch",
                "state_topic": "ftw/home/car/garage/control",
                "value_template":
                    "{{ 'None' if value == 'unknown' else 'charge_now' if value == 'charge_now' else 'plan' }}",
                "command_topic": "ftw/home/car/garage/control/set", "qos": 1, "message_expiry_interval": 30,
                "payload_on": "charge_now", "payload_off": "plan", "icon": "mdi:ev-station",
                "availability": [
                    ["topic": "ftw/home/bridge/availability"], ["topic": "ftw/home/box/availability"],
                    ["topic": "ftw/home/car/garage/commands/availability"],
                    [
                        "topic": "ftw/home/car/garage/commands",
                        "value_template": "{{ 'online' if value_json.control else 'offline' }}",
                    ],
                    [
                        "topic": "ftw/home/car/garage/state",
                        "value_template":
                            "{{ 'online' if value_json.plugged_in and value_json.live else 'offline' }}",
                    ],
                ],
            ])
    }

    @Test func theReadyTimeHasATopicOfItsOwn() {
        let bench = bench()
        let message = bench.retained[
            "homeassistant/time/ftw_0123456789abcdef_car_garage_goal_time/config"]
        let payload = message.flatMap { try? JSONValue(parsing: $0.payload) }
        #expect(payload?["command_topic"] == "ftw/home/car/garage/goal/set")
        #expect(payload?["device"]?["identifiers"] == ["ftw_0123456789abcdef_car_garage"])
        #expect(payload?["platform"] == nil && payload?["components"] == nil)
        #expect(payload?["command_template"] == #"{"by":"{{ value }}"}"#)
    }

    @Test func aBridgeThatMayOnlyLookAnnouncesNoControl() {
        var settings = settings()
        settings.isReadOnly = true
        let bench = bench(settings)
        let device = bench.discovery("ftw_0123456789abcdef_car_garage")
        for (key, component) in device?["components"]?.objectValue ?? [:] {
            #expect(component["command_topic"] == nil, "\(key)")
        }
        #expect(!bench.retained.keys.contains { $0.hasPrefix("homeassistant/time/") })
        #expect(bench.text("car/garage/commands/availability") == "offline")
    }

    @Test func everyPayloadThatHomeAssistantSendsIsTaken() {
        var bench = bench()
        let device = bench.discovery("ftw_0123456789abcdef_car_garage")
        var asked = 0
        for (_, component) in device?["components"]?.objectValue ?? [:] {
            guard let topic = component["command_topic"]?.stringValue else { continue }
            var payloads = [component["payload_press"], component["payload_on"], component["payload_off"]]
                .compactMap { $0?.stringValue }
            payloads += (component["options"]?.arrayValue ?? []).compactMap(\.stringValue)
            if component["platform"] == "number" {
                let template = component["command_template"]?.stringValue ?? "{{ value }}"
                payloads.append(template.replacing("{{ value }}", with: "62"))
            }
            if component["platform"] == "text" { payloads += ["weekdays", "mon tue", "once"] }
            if component["platform"] == "switch", payloads.isEmpty { payloads = ["ON", "OFF"] }
            #expect(!payloads.isEmpty)
            for payload in payloads {
                asked += 1
                bench.monotonic += .seconds(120)
                let stages = bench.feed(.message(Message(topic, payload))).documents("result")
                #expect(stages.first?["stage"] == "received", "\(topic) \(payload)")
                if let order = bench.orders.last { bench.feed(.progress(order.id, .ended(.applied(nil)))) }
            }
        }
        #expect(asked >= 15)
    }
}
