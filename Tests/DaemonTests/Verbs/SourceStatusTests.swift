import FoundationEssentials
import MQTTTypes
import Testing

@testable import Daemon

@Suite struct SourceStatusTests {
    /// - Parameter silent: Whose availability says offline.
    private func line(state: String = "live", silent: String? = nil) -> String? {
        var topics = [
            "source/roof": #"{"name":"Roof","state":"\#(state)","last_answered":"2026-11-30T10:00:00+01:00"}"#
        ]
        for name in ["bridge", "box", "source/roof"] {
            topics["\(name)/availability"] = name == silent ? "offline" : "online"
        }
        let messages = topics.map { ("ftw/home/\($0.key)", Message("ftw/home/\($0.key)", $0.value)) }
        let report = StatusReport(
            name: "Home", id: "home", base: "ftw/home",
            topics: Dictionary(uniqueKeysWithValues: messages), now: Date(timeIntervalSince1970: 0))
        let plain = Terminal(isTerminal: false, windowColumns: nil, environment: [:])
        return report.lines(plain).last { $0.contains("source") }
    }

    @Test func aSourceIsLiveWhileEverybodyOnTheWayIs() {
        #expect(line() == "  source      Roof: live")
    }

    @Test(arguments: ["bridge", "box", "source/roof"])
    func aSourceIsNotLiveOnceSomebodyOnTheWayIsSilent(who: String) {
        #expect(line(silent: who) == "  source      Roof: not live, last answered 2026-11-30T10:00:00+01:00")
    }

    @Test func whatTheSourceItselfSaidIsKept() {
        #expect(
            line(state: "stale") == "  source      Roof: stale, last answered 2026-11-30T10:00:00+01:00")
    }
}
