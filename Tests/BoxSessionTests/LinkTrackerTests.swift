import BoxLink
import EnergyModel
import FoundationEssentials
import Testing

@testable import BoxSession

@Suite struct LinkTrackerTests {
    private let wall = Date(timeIntervalSince1970: 1_796_000_000)
    private var tracker: LinkTracker

    init() { tracker = LinkTracker(at: wall) }

    private func expect(
        _ state: Link.State, _ reason: Link.Reason?, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(tracker.link.state == state, sourceLocation: sourceLocation)
        #expect(tracker.link.reason == reason, sourceLocation: sourceLocation)
    }

    @Test mutating func theWayToALiveBox() {
        expect(.connecting, nil)
        tracker.joined(at: wall + 1)
        expect(.waitingForBox, .boxAway)
        tracker.ready(at: wall + 2)
        expect(.waitingForBox, nil)
        #expect(tracker.link.since == wall + 1)
        tracker.live(greeting: "full", at: wall + 3)
        expect(.live, nil)
        #expect(tracker.link.since == wall + 3)
    }

    @Test(arguments: [
        ("full", Link.State.live), ("readonly", Link.State.readonly), ("floor", Link.State.floor),
        ("novelty", Link.State.live),
    ])
    mutating func theGreetingSaysWhatKindOfLive(mode: String, state: Link.State) {
        tracker.live(greeting: mode, at: wall)
        expect(state, nil)
        #expect(tracker.link.isUp)
    }

    static let causes: [(CarrierLoss.Cause, Link.Reason)] = [
        (.unreachable, .relayUnreachable), (.unknownAuthority, .relayUnknownAuthority),
        (.wrongHost, .relayWrongHost), (.tlsFailed, .relayCertificate),
        (.refused(code: 4429), .relayBusy), (.clockWrong, .clockWrong), (.silent, .relayUnreachable),
        (.closed, .relayUnreachable), (.redialled, .silent),
    ]

    @Test(arguments: causes)
    mutating func aLostSocketSaysWhy(cause: CarrierLoss.Cause, reason: Link.Reason) {
        tracker.lost(cause, graceUntil: nil, at: wall)
        expect(.connecting, reason)
        tracker.live(greeting: "full", at: wall)
        tracker.lost(cause, graceUntil: .seconds(9), at: wall)
        expect(.lost, reason)
    }

    /// The relay has done nothing wrong when we try another socket because the box is not heard.
    @Test mutating func aSocketThatWeGaveUpSaysWhatIsKnownOfTheBox() {
        tracker.live(greeting: "full", at: wall)
        tracker.silent(evicted: false, at: wall)
        tracker.unanswered(codeRefused: false, at: wall)
        tracker.lost(.redialled, graceUntil: .seconds(9), at: wall)
        expect(.lost, .handshakeUnanswered)
        tracker.lost(.unreachable, graceUntil: .seconds(9), at: wall)
        expect(.lost, .relayUnreachable)
    }

    @Test mutating func theHourlyRotationIsNotShownUnlessItTakesLong() {
        tracker.live(greeting: "full", at: wall)
        tracker.lost(.rotated, graceUntil: .seconds(3), at: wall)
        expect(.live, nil)
        tracker.joined(at: wall + 1)
        tracker.ready(at: wall + 1)
        expect(.live, nil)
        tracker.timerFired(at: .seconds(2), wall: wall + 2)
        expect(.live, nil)
        tracker.timerFired(at: .seconds(3), wall: wall + 3)
        expect(.lost, .boxAway)
    }

    @Test mutating func aRotationThatIsOverInTimeLeavesNoTrace() {
        tracker.live(greeting: "full", at: wall)
        tracker.lost(.rotated, graceUntil: .seconds(3), at: wall)
        tracker.live(greeting: "full", at: wall + 2)
        tracker.timerFired(at: .seconds(9), wall: wall + 9)
        expect(.live, nil)
        #expect(tracker.link.since == wall)
    }

    @Test mutating func aBoxThatLeavesIsToldAtOnceEvenDuringARotation() {
        tracker.live(greeting: "full", at: wall)
        tracker.lost(.rotated, graceUntil: .seconds(3), at: wall)
        tracker.gone(at: wall + 1)
        expect(.lost, .boxGone)
    }

    @Test mutating func silenceAndItsReasonsStayUntilProvenWrong() {
        tracker.live(greeting: "full", at: wall)
        tracker.silent(evicted: false, at: wall)
        expect(.lost, .silent)
        tracker.ready(at: wall)
        expect(.lost, .silent)
        tracker.silent(evicted: true, at: wall)
        tracker.unanswered(codeRefused: false, at: wall)
        expect(.lost, .evicted)
    }

    @Test mutating func aRefusedCodeIsSaidBeforeAnUnansweredHandshake() {
        tracker.ready(at: wall)
        tracker.unanswered(codeRefused: false, at: wall)
        expect(.waitingForBox, .handshakeUnanswered)
        tracker.unanswered(codeRefused: true, at: wall)
        expect(.waitingForBox, .codeRefused)
        tracker.ready(at: wall)
        expect(.waitingForBox, .codeRefused)
    }

    @Test mutating func bootingTellsHowFar() {
        tracker.booting(percent: 40, at: wall)
        expect(.booting, nil)
        #expect(tracker.link.bootPercent == 40)
        tracker.live(greeting: "full", at: wall)
        #expect(tracker.link.bootPercent == nil)
    }

    @Test mutating func aRemovedClientStaysRemovedWhateverTheSocketDoes() {
        tracker.live(greeting: "full", at: wall)
        tracker.revoked(at: wall)
        tracker.lost(.closed, graceUntil: nil, at: wall)
        tracker.joined(at: wall)
        tracker.ready(at: wall)
        tracker.gone(at: wall)
        tracker.silent(evicted: false, at: wall)
        tracker.unanswered(codeRefused: false, at: wall)
        expect(.revoked, .revoked)
        tracker.live(greeting: "full", at: wall)
        expect(.live, nil)
    }
}
