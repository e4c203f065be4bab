import BoxLink
import Testing

@testable import BoxSession

/// One command from the wire to its end; every event also at the wrong time.
@Suite struct CommandTrackerTests {
    private static func result(_ state: String) throws -> CommandResultMessage {
        try CommandResultMessage(body: ["cmdId": "c", "state": .text(state)])
    }

    private func ended(_ end: CommandTracker.End) -> [CommandTracker.Action] { [.finish(end)] }

    @Test func aReceiptAndAResult() throws {
        var tracker = CommandTracker(sentAt: .seconds(100))
        let applied = try Self.result("applied")
        #expect(tracker.acknowledgementReceived() == [.acknowledged])
        #expect(tracker.acknowledgementReceived().isEmpty)
        #expect(tracker.nextDeadline == .seconds(115))
        #expect(tracker.resultReceived(applied) == ended(.settled(applied)))
        #expect(tracker.hasEnded && tracker.nextDeadline == nil)
    }

    @Test(arguments: ["applied", "superseded", "unconfirmed", "rejected", "expired", "later word"])
    func aResultNeedsNoReceipt(state: String) throws {
        var tracker = CommandTracker(sentAt: .zero)
        let result = try Self.result(state)
        #expect(tracker.resultReceived(result) == ended(.settled(result)))
    }

    @Test func silenceIsRepeatedOnceAndThenNeverArrived() {
        var tracker = CommandTracker(sentAt: .zero)
        #expect(tracker.timerFired(at: .milliseconds(1_999)).isEmpty)
        #expect(tracker.timerFired(at: .seconds(2)) == [.repeatIt])
        #expect(tracker.timerFired(at: .seconds(3)).isEmpty)
        #expect(tracker.nextDeadline == .seconds(5))
        #expect(tracker.timerFired(at: .seconds(5)) == ended(.neverArrived))
    }

    @Test func aReceiptWithoutAResultIsUnconfirmed() {
        var tracker = CommandTracker(sentAt: .zero)
        _ = tracker.acknowledgementReceived()
        #expect(tracker.timerFired(at: .milliseconds(14_999)).isEmpty)
        #expect(tracker.timerFired(at: .seconds(15)) == ended(.unconfirmed))
    }

    @Test func aRefusalWaitsForTheRepetitionsOwnAnswer() throws {
        let rejected = try Self.result("rejected")
        let applied = try Self.result("applied")
        var tracker = CommandTracker(sentAt: .zero)
        _ = tracker.timerFired(at: .seconds(2))
        #expect(tracker.resultReceived(rejected).isEmpty)
        var taken = tracker
        #expect(taken.acknowledgementReceived() == [.acknowledged])
        #expect(taken.resultReceived(applied) == ended(.settled(applied)))
        var again = tracker
        #expect(again.resultReceived(rejected) == ended(.settled(rejected)))
        var alone = tracker
        #expect(alone.timerFired(at: .seconds(5)) == ended(.settled(rejected)))
        #expect(tracker.linkLost() == ended(.linkBroke(acknowledged: false)))
    }

    @Test func aLostLinkSaysWhetherTheBoxHadIt() {
        var sent = CommandTracker(sentAt: .zero)
        #expect(sent.linkLost() == ended(.linkBroke(acknowledged: false)))
        var known = CommandTracker(sentAt: .zero)
        _ = known.acknowledgementReceived()
        #expect(known.linkLost() == ended(.linkBroke(acknowledged: true)))
    }

    @Test func nothingFollowsTheEnd() throws {
        let applied = try Self.result("applied")
        for finish: (inout CommandTracker) -> Void in [
            { _ = $0.linkLost() }, { _ = $0.resultReceived(applied) },
            { _ = $0.timerFired(at: .seconds(60)) },
        ] {
            var tracker = CommandTracker(sentAt: .zero)
            finish(&tracker)
            #expect(tracker.hasEnded)
            #expect(tracker.acknowledgementReceived().isEmpty)
            #expect(tracker.resultReceived(applied).isEmpty)
            #expect(tracker.timerFired(at: .seconds(90)).isEmpty)
            #expect(tracker.linkLost().isEmpty)
        }
    }
}
