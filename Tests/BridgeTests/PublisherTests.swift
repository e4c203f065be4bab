import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

@Suite struct PublisherTests {
    /// What is said of prices, plan and energy while nothing is known.
    private var unknownPrices: [Message] {
        func message(_ path: String, _ text: String, _ qos: QoS = .atLeastOnce) -> Message {
            Message("ftw/home/\(path)", text, qos: qos, retained: true)
        }
        let cheapest = [2, 3, 4].map { hours in
            message(
                "price/cheap/\(hours)h",
                #"{"average":null,"end":null,"hours":\#(hours),"known_hours":null,"prices_until":null,"#
                    + #""running":null,"sentence":"No prices are known.","start":null,"unit":null}"#)
        }
        return [
            message(
                "price/now",
                #"{"area":null,"currency":null,"end":null,"level":null,"next":null,"next_end":null,"#
                    + #""spot":null,"start":null,"total":null,"unit":null}"#),
            message(
                "price/series",
                #"{"area":null,"currency":null,"holes":[],"spot":[],"stale":null,"start":null,"#
                    + #""step_s":null,"tomorrow_known":null,"total":[],"unit":null,"until":null}"#,
                .atMostOnce),
        ] + cheapest + [
            message("price/cheap_now", "null"),
            message(
                "plan/now",
                #"{"action":null,"enabled":null,"planned_at":null,"power":null,"reason":null,"#
                    + #""sentence":null,"stale":null,"until":null}"#),
            message(
                "plan/series",
                #"{"action":[],"battery":[],"car":[],"deadlines":[],"grid":[],"level":[],"#
                    + #""planned_at":null,"solar":[],"stale":null,"start":null,"step_s":null}"#, .atMostOnce),
            message(
                "energy",
                #"{"battery_in":null,"battery_out":null,"car":null,"car_out":null,"counted_until":null,"#
                    + #""day":null,"export":null,"house":null,"import":null,"since":null,"solar":null,"#
                    + #""today_battery_in":null,"today_battery_out":null,"today_car":null,"#
                    + #""today_car_out":null,"today_export":null,"today_house":null,"today_import":null,"#
                    + #""today_solar":null}"#),
        ]
    }

    @Test func statesAreWholeMessages() {
        var bench = Bench()
        bench.see(house())
        let sent = bench.connect().filter { $0.topic.hasPrefix("ftw/") }
        let run = bench.machine.run.instance
        func message(_ path: String, _ text: String, _ qos: QoS = .atLeastOnce, expiry: UInt32? = nil)
            -> Message
        {
            Message("ftw/home/\(path)", text, qos: qos, retained: true, expirySeconds: expiry)
        }
        func source(_ id: String, _ name: String, _ role: String) -> Message {
            message(
                "source/\(id)",
                #"{"at":"2026-11-30T10:00:00+01:00","healthy":true,"id":"\#(id)","#
                    + #""last_answered":"2026-11-30T10:00:00+01:00","name":"\#(name)","roles":["\#(role)"],"#
                    + #""stale_after_s":10,"state":"live"}"#)
        }
        let modes =
            #"[{"key":"idle","label":"Idle","tier":"advanced"},{"key":"planner_self","label":"Self use","#
            + #""tier":"primary"},{"key":"planner_arbitrage","label":"Arbitrage","tier":"primary"}]"#
        let expected =
            [
                message(
                    "bridge/info",
                    #"{"box_build":"2.2.1","box_id":"0123456789abcdef","capabilities":["api.passthrough"],"#
                        + #""instance":"\#(run)","language":"en","mqtt_version":"5.0","role":"owner","site":"home","#
                        + #""site_name":"Home","started":"2026-11-30T10:00:00+01:00","topics_version":1,"#
                        + #""version":"0.1.0","zone":"Europe/Stockholm"}"#),
                message(
                    "bridge/health",
                    #"{"at":"2026-11-30T10:00:00+01:00","box_reconnects":null,"broker_reconnects":null,"#
                        + #""commands":{},"dropped":null,"frames":null,"frames_rejected":null,"last_error":null,"#
                        + #""memory_bytes":null,"oversize":null,"publishes":null,"queue_high_water":null,"#
                        + #""refused_filters":[],"requests":{},"since":"2026-11-30T10:00:00+01:00"}"#,
                    .atMostOnce),
                message(
                    "box/link",
                    #"{"boot_percent":null,"reason":null,"sentence":"Connected to the box.","#
                        + #""since":"2026-11-30T10:00:00+01:00","state":"live"}"#),
                source("meter", "House meter", "meter"), source("pv", "Roof", "solar"),
                source("store", "Cellar battery", "battery"), source("charger", "Garage", "charger"),
                message(
                    "power",
                    #"{"at":"2026-11-30T10:00:00+01:00","battery":800,"car":2300,"grid":1200,"house":700,"#
                        + #""live":true,"solar":-3000}"#,
                    .atMostOnce, expiry: 90),
                message(
                    "battery", #"{"at":"2026-11-30T10:00:00+01:00","level":62.5,"live":true}"#, .atMostOnce,
                    expiry: 3_600),
                message(
                    "control",
                    #"{"answer":"yes","blocked_by":[],"in_control":true,"quiet":[],"#
                        + #""sentence":"FTW is running the house.","since":"2026-11-30T10:00:00+01:00"}"#),
                message(
                    "mode", #"{"catalogue":\#(modes),"key":"planner_self","label":"Self use","live":true}"#),
                message("commands", #"{"mode":true}"#),
            ] + unknownPrices + [
                message("source/meter/availability", "online"), message("source/pv/availability", "online"),
                message("source/store/availability", "online"),
                message("source/charger/availability", "online"),
                message("box/availability", "online"),
                message("bridge/availability", "online", expiry: 180),
            ]
        for (got, want) in zip(sent, expected) {
            #expect(got == want, "\(got.text ?? "") is not \(want.text ?? "")")
        }
        #expect(sent.count == expected.count)
    }

    @Test func unknownIsNullAndNeverZero() {
        var bench = Bench()
        bench.connect()
        bench.see(
            house().changed {
                $0.power = Power(at: morning); $0.battery = nil; $0.mode = nil
            })
        for quantity in ["grid", "solar", "battery", "car", "house"] {
            #expect(bench.json("power")?[quantity] == .null)
        }
        #expect(bench.json("battery") == ["level": nil, "at": nil, "live": true])
        #expect(bench.json("mode") == ["key": nil, "label": nil, "catalogue": [], "live": true])
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300])
    func aNumberThatIsNoneIsUnknown(value: Double) {
        var bench = Bench()
        bench.connect()
        bench.see(
            house().changed {
                $0.power?.gridW = value; $0.battery?.soc = value
            })
        #expect(bench.json("power")?["grid"] == .null)
        #expect(bench.json("battery")?["level"] == .null)
    }

    @Test func aQuietHourCostsAtMostTwoHundredMessages() {
        var bench = Bench()
        bench.see(house())
        bench.connect()
        bench.feed(.health(HealthFacts(memoryBytes: 1, frames: 1)))
        bench.pass(.seconds(60))
        var count = 0
        var byTopic: [String: Int] = [:]
        for second in 1...3_600 {
            var state = house(at: morning + Double(60 + second))
            state.link.since = morning
            var sent = bench.see(state)
            sent += bench.pass(.seconds(1))
            if second % 60 == 0 {
                sent += bench.feed(.health(HealthFacts(memoryBytes: second, frames: second)))
            }
            count += sent.count
            for message in sent { byTopic[message.topic, default: 0] += 1 }
        }
        #expect(count <= 200)
        #expect(
            byTopic == [
                "ftw/home/power": 120, "ftw/home/bridge/availability": 60, "ftw/home/battery": 3,
                "ftw/home/bridge/health": 4,
            ])
    }

    @Test func whatExpiresIsRenewedThreeTimesInItsLife() {
        var bench = Bench()
        bench.see(house())
        bench.connect()
        let sent = bench.pass(.seconds(3_600))
        #expect(sent.to("power").count / 40 >= 3)
        #expect(sent.to("bridge/availability").count / 20 >= 3)
        #expect(sent.to("battery").count >= 3)
        #expect(sent.to("power").allSatisfy { $0.expirySeconds == 90 })
    }

    @Test func whatIsNotLiveIsSentOnceAndStays() {
        var bench = Bench()
        bench.see(house())
        bench.connect()
        let lost = bench.see(
            house().changed {
                $0.link = Link(state: .lost, since: morning, reason: .silent); $0.power = nil
            })
        #expect(lost.documents("power").last?["live"] == false)
        #expect(lost.documents("power").last?["grid"] == 1_200)
        #expect(lost.documents("power").last?["at"] == "2026-11-30T10:00:00+01:00")
        #expect(lost.to("power").allSatisfy { $0.expirySeconds == nil })
        #expect(lost.to("battery").allSatisfy { $0.expirySeconds == nil })
        #expect(bench.text("box/availability") == "offline")
        #expect(bench.text("source/pv/availability") == "offline")
        #expect(bench.json("control")?["in_control"] == .null)
        #expect(bench.pass(.seconds(300)).to("power").isEmpty)
    }

    @Test func onlyThatSourceGoesQuiet() {
        var bench = Bench()
        bench.see(house())
        bench.connect()
        bench.pass(.seconds(20))
        bench.see(house().ill("pv"))
        #expect(bench.text("source/pv/availability") == "offline")
        #expect(bench.json("source/pv")?["state"] == "stale")
        #expect(bench.json("source/pv")?["last_answered"] == "2026-11-30T10:00:00+01:00")
        #expect(bench.json("power")?["solar"] == .null)
        #expect(bench.json("power")?["grid"] == 1_200)
        for other in ["meter", "store", "charger"] {
            #expect(bench.text("source/\(other)/availability") == "online")
        }
        bench.pass(.seconds(600))
        #expect(bench.text("source/pv/availability") == "offline")
        #expect(bench.json("source/pv")?["healthy"] == false)
    }

    @Test func aFlappingDriverShowsItsFaultUntilItIsHealthy() {
        var bench = Bench()
        bench.see(house())
        bench.connect()
        var sent: [Message] = []
        for beat in 0..<60 {
            let state: Source.State = beat % 2 == 0 ? .down : .lagging
            sent += bench.see(house().ill("pv", state))
            sent += bench.pass(.seconds(1))
        }
        #expect(sent.documents("source/pv").compactMap { $0["state"]?.stringValue } == ["down"])
        #expect(sent.to("source/pv/availability").compactMap(\.text) == ["offline"])
        sent = bench.see(house())
        #expect(sent.to("source/pv/availability").compactMap(\.text) == ["online"])
        #expect(sent.documents("source/pv").last?["state"] == "live")
    }

    @Test func aSourceBetweenLiveAndLaggingIsCalm() {
        var bench = Bench()
        bench.see(house())
        bench.connect()
        var sent: [Message] = []
        for beat in 0..<60 {
            sent += bench.see(house().changed { $0.sources[1].state = beat % 2 == 0 ? .lagging : .live })
            sent += bench.pass(.seconds(1))
        }
        #expect(sent.to("source/pv").count <= 6)
        #expect(sent.to("source/pv/availability").isEmpty)
    }

    @Test func controlGetsWorseAtOnceAndBetterLater() {
        var bench = Bench()
        bench.see(house())
        bench.connect()
        let blocked = house().changed {
            $0.control = Control(answer: .no, blockedBy: ["meter"], since: morning)
        }
        var sent = bench.see(blocked)
        #expect(sent.documents("control").last?["in_control"] == false)
        #expect(
            sent.documents("control").last?["sentence"] == "FTW has stopped steering: House meter is silent.")
        sent = bench.see(house()) + bench.pass(.seconds(5))
        #expect(sent.to("control").isEmpty)
        sent = bench.see(blocked) + bench.pass(.seconds(1)) + bench.see(house()) + bench.pass(.seconds(8))
        #expect(sent.to("control").isEmpty)
        #expect(bench.pass(.seconds(2)).documents("control").last?["in_control"] == true)
    }

    @Test(arguments: [
        (Control.Answer.yes, JSONValue.bool(true)), (.partly, .bool(true)), (.no, .bool(false)),
        (.unknown, .null),
    ])
    func controlHasThreeAnswers(answer: Control.Answer, inControl: JSONValue) {
        var bench = Bench()
        bench.connect()
        bench.see(house().changed { $0.control = Control(answer: answer, quiet: ["pv", "store"]) })
        #expect(bench.json("control")?["in_control"] == inControl)
        #expect(bench.json("control")?["answer"] == .string(answer.rawValue))
    }

    @Test func sentencesAreInTheLanguageChosen() {
        var bench = Bench(settings(language: .sv))
        bench.connect()
        bench.see(
            house().changed { $0.control = Control(answer: .partly, quiet: ["pv", "store"], since: morning) })
        #expect(bench.json("control")?["sentence"] == "FTW styr, men hör inte Roof och Cellar battery.")
        #expect(bench.json("box/link")?["sentence"] == "Ansluten till boxen.")
        bench.see(
            SiteState(
                link: Link(state: .lost, since: morning, reason: .boxAway, lastFrameAt: morning + 7_200)))
        #expect(bench.json("control")?["sentence"] == "Inget besked från boxen sedan 12:00.")
        #expect(
            bench.json("box/link")?["sentence"] == "Boxen är inte där. Är den på och ansluten till nätet?")
    }

    @Test func valuesAreMirroredAlone() {
        var bench = Bench(settings(values: true))
        bench.see(house())
        let first = bench.connect()
        #expect(
            first.to("power/grid") == [
                Message("ftw/home/power/grid", "1200", qos: .atMostOnce, retained: true, expirySeconds: 90)
            ])
        #expect(bench.text("battery/level") == "62.5")
        #expect(bench.text("control/in_control") == "true")
        #expect(bench.text("mode/label") == "Self use")
        #expect(bench.text("box/link/reason") == "null")
        #expect(bench.text("mode/catalogue") == nil)
        let sent = bench.see(house().changed { $0.mode?.current = threeModes[2] })
        #expect(sent.topics == ["ftw/home/mode", "ftw/home/mode/key", "ftw/home/mode/label"])
    }

    @Test func batteryLevelIsCalm() {
        var bench = Bench()
        bench.see(house())
        bench.connect()
        var sent: [Message] = []
        for second in 1...60 {
            sent += bench.see(house().changed { $0.battery?.soc = 0.6 + Double(second) / 1_000 })
            sent += bench.pass(.seconds(1))
        }
        #expect(sent.to("battery").count <= 7)
        bench.pass(.seconds(10))
        #expect(bench.json("battery")?["level"] == 66)
    }

    @Test func timesAreInTheHouseholdsZone() {
        var bench = Bench()
        bench.connect()
        bench.see(house().changed { $0.box?.zone = "America/New_York" })
        #expect(bench.json("power")?["at"] == "2026-11-30T04:00:00-05:00")
        #expect(bench.json("bridge/info")?["started"] == "2026-11-30T04:00:00-05:00")
        bench.see(house().changed { $0.box?.zone = "Local" })
        #expect(bench.json("bridge/info")?["zone"] == "UTC")
    }

    @Test func modesWithTheSameLabelAreToldApart() {
        let labels = ModeLabels([
            .init(key: "a", label: "Same", tier: ""), .init(key: "b", label: "Same", tier: ""),
            .init(key: "c", label: "", tier: ""),
        ])
        #expect(labels.all == ["Same (a)", "Same (b)", "c"])
    }
}
