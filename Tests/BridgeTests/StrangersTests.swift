import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

/// What others send to our topics: requests, mistakes, a second copy.
@Suite struct StrangersTests {
    func bench(_ settings: BridgeSettings = settings(), echoes: Bool = false, started: Date = morning)
        -> Bench
    {
        var bench = Bench(settings, started: started)
        bench.echoes = echoes
        bench.see(house())
        bench.connect()
        return bench
    }

    // MARK: Foreign values

    @Test(arguments: [true, false])
    func aForeignValueIsPutBackWithinASecondAndLoggedOnce(echoes: Bool) {
        var bench = bench(echoes: echoes)
        for round in 0..<5 {
            bench.retained["ftw/home/mode"] = Message("ftw/home/mode", "away \(round)", retained: true)
            bench.feed(.message(Message("ftw/home/mode", "away \(round)")))
            let sent = bench.pass(.seconds(1))
            #expect(sent.to("mode").first?.retained == true)
            #expect(bench.json("mode")?["key"] == "planner_self")
        }
        #expect(
            bench.log == [
                "somebody else wrote to ftw/home/mode, which only this bridge writes; "
                    + "its value is put back. Commands go to ftw/home/mode/set."
            ])
    }

    @Test func whoeverWritesAllTheTimeIsAnsweredTwiceASecondAtMost() {
        var bench = bench()
        var count = 0
        for _ in 0..<100 {
            bench.feed(.message(Message("ftw/home/power", "1")))
            count += bench.pass(.milliseconds(100)).to("power").count
        }
        #expect(count <= 21)
    }

    @Test func ourOwnEchoesAreNotForeign() {
        var bench = bench(echoes: true)
        for second in 0..<100 {
            bench.see(
                house().changed {
                    $0.power?.gridW = Double(second * 500); $0.control.quiet = ["\(second)"]
                })
            bench.pass(.milliseconds(100))
        }
        #expect(bench.log.isEmpty)
        #expect(bench.machine.writeBacks.isEmpty)
    }

    @Test func whatTheBrokerHadKeptIsNotForeign() {
        var bench = Bench()
        bench.feed(.connected(BrokerSession(version: .v5)))
        bench.feed(.message(Message("ftw/home/bridge/availability", "offline", retained: true)))
        bench.feed(.message(Message("ftw/home/power", "{}", retained: true)))
        bench.feed(.subscribed(attempt: 1, granted: [true, true]))
        #expect(bench.pass(.seconds(5)).to("power").isEmpty)
        #expect(bench.log.isEmpty)
    }

    @Test func aClearedTopicIsFilledAgain() {
        var bench = bench()
        bench.feed(.message(Message("ftw/home/bridge/availability", "")))
        #expect(bench.pass(.seconds(1)).to("bridge/availability").map(\.text) == ["online"])
    }

    @Test func aLateWillOfAnOldConnectionDoesNotStay() {
        var bench = bench()
        bench.retained["ftw/home/bridge/availability"] = bench.machine.settings.will.message
        bench.feed(.message(Message("ftw/home/bridge/availability", "offline")))
        bench.pass(.seconds(1))
        #expect(bench.text("bridge/availability") == "online")
    }

    // MARK: Requests

    @Test func aPingIsAnsweredToTheEnd() {
        var bench = bench(echoes: true)
        var request = Message("ftw/home/bridge/request/ping", #"{"id":"a1"}"#)
        request.responseTopic = "answers/a"
        request.correlationData = [1, 2]
        let sent = bench.feed(.message(request))
        let results = sent.documents("result")
        #expect(results.map { $0["stage"] } == ["received", "done"])
        #expect(results.map { $0["final"] } == [false, true])
        #expect(results.allSatisfy { $0["id"] == "a1" })
        #expect(
            results.last == [
                "id": "a1", "from": nil, "topic": "ftw/home/bridge/request/ping", "stage": "done",
                "final": true,
                "code": nil,
                "box_code": nil, "text": "Here.", "requested": [:], "value": "pong",
                "at": "2026-11-30T10:00:00+01:00", "repeated": false,
            ])
        #expect(sent.to("result").allSatisfy { !$0.retained && $0.qos == .atLeastOnce })
        let answers = sent.filter { $0.topic == "answers/a" }
        #expect(answers.count == 2 && answers.allSatisfy { $0.correlationData == [1, 2] })
    }

    @Test func aRequestWithoutAnIDGetsOne() {
        var bench = bench()
        let ids = (0..<3).flatMap { _ in
            bench.feed(.message(Message("ftw/home/bridge/request/ping", ""))).documents("result")
        }.compactMap { $0["id"]?.stringValue }
        #expect(ids.count == 6 && Set(ids).count == 3)
    }

    @Test(arguments: [
        "answers/+", "#", "", "ftw/home/power", "homeassistant/device/x/config", "$SYS/x",
        // Another site's, which would take the answer for a command.
        "ftw/cabin/bridge/request/reload", "ftw/cabin/bridge/request/ping", "ftw/cabin/bridge/request/x/y",
        "ftw/cabin/mode/set", "ftw/cabin/car/garage/control/set", "ftw/cabin/car/garage/level/adjust",
        "ftw/home/bridge/request/reload",
    ])
    func anAnswerGoesOnlyWhereItMay(topic: String) {
        var bench = bench()
        var request = Message("ftw/home/bridge/request/ping", "")
        request.responseTopic = topic
        #expect(Set(bench.feed(.message(request)).topics) == ["ftw/home/result"])
    }

    @Test(arguments: [
        ("ftw", "ftw/a/bridge/request/reload", true), ("ftw", "ftw/a/mode/set", true),
        ("house/ftw", "house/ftw/a/bridge/request/ping", true), ("house/ftw", "house/ftw/a/x/adjust", true),
        ("ftw", "ftw/a/bridge/info", false), ("ftw", "ftw/a/answers", false), ("ftw", "ftw", false),
        ("ftw", "ftw/bridge/request/x", false), ("ftw", "other/a/bridge/request/reload", false),
        ("ftw", "ftwo/a/mode/set", false), ("house/ftw", "house/a/mode/set", false),
    ])
    func whereABridgeOfOursTakesCommands(base: String, topic: String, doesIt: Bool) {
        #expect(TopicTree.takesCommands(base: base, topic: topic) == doesIt)
    }

    @Test func aRetainedRequestIsRefusedAndCleared() {
        var bench = bench(echoes: true)
        let sent = bench.feed(.message(Message("ftw/home/mode/set", "idle", retained: true)))
        #expect(
            sent.filter { $0.topic == "ftw/home/mode/set" }.contains(
                Message("ftw/home/mode/set", [], retained: true)))
        #expect(sent.documents("result").map { $0["code"] } == ["retained"])
        #expect(bench.pass(.seconds(5)).to("result").isEmpty)
    }

    @Test(arguments: ["mode/adjust", "car/garage/power/set", "bridge/request/dance", "nonsense/set"])
    func anUnknownCommandIsSaidToBeUnknown(path: String) {
        var bench = bench()
        let results = bench.feed(.message(Message("ftw/home/\(path)", "1"))).documents("result")
        #expect(results.map { $0["code"] } == ["unknown_command"])
        #expect(results.first?["final"] == true)
    }

    /// The same rules as for a command: what cannot be shown or kept is no id.
    @Test(arguments: [
        #"{"id":"\#(String(repeating: "x", count: 65))"}"#, #"{"id":"a\nb"}"#, #"{"id":""}"#, #"{"id":1.5}"#,
        #"{"id":"a","from":"\#(String(repeating: "x", count: 41))"}"#, #"{"id":"a""#,
        String(repeating: "x", count: 4_097),
    ])
    func aRequestIsHeldToTheRulesOfCommands(payload: String) {
        for name in ["ping", "republish", "reload", "dance"] {
            var bench = bench()
            let results = bench.feed(.message(Message("ftw/home/bridge/request/\(name)", payload)))
                .documents("result")
            #expect(results.map { $0["code"] } == ["bad_payload"])
            #expect(results.first?["stage"] == "refused" && results.first?["final"] == true)
            #expect(results.first?["text"]?.stringValue?.hasPrefix("Not done: ") == true)
            #expect(results.first?["id"]?.stringValue.map { $0.count <= 64 } == true)
        }
    }

    @Test func bytesThatAreNoTextAreRefused() {
        var bench = bench()
        let results = bench.feed(.message(Message("ftw/home/bridge/request/ping", [0xFF, 0x00])))
            .documents("result")
        #expect(results.map { $0["code"] } == ["bad_payload"])
        #expect(results.first?["requested"] == .null)
    }

    @Test func aReloadIsDoneByWhoeverCan() {
        var bench = bench()
        let results = bench.feed(.message(Message("ftw/home/bridge/request/reload", ""))).documents("result")
        #expect(results.map { $0["code"] } == ["unsupported"])
    }

    @Test func republishBringsEverything() {
        var bench = bench()
        let all = bench.retained.keys.sorted()
        bench.retained = [:]
        bench.feed(.message(Message("ftw/home/bridge/request/republish", "")))
        #expect(bench.retained.keys.sorted() == all)
    }

    // MARK: A second copy

    /// Hands what one bridge sends to the other, until nothing more is said.
    func exchange(_ sent: [Message], from first: inout Bench, to second: inout Bench) -> Int {
        var queue = sent.map { ($0, true) }
        var count = 0
        while !queue.isEmpty, count < 500 {
            let (message, isForSecond) = queue.removeFirst()
            count += 1
            var live = message
            live.retained = false
            let answer = isForSecond ? second.feed(.message(live)) : first.feed(.message(live))
            queue += answer.map { ($0, !isForSecond) }
        }
        return count
    }

    @Test func theSecondCopyStandsByAndTakesOverWhenTheFirstLeaves() {
        var first = bench()
        var second = Bench(started: morning + 60)
        second.see(house())
        let count = exchange(second.connect(), from: &second, to: &first)
        #expect(count < 60)
        #expect(second.machine.phase == .standby)
        #expect(first.machine.phase == .up)
        #expect(second.log.filter { $0.contains("was here first") }.count == 1)
        #expect(first.log.filter { $0.contains("told to stand by") }.count == 1)

        // It stays quiet for as long as the first renews its birth.
        for _ in 0..<30 {
            let renewals = first.pass(.seconds(60)).to("bridge/availability")
            #expect(!renewals.isEmpty)
            for message in renewals { second.feed(.message(message)) }
            #expect(second.see(house(at: second.wall)).isEmpty)
            #expect(second.pass(.seconds(60)).isEmpty)
        }
        for message in first.feed(.goodbye) { second.feed(.message(message)) }
        #expect(!second.pass(.seconds(6)).isEmpty)
        #expect(second.machine.phase == .up)
        #expect(second.text("bridge/availability") == "online")
    }

    @Test func theSecondCopyTakesOverWhenTheFirstIsSilent() {
        var first = bench()
        var second = Bench(started: morning + 60)
        _ = exchange(second.connect(), from: &second, to: &first)
        second.pass(.seconds(185))
        #expect(second.machine.phase == .standby)
        second.pass(.seconds(10))
        #expect(second.machine.phase == .up)
    }

    @Test func aSecondCopySaysNoGoodbyeOnOurBehalf() {
        var first = bench()
        var second = Bench(started: morning + 60)
        _ = exchange(second.connect(), from: &second, to: &first)
        #expect(second.feed(.goodbye).isEmpty)
    }

    @Test func whatABrokerKeptOfAnEarlierRunIsNoSecondCopy() {
        var bench = Bench(started: morning + 60)
        bench.feed(.connected(BrokerSession(version: .v5)))
        bench.feed(
            .message(Message("ftw/home/bridge/info", #"{"instance":"000000000000-1"}"#, retained: true)))
        bench.feed(.subscribed(attempt: 1, granted: [true, true]))
        #expect(bench.machine.phase == .up)
    }
}
