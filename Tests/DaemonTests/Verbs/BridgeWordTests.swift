import EnergyModel
import JSONText
import MQTTTypes
import Testing

@testable import Daemon

@Suite struct BridgeWordTests {
    private func verdict(_ state: String?, reason: String? = nil, bridge: String = "online") -> (
        code: ExitCode, text: String
    ) {
        var topics = ["ftw/home/bridge/availability": Message("ftw/home/bridge/availability", bridge)]
        if let state {
            let link: JSONValue = [
                "state": .string(state), "sentence": "So it is.",
                "reason": reason.map(JSONValue.string) ?? .null,
            ]
            topics["ftw/home/box/link"] = Message("ftw/home/box/link", link.bytes)
        }
        return BridgeWord(topics: topics, base: "ftw/home", process: 7, site: "home").verdict
    }

    @Test(arguments: Link.State.allCases) func onlyALiveLinkIsWell(state: Link.State) {
        let verdict = verdict(state.rawValue)
        #expect((verdict.code == .done) == [.live, .readonly, .floor].contains(state))
        #expect(verdict.text.hasPrefix("the running bridge (process 7) says: So it is."))
        #expect((verdict.code == .refused) == [.revoked, .unpaired].contains(state))
    }

    @Test(arguments: Link.Reason.allCases) func eachReasonHasARemedy(reason: Link.Reason) {
        let verdict = verdict("lost", reason: reason.rawValue)
        #expect(verdict.code == .unreachable)
        #expect(verdict.text.count > "the running bridge (process 7) says: So it is. ".count)
    }

    @Test func silenceIsNotWell() {
        for silent in [verdict(nil), verdict("live", bridge: "offline"), verdict("never heard of")] {
            #expect(silent.code == .unreachable)
            #expect(silent.text.contains("says nothing of home"))
        }
        let unread = BridgeWord(topics: nil, base: "ftw/home", process: 7, site: "home").verdict
        #expect(unread.code == .unreachable && unread.text.contains("no broker"))
    }
}
