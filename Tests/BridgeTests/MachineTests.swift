import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

@Suite struct MachineTests {
    @Test func subscriptionComesFirstAndOnlineLast() {
        var bench = Bench()
        bench.see(house())
        #expect(bench.feed(.connected(BrokerSession(version: .v5))).isEmpty)
        #expect(bench.machine.filters == ["ftw/home/#", "homeassistant/status"])
        let sent = bench.feed(.subscribed(attempt: 1, granted: [true, true]))
        let kinds = sent.map { message in
            message.topic.hasPrefix("homeassistant/")
                ? "discovery" : message.topic == "ftw/home/bridge/availability" ? "birth" : "state"
        }
        let discovery = kinds.filter { $0 == "discovery" }.count
        #expect(discovery == 2)
        #expect(kinds == Array(repeating: "discovery", count: 2) + kinds[2..<(kinds.count - 1)] + ["birth"])
        #expect(Set(kinds[2..<(kinds.count - 1)]) == ["state"])
        #expect(sent.last?.text == "online")
    }

    @Test func anAnswerToAnOlderSubscriptionStartsNothing() {
        var bench = Bench()
        bench.feed(.connected(BrokerSession(version: .v5)))
        bench.feed(.disconnected(BrokerLoss(code: .closed, sentence: "gone")))
        #expect(bench.feed(.subscribed(attempt: 1, granted: [true, true])).isEmpty)
        bench.feed(.connected(BrokerSession(version: .v5)))
        #expect(bench.feed(.subscribed(attempt: 1, granted: [true, true])).isEmpty)
        #expect(!bench.feed(.subscribed(attempt: 2, granted: [true, true])).isEmpty)
    }

    @Test func aRefusedFilterIsAnErrorInHealth() {
        var bench = Bench()
        bench.feed(.connected(BrokerSession(version: .v5)))
        bench.feed(.subscribed(attempt: 1, granted: [false, true]))
        #expect(bench.json("bridge/health")?["refused_filters"] == ["ftw/home/#"])
        #expect(bench.json("bridge/health")?["last_error"]?["code"] == "subscription_refused")
        #expect(bench.log.count == 1)
        #expect(bench.text("bridge/availability") == "online")
    }

    @Test func willBirthAndGoodbyeAreAlike() {
        var bench = Bench()
        let birth = bench.connect().to("bridge/availability")
        let goodbye = bench.feed(.goodbye).to("bridge/availability")
        let will = BridgeService.will(for: settings()).message
        #expect(
            will
                == Message("ftw/home/bridge/availability", "offline", qos: .atLeastOnce, retained: true))
        #expect(goodbye == [will])
        #expect(
            birth == [
                Message(
                    "ftw/home/bridge/availability", "online", qos: .atLeastOnce, retained: true,
                    expirySeconds: 180)
            ])
    }

    @Test func nothingLooksLiveAfterTheGoodbye() {
        var bench = Bench()
        bench.see(house())
        bench.connect()
        bench.feed(.goodbye)
        #expect(bench.text("bridge/availability") == "offline")
        #expect(bench.text("box/availability") == "offline")
        #expect(bench.text("source/pv/availability") == "offline")
        #expect(bench.json("power")?["live"] == false)
        #expect(bench.json("battery")?["live"] == false)
        #expect(bench.json("control")?["in_control"] == .null)
        #expect(bench.see(house()).isEmpty)
        #expect(bench.machine.nextDeadline == nil)
    }

    /// Twenty reconnections, and a broker that forgot everything: the same as a cold start.
    @Test func everyConnectionIsAsGoodAsTheFirst() {
        var bench = Bench()
        bench.see(house())
        bench.connect()
        let first = bench.retained
        for _ in 0..<20 {
            bench.feed(.disconnected(BrokerLoss(code: .closed, sentence: "gone")))
            #expect(bench.see(house()).isEmpty)
            bench.retained = [:]
            bench.connect()
            var now = bench.retained
            // The last loss is news that the first connection could not know.
            now["ftw/home/bridge/health"] = first["ftw/home/bridge/health"]
            #expect(now == first)
        }
    }

    @Test func theirBirthBringsEverythingAgainAfterAWhile() {
        var bench = Bench(chance: 0.25)
        bench.see(house())
        bench.connect()
        let all = bench.retained
        bench.retained = [:]
        #expect(bench.feed(.message(Message("homeassistant/status", "online"))).isEmpty)
        #expect(bench.pass(.milliseconds(1_900)).isEmpty)
        bench.pass(.milliseconds(200))
        #expect(bench.retained.keys.sorted() == all.keys.sorted())
        bench.retained = [:]
        bench.feed(.message(Message("homeassistant/status", "offline")))
        #expect(bench.pass(.seconds(6)).topics.allSatisfy { !$0.hasPrefix("homeassistant") })
    }

    // MARK: Cold start

    @Test func theLastPictureIsShownAtOnceDatedAndNotLive() {
        var before = Bench()
        before.see(house())
        before.connect()
        before.feed(.goodbye)
        var bench = Bench(disk: before.disk, started: morning + 7_200)
        let sent = bench.connect()
        #expect(bench.json("power")?["grid"] == 1_200)
        #expect(bench.json("power")?["live"] == false)
        #expect(bench.json("power")?["at"] == "2026-11-30T10:00:00+01:00")
        #expect(bench.json("battery")?["live"] == false)
        #expect(bench.json("mode")?["key"] == "planner_self")
        #expect(bench.json("mode")?["live"] == false)
        #expect(bench.json("control")?["in_control"] == .null)
        #expect(bench.text("box/availability") == "offline")
        #expect(bench.json("box/link")?["state"] == "connecting")
        for source in ["meter", "pv", "store", "charger"] {
            #expect(bench.text("source/\(source)/availability") == "offline")
        }
        #expect(sent.to("power").allSatisfy { $0.expirySeconds == nil })
        #expect(bench.discovery() != nil)
        bench.see(house(at: morning + 7_260))
        #expect(bench.json("power")?["live"] == true)
        #expect(bench.text("source/pv/availability") == "online")
    }

    @Test func aLinkThatIsUpBeforeItHasValuesShowsNoneAsLive() {
        var before = Bench()
        before.see(house())
        before.feed(.goodbye)
        var bench = Bench(disk: before.disk)
        bench.connect()
        bench.see(SiteState(link: Link(state: .live, since: morning), box: house().box))
        #expect(bench.json("power")?["live"] == false)
        #expect(bench.json("power")?["solar"] == -3_000)
        #expect(bench.json("control")?["in_control"] == .null)
    }

    @Test(arguments: [
        "null", "[]", "{}", #"{"version":2}"#, #"{"version":1,"sources":[{"id":7}],"power":{"at":1e99}}"#,
        #"{"version":1,"mode":3,"battery":{"at":"x"},"box":[],"sources":{}}"#,
    ])
    func aForeignPictureIsNone(text: String) throws {
        let value = try JSONValue(parsing: text)
        var bench = Bench(disk: ["picture": value, "announced": value])
        bench.connect()
        #expect(bench.json("power")?["grid"] == .null)
        #expect(bench.json("power")?["live"] == false)
        bench.see(house())
        #expect(bench.discovery() != nil)
    }

    @Test func thePictureIsSavedSeldom() {
        var bench = Bench()
        bench.connect()
        bench.see(house())
        bench.pass(.seconds(5))
        #expect(bench.disk["picture"] != nil)
        var saves = 0
        for second in 1...3_000 {
            bench.see(house(at: morning + Double(second)))
            bench.disk["picture"] = nil
            bench.pass(.seconds(1))
            saves += bench.disk["picture"] == nil ? 0 : 1
        }
        #expect((9...10).contains(saves))
    }

    // MARK: Sources that come and go

    @Test func aSourceThatVanishesLeavesNothingBehind() {
        var bench = Bench(settings(values: true))
        bench.see(house())
        bench.connect()
        #expect(bench.text("source/pv/name") == "Roof")
        let sent = bench.see(house().changed { $0.sources.remove(at: 1) })
        #expect(bench.retained.keys.filter { $0.hasPrefix("ftw/home/source/pv") }.isEmpty)
        #expect(sent.to("source/pv") == [Message("ftw/home/source/pv", [], retained: true)])
        let components = bench.discovery()?["components"]
        #expect(components?["source_pv"] == ["platform": "binary_sensor"])
        #expect(components?["source_pv_state"] == ["platform": "sensor"])
        bench.see(house())
        #expect(bench.text("source/pv/availability") == "online")
        #expect(bench.discovery()?["components"]?["source_pv"]?["unique_id"] != nil)
    }

    @Test func whatVanishedWhileTheBrokerWasAwayIsClearedLater() {
        var bench = Bench()
        bench.see(house())
        bench.connect()
        bench.feed(.disconnected(BrokerLoss(code: .closed, sentence: "gone")))
        bench.see(house().changed { $0.sources.remove(at: 1) })
        bench.connect()
        #expect(bench.retained["ftw/home/source/pv"] == nil)
        #expect(bench.retained["ftw/home/source/pv/availability"] == nil)
    }

    @Test func oddNamesAllAppearAndAreShownAsTyped() {
        let names = [
            "Laddare, Garage", "Laddare Garage", "Gästplats", "🚗", String(repeating: "x", count: 200),
        ]
        var bench = Bench()
        bench.connect()
        bench.see(
            house().changed { state in
                state.sources = names.map {
                    Source(id: $0, name: $0, state: .live, roles: [.meter], isHealthy: true)
                }
            })
        let topics = bench.retained.keys.filter { $0.hasPrefix("ftw/home/source/") }
        #expect(topics.count == names.count * 2)
        let shown = topics.compactMap {
            bench.json(String($0.dropFirst("ftw/home/".count)))?["name"]?.stringValue
        }
        #expect(shown.sorted() == names.sorted())
        let legal = Set("abcdefghijklmnopqrstuvwxyz0123456789-/")
        #expect(topics.allSatisfy { $0.allSatisfy(legal.contains) })
        let components = bench.discovery()?["components"]?.objectValue ?? [:]
        let entities = components.filter { $0.key.hasPrefix("source_") && !$0.key.hasSuffix("_state") }
        #expect(entities.compactMap { $0.value["name"]?.stringValue }.sorted() == names.sorted())
    }

    // MARK: Faults and health

    @Test func aLossIsTheLastErrorAndHealthIsReportedWithinAMinute() {
        var bench = Bench()
        bench.connect()
        bench.feed(.disconnected(BrokerLoss(code: .badCredentials, sentence: "The password was refused.")))
        bench.connect()
        #expect(
            bench.json("bridge/health")?["last_error"] == [
                "code": "bad_credentials", "sentence": "The password was refused.",
                "at": "2026-11-30T09:00:00+00:00",
            ])
        bench.pass(.seconds(60))
        #expect(!bench.feed(.health(HealthFacts(dropped: 3))).to("bridge/health").isEmpty)
        #expect(bench.feed(.health(HealthFacts(frames: 9, dropped: 3))).to("bridge/health").isEmpty)
    }
}
