import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

/// What a broker keeps, or is told to keep, on our topics.
@Suite struct RetainedCommandTests {
    private let topic = "ftw/home/car/garage/control/set"

    private func bench(_ version: BrokerSession.Version = .v5, echoes: Bool = false, claim: String? = nil)
        -> Bench
    {
        var settings = settings()
        settings.claim = claim
        var bench = Bench(settings)
        bench.echoes = echoes
        bench.see(houseWithCars())
        bench.feed(.connected(BrokerSession(version: version)))
        bench.feed(.subscribed(attempt: 1, granted: [true, true]))
        return bench
    }

    // MARK: Commands

    @Test(arguments: [0.0, 3, 60])
    func aRetainedCommandIsNeverCarriedOutHoweverItCame(seconds: Double) {
        var bench = bench()
        bench.pass(.seconds(seconds))
        for number in 0..<3 {
            let sent = bench.feed(
                .message(Message(topic, #"{"id":"r\#(number)","value":"charge_now"}"#, retained: true)))
            #expect(sent.filter { $0.topic == topic } == [Message(topic, [], retained: true)])
            #expect(sent.documents("result").map { $0["code"] } == ["retained"])
            #expect(sent.documents("result").map { $0["id"] } == [.string("r\(number)")])
        }
        // What clears it comes back, from us or from another client, and means nothing.
        #expect(bench.feed(.message(Message(topic, [], retained: true))).isEmpty)
        #expect(bench.orders.isEmpty)
    }

    @Test func aRequestToTheBridgeItselfIsNoBetter() {
        var bench = bench()
        let topic = "ftw/home/bridge/request/republish"
        let sent = bench.feed(.message(Message(topic, "", retained: false)))
        #expect(sent.documents("result").last?["stage"] == "done")
        let kept = bench.feed(.message(Message(topic, "x", retained: true)))
        #expect(kept.first == Message(topic, [], retained: true))
        #expect(kept.documents("result").map { $0["code"] } == ["retained"])
        #expect(kept.count == 2)
    }

    /// A 3.1.1 broker hides the flag: what comes live is a wish of now, and nothing of it stays.
    @Test func on311WhatComesLiveIsCarriedOutOnceAndTakenAway() {
        var bench = bench(.v311, echoes: true)
        let sent = bench.feed(.message(Message(topic, #"{"id":"a","value":"pause"}"#)))
        #expect(bench.orders.map(\.id) == ["a"])
        #expect(sent.filter { $0.topic == topic } == [Message(topic, [], retained: true)])
        #expect(sent.documents("result").map { $0["stage"] } == ["received"])
        // Kept from before, it is refused there as well.
        let kept = bench.feed(.message(Message(topic, #"{"id":"b","value":"pause"}"#, retained: true)))
        #expect(kept.documents("result").map { $0["code"] } == ["retained"])
        #expect(bench.orders.count == 1)
    }

    @Test func onMQTT5NothingIsClearedThatWasNotKept() {
        var bench = bench()
        let sent = bench.feed(.message(Message(topic, "pause")))
        #expect(sent.filter { $0.topic == topic }.isEmpty)
    }

    // MARK: Their birth

    /// Home Assistant can be told to have its birth kept.
    @Test func aBirthThatIsKeptIsNewsOnlyWhenItComesLive() {
        let birth = Message("homeassistant/status", "online", retained: true)
        var bench = bench()
        bench.feed(.disconnected(BrokerLoss(code: .closed, sentence: "gone")))
        bench.feed(.connected(BrokerSession(version: .v5)))
        bench.feed(.message(birth))
        bench.feed(.subscribed(attempt: 2, granted: [true, true]))
        #expect(bench.pass(.seconds(5)).to("mode").isEmpty)
        bench.feed(.message(birth))
        #expect(bench.pass(.seconds(6)).to("mode").count == 1)
        // The first message of all may be one that was kept, but not so late.
        var other = self.bench()
        other.pass(.seconds(60))
        other.feed(.message(birth))
        #expect(other.pass(.seconds(6)).to("mode").count == 1)
        // A 3.1.1 broker flags only what it had kept.
        var old = self.bench(.v311)
        old.pass(.seconds(60))
        old.feed(.message(birth))
        #expect(old.pass(.seconds(6)).to("mode").isEmpty)
    }

    // MARK: State

    /// Every topic of ours, one after the other, written by somebody who lets the broker keep it.
    @Test(arguments: [false, true])
    func aForeignValueOnEveryStateTopicIsPutBackAndToldOnce(mirrors: Bool) {
        var settings = settings()
        settings.claim = "me"
        settings.mirrorsValues = mirrors
        var bench = Bench(settings)
        bench.see(houseWithCars())
        bench.connect()
        bench.retained["ftw/home/bridge/instance"] = Message("ftw/home/bridge/instance", "me", retained: true)
        bench.pass(.seconds(10))
        let topics = bench.retained.keys.filter { $0.hasPrefix("ftw/home/") }.sorted()
        #expect(topics.count > (mirrors ? 100 : 40))
        for topic in topics {
            for round in 0..<2 {
                let foreign = Message(topic, "foreign \(round)", retained: true)
                bench.retained[topic] = foreign
                bench.feed(.message(foreign))
                bench.pass(.seconds(1))
                #expect(bench.retained[topic]?.text?.hasPrefix("foreign") == false, "\(topic)")
            }
        }
        #expect(bench.retained["ftw/home/bridge/instance"]?.text == "me")
        #expect(bench.log.count == min(topics.count, 200))
        #expect(Set(bench.log).count == bench.log.count)
    }

    @Test(arguments: [
        ("car/garage/control", "Commands go to ftw/home/car/garage/control/set."),
        (
            "car/garage/level",
            "Commands go to ftw/home/car/garage/level/set or ftw/home/car/garage/level/adjust."
        ),
        ("car/garage/goal", "Commands go to ftw/home/car/garage/goal/set."),
        ("mode", "Commands go to ftw/home/mode/set."), ("power", "It takes no commands."),
    ])
    func theLineSaysWhereCommandsGo(path: String, hint: String) {
        var bench = bench()
        bench.pass(.seconds(10))
        bench.feed(.message(Message("ftw/home/\(path)", "charge_now", retained: true)))
        #expect(bench.log.count == 1 && bench.log.first?.hasSuffix(hint) == true)
        #expect(bench.orders.isEmpty)
    }

    /// A second copy that has just started says `offline`, as we did a moment ago.
    @Test func anOldValueOfOursThatSomebodyElseWritesDoesNotStay() {
        var bench = bench()
        bench.pass(.seconds(20))
        bench.see(houseWithCars().changed { $0.link.state = .lost })
        bench.pass(.seconds(1))
        bench.see(houseWithCars())
        bench.pass(.seconds(1))
        #expect(bench.text("box/availability") == "online")
        let foreign = Message("ftw/home/box/availability", "offline", retained: true)
        bench.retained[foreign.topic] = foreign
        bench.feed(.message(foreign))
        bench.pass(.seconds(1))
        #expect(bench.text("box/availability") == "online")
    }

    @Test func whatAnEarlierRunLeftIsReplacedWithoutAWord() {
        var bench = bench()
        let path = "car/garage/control"
        let late = bench.feed(.message(Message("ftw/home/\(path)", "charge_now", retained: true)))
        #expect(late.isEmpty)
        #expect(bench.pass(.seconds(1)).to(path).map(\.text) == ["plan"])
        #expect(bench.log.isEmpty)
        // The same value is not worth a message; and what comes once more is somebody's doing.
        bench.feed(.message(Message("ftw/home/mode", bench.text("mode") ?? "", retained: true)))
        #expect(bench.pass(.seconds(1)).to("mode").isEmpty)
        bench.feed(.message(Message("ftw/home/\(path)", "charge_now", retained: true)))
        #expect(bench.log.count == 1)
    }

    @Test func anIntroductionThatAnEarlierRunLeftIsNoSecondCopy() {
        var bench = bench()
        let old = #"{"instance":"000000000001-00000000"}"#
        let sent = bench.feed(.message(Message("ftw/home/bridge/info", old, retained: true)))
        #expect(bench.machine.phase == .up && bench.log.isEmpty)
        #expect(sent.to("bridge/info").count == 1)
        // Another copy that answers introduces itself again.
        bench.feed(.message(Message("ftw/home/bridge/info", old, retained: true)))
        #expect(bench.machine.phase == .standby)
    }

    @Test func aCopyThatWasStartedLaterIsToldAtOnce() {
        var bench = bench()
        let other = #"{"instance":"ffffffffffff-00000000"}"#
        let sent = bench.feed(.message(Message("ftw/home/bridge/info", other, retained: true)))
        #expect(sent.to("bridge/info").count == 1 && bench.machine.phase == .up)
        #expect(bench.log.first?.contains("it is told to stand by") == true)
    }

    @Test func withoutAClaimTheTopicIsNobodys() {
        var bench = bench()
        bench.pass(.seconds(10))
        bench.feed(.message(Message("ftw/home/bridge/instance", "x", retained: true)))
        #expect(bench.pass(.seconds(2)).to("bridge/instance").isEmpty && bench.log.isEmpty)
    }
}
