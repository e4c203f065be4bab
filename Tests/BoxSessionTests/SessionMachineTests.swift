import BoxLink
import Testing

@testable import BoxSession

@Suite struct SessionMachineTests {
    private let box: FakeBox

    init() throws { box = try FakeBox() }

    private func opened(beat: Beat = .second) -> SessionMachine {
        var machine = SessionMachine(settings: .init(build: "1.0", beat: beat))
        _ = machine.opened(at: .zero)
        return machine
    }

    private func streaming(beat: Beat = .second) -> SessionMachine {
        var machine = opened(beat: beat)
        _ = machine.received(Envelope(type: "hello_ok", body: box.helloOK()), at: .zero)
        _ = machine.received(Envelope(type: "snap", body: box.snap()), at: .zero)
        return machine
    }

    private func sent(_ actions: [SessionMachine.Action]) -> [Envelope] {
        actions.compactMap { if case .send(let envelope) = $0 { envelope } else { nil } }
    }

    // MARK: Greeting and subscription

    @Test func theGreetingFoldsTheSubscriptionIn() throws {
        var machine = SessionMachine(settings: .init(build: "1.0", beat: .second))
        let hello = try #require(sent(machine.opened(at: .zero)).first)
        #expect(hello.type == "hello")
        #expect(hello.id == nil)
        #expect(hello.body?["proto"] == ["min": 0, "max": 1])
        #expect(hello.body?["sub"] == ["bucket": 512, "hz": 1])
    }

    @Test func trap8TheSlowCadenceIsTheDouble() throws {
        var machine = SessionMachine(settings: .init(build: "1.0", beat: .fiveSeconds))
        let hello = try #require(sent(machine.opened(at: .zero)).first)
        let bytes = hello.encoded()
        let slow: [UInt8] = [0xfb, 0x3f, 0xc9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a]
        #expect(bytes.indices.contains { bytes[$0...].starts(with: slow) })
    }

    @Test func trap9TheBucketIs512() {
        #expect(SubMessage(beat: .second).body["bucket"] == .int(512))
    }

    @Test func trap11AFoldedSubscriptionThatWasTakenIsNotRepeated() {
        var machine = opened()
        let actions = machine.received(Envelope(type: "hello_ok", body: box.helloOK()), at: .zero)
        #expect(sent(actions).isEmpty)
        #expect(machine.stage == .subscribed)
    }

    @Test(arguments: [Bool?.none, false])
    func trap11AnOldBoxIsAskedSeparately(subscribed: Bool?) {
        var machine = opened()
        let hello = box.helloOK(subscribed: subscribed)
        let actions = machine.received(Envelope(type: "hello_ok", body: hello), at: .zero)
        #expect(sent(actions).map(\.type) == ["sub"])
        #expect(machine.stage == .subscribed)
    }

    @Test func trap11ACadenceThatChangedMeanwhileIsAskedForOnce() {
        var machine = opened()
        #expect(machine.cadenceWanted(.fiveSeconds, at: .zero) == [])
        let actions = machine.received(Envelope(type: "hello_ok", body: box.helloOK()), at: .zero)
        #expect(sent(actions).map { $0.body?["hz"] } == [.float(0.2)])
        #expect(machine.cadenceWanted(.fiveSeconds, at: .zero) == [])
    }

    @Test func trap10ASecondGreetingAsksForNothing() {
        var machine = streaming()
        let actions = machine.received(Envelope(type: "hello_ok", body: box.helloOK()), at: .zero)
        #expect(sent(actions).isEmpty)
        #expect(machine.stage == .streaming)
    }

    @Test func aFloorBoxIsSubscribedToLikeAnyOther() {
        var machine = opened()
        let hello = box.helloOK(mode: "floor", subscribed: nil, caps: ["status.core"], role: nil)
        #expect(
            sent(machine.received(Envelope(type: "hello_ok", body: hello), at: .zero)).map(\.type) == ["sub"])
    }

    @Test func anUnaskedSnapshotReplacesEverything() {
        var machine = streaming()
        let actions = machine.received(Envelope(type: "snap", body: box.snap(rev: 2)), at: .seconds(1))
        guard case .snapshot(let snap) = actions.first else {
            Issue.record("no snapshot")
            return
        }
        #expect(snap.controlRev == 2)
    }

    // MARK: Booting

    @Test func aBootingBoxIsGreetedEveryFiveSeconds() throws {
        var machine = opened()
        let hello = box.helloOK(
            mode: "booting", subscribed: nil, boot: ["phase": "migrate", "pct": 40, "etaMs": .null])
        var actions = machine.received(Envelope(type: "hello_ok", body: hello), at: .zero)
        #expect(actions.contains(.booting(percent: 40)))
        #expect(sent(actions).isEmpty)
        #expect(machine.timerFired(at: .seconds(4)) == [])
        actions = machine.timerFired(at: .seconds(5))
        #expect(sent(actions).map(\.type) == ["hello"])
        _ = machine.received(Envelope(type: "hello_ok", body: hello), at: .seconds(5))
        actions = machine.timerFired(at: .seconds(10))
        #expect(sent(actions).map(\.type) == ["hello"])
        _ = machine.received(Envelope(type: "hello_ok", body: box.helloOK()), at: .seconds(10))
        #expect(machine.stage == .subscribed)
    }

    @Test func aSubscriptionRefusedWhileBootingIsTriedAgain() {
        var machine = opened()
        _ = machine.received(Envelope(type: "hello_ok", body: box.helloOK(subscribed: nil)), at: .zero)
        let error: CBORValue = ["code": "E_BOOTING", "retryable": true, "args": ["phase": "x", "pct": 12]]
        let actions = machine.received(Envelope(type: "error", body: error), at: .seconds(1))
        #expect(actions.last == .booting(percent: 12))
        #expect(sent(machine.timerFired(at: .seconds(6))).map(\.type) == ["hello"])
    }

    @Test func aBootingBoxThatFallsSilentIsNoticed() {
        var machine = opened()
        let hello = box.helloOK(mode: "booting", subscribed: nil, boot: ["phase": "vacuum", "pct": 1])
        _ = machine.received(Envelope(type: "hello_ok", body: hello), at: .zero)
        for second in [5, 10, 15] { _ = machine.timerFired(at: .seconds(second)) }
        #expect(machine.timerFired(at: .milliseconds(17_500)) == [.silent])
    }

    // MARK: The watchdog

    @Test(arguments: [(Beat.second, 3_500), (Beat.fiveSeconds, 17_500)])
    func trap6ThreeAndAHalfMissedBeatsAreSilence(beat: Beat, silenceMs: Int) {
        var machine = streaming(beat: beat)
        _ = machine.received(Envelope(type: "tick", body: box.tick()), at: .seconds(20))
        #expect(machine.timerFired(at: .seconds(20) + .milliseconds(silenceMs - 1)) == [])
        #expect(machine.timerFired(at: .seconds(20) + .milliseconds(silenceMs)) == [.silent])
        #expect(machine.stage == .closed)
        #expect(machine.nextDeadline == nil)
    }

    @Test func aGreetingWithoutAnAnswerIsSilence() {
        var machine = opened()
        #expect(machine.timerFired(at: .seconds(8)) == [.silent])
    }

    @Test func aStreamThatNeverBeginsIsSilence() {
        var machine = opened()
        _ = machine.received(Envelope(type: "hello_ok", body: box.helloOK()), at: .seconds(1))
        #expect(machine.timerFired(at: .seconds(8)) == [])
        #expect(machine.timerFired(at: .seconds(9)) == [.silent])
    }

    @Test func slowingDownDoesNotLookLikeSilence() {
        var machine = streaming()
        #expect(sent(machine.cadenceWanted(.fiveSeconds, at: .zero)).count == 1)
        #expect(machine.timerFired(at: .seconds(5)) == [])
        #expect(machine.timerFired(at: .seconds(17)) == [])
    }

    // MARK: Ends

    @Test func revocationEndsTheSession() {
        var machine = streaming()
        let actions = machine.received(
            Envelope(type: "session.terminate", body: ["reason": "revoked"]), at: .zero)
        #expect(actions == [.terminated(revoked: true)])
        #expect(machine.received(Envelope(type: "tick", body: box.tick()), at: .zero) == [])
    }

    @Test(arguments: ["epoch_changed", "box_shutdown", "superseded", "novelty"])
    func anyOtherEndIsAReasonToComeBack(reason: String) {
        var machine = streaming()
        let end = Envelope(type: "session.terminate", body: ["reason": .text(reason)])
        #expect(machine.received(end, at: .zero) == [.terminated(revoked: false)])
    }

    @Test func aRevokedGrantIsARevocationWhereverItIsSaid() {
        let error: CBORValue = ["code": "E_GRANT_REVOKED", "retryable": false]
        var machine = streaming()
        let answer = Envelope(type: "error", id: 4, body: error)
        #expect(machine.received(answer, at: .zero) == [.answer(answer), .terminated(revoked: true)])
        machine = streaming()
        let actions = machine.received(Envelope(type: "error", body: error), at: .zero)
        #expect(actions.last == .terminated(revoked: true))
    }

    @Test func anErrorWithoutAnIDSpeaksAboutTheSession() {
        var machine = streaming()
        let error: CBORValue = ["code": "E_NOVELTY", "retryable": false]
        #expect(
            machine.received(Envelope(type: "error", body: error), at: .zero)
                == [.refused(BoxRefusal(code: "E_NOVELTY"))])
        #expect(machine.stage == .streaming)
    }

    // MARK: Restart

    @Test func aLowerUptimeIsAnotherRunOfTheBox() {
        var machine = streaming()
        machine.closed()
        _ = machine.opened(at: .seconds(10))
        box.uptimeMs = 4_000
        let actions = machine.received(Envelope(type: "hello_ok", body: box.helloOK()), at: .seconds(10))
        #expect(actions.first == .restarted)
        let next = machine.received(Envelope(type: "snap", body: box.snap()), at: .seconds(10))
        #expect(!next.contains(.restarted))
    }

    @Test func aSnapshotShowsARestartToo() {
        var machine = streaming()
        machine.closed()
        _ = machine.opened(at: .seconds(10))
        box.uptimeMs = 4_000
        let actions = machine.received(Envelope(type: "snap", body: box.snap()), at: .seconds(10))
        #expect(actions.first == .restarted)
    }

    /// The box was up for 100 s when it was last heard.
    @Test(
        arguments: [
            // Away for ten minutes, and up for nine of them.
            (Duration.seconds(600), Int64(540_000), true),
            (.seconds(600), 599_000, true), (.seconds(600), 689_000, true),
            // The same run, with a greeting that is late by up to ten seconds.
            (.seconds(600), 700_000, false), (.seconds(600), 690_000, false), (.seconds(600), 701_000, false),
            (.seconds(5), 100_000, false),
            // A day with clocks that differ by 500 in a million, and a box that slept for a quarter.
            (.seconds(86_400), 86_456_800, false), (.seconds(86_400), 85_600_000, true),
            // Uptimes that no box has.
            (.seconds(600), .max, false), (.seconds(600), .min, true),
        ] as [(Duration, Int64, Bool)])
    func anUptimeThatLagsBehindOurClockIsAnotherRun(away: Duration, uptimeMs: Int64, isRestart: Bool) {
        var machine = streaming()
        machine.closed()
        _ = machine.opened(at: away)
        box.uptimeMs = uptimeMs
        let actions = machine.received(Envelope(type: "hello_ok", body: box.helloOK()), at: away)
        #expect(actions.contains(.restarted) == isRestart)
    }

    @Test func theNewestUptimeIsTheOneThatCounts() {
        var machine = streaming()
        _ = machine.received(Envelope(type: "tick", body: box.tick()), at: .seconds(1))
        box.uptimeMs -= 5_000
        // Late, and of the same session: what was heard before stands.
        _ = machine.received(Envelope(type: "tick", body: box.tick()), at: .seconds(20))
        machine.closed()
        _ = machine.opened(at: .seconds(30))
        box.uptimeMs = 130_000
        let actions = machine.received(Envelope(type: "hello_ok", body: box.helloOK()), at: .seconds(30))
        #expect(!actions.contains(.restarted))
    }

    @Test func aLateFrameOfTheSameSessionIsNoRestart() {
        var machine = streaming()
        _ = machine.received(Envelope(type: "tick", body: box.tick()), at: .seconds(1))
        box.uptimeMs -= 5_000
        let actions = machine.received(Envelope(type: "snap", body: box.snap()), at: .seconds(1))
        #expect(!actions.contains(.restarted))
    }

    // MARK: What is not known

    @Test func unknownTypesAreIgnored() {
        var machine = streaming()
        #expect(machine.received(Envelope(type: "novelty", body: ["a": 1]), at: .zero) == [])
        #expect(machine.received(Envelope(type: "event", body: ["eventId": "x"]), at: .zero) == [])
    }

    @Test func aBodyThatCannotBeReadIsDroppedAndNothingElse() {
        var machine = streaming()
        #expect(machine.received(Envelope(type: "tick", body: [:]), at: .zero) == [.malformed(type: "tick")])
        #expect(machine.stage == .streaming)
    }

    @Test func trap25APlanWithoutAnIDIsPushedAndOneWithAnIDIsAnAnswer() {
        var machine = streaming()
        let plan: CBORValue = ["rev": 1, "uptimeMs": 1, "slots": [], "stale": false, "ceilingW": .null]
        guard case .planPushed = machine.received(Envelope(type: "plan", body: plan), at: .zero).first else {
            Issue.record("not pushed")
            return
        }
        let answer = Envelope(type: "plan", id: 3, body: plan)
        #expect(machine.received(answer, at: .zero) == [.answer(answer)])
    }

    // MARK: TRUNC

    @Test func trap29ACutBeatIsNoErrorAndOnlyAgesTheTable() {
        var machine = streaming()
        for second in 1...600 {
            let delta = Envelope(type: "delta", body: box.delta(fields: ["2": .int(Int64(second))]))
            let actions = machine.received(delta, isTruncated: true, at: .seconds(second))
            #expect(actions.count == 1)
        }
        #expect(!machine.isTableOld(at: .seconds(600)))
        #expect(machine.isTableOld(at: .seconds(601)))
    }

    @Test func aTableThatIsTooOldIsFetchedByANewSessionButRarely() {
        var machine = streaming()
        var renewals: [Int] = []
        for second in 1...3_600 {
            let delta = Envelope(type: "delta", body: box.delta())
            guard machine.received(delta, isTruncated: true, at: .seconds(second)).contains(.renew) else {
                continue
            }
            renewals.append(second)
            machine.closed()
            _ = machine.opened(at: .seconds(second))
            _ = machine.received(Envelope(type: "hello_ok", body: box.helloOK()), at: .seconds(second))
            _ = machine.received(Envelope(type: "snap", body: box.snap()), at: .seconds(second))
        }
        #expect(renewals == [601, 1_501, 2_401, 3_301])
    }

    @Test func aBeatThatIsNotCutConfirmsTheTable() {
        var machine = streaming()
        _ = machine.received(Envelope(type: "tick", body: box.tick()), at: .seconds(500))
        #expect(!machine.isTableOld(at: .seconds(1_000)))
        let delta = Envelope(type: "delta", body: box.delta(sources: box.table()))
        _ = machine.received(delta, isTruncated: true, at: .seconds(1_000))
        #expect(!machine.isTableOld(at: .seconds(1_600)))
    }

    // MARK: The wrong time

    @Test func aClosedSessionHearsNothing() {
        var machine = SessionMachine(settings: .init(build: "1.0", beat: .second))
        let fresh = machine
        for envelope in [
            Envelope(type: "hello_ok", body: box.helloOK()), Envelope(type: "snap", body: box.snap()),
            Envelope(type: "tick", body: box.tick()), Envelope(type: "delta", body: box.delta()),
            Envelope(type: "session.terminate", body: ["reason": "revoked"]),
        ] {
            #expect(machine.received(envelope, at: .zero) == [])
        }
        #expect(machine.timerFired(at: .seconds(99)) == [])
        #expect(machine.cadenceWanted(.second, at: .zero) == [])
        #expect(machine == fresh)
    }

    @Test func framesBeforeTheGreetingAreTakenForWhatTheyAre() {
        var machine = opened()
        _ = machine.received(Envelope(type: "tick", body: box.tick()), at: .zero)
        _ = machine.received(Envelope(type: "snap", body: box.snap()), at: .zero)
        #expect(machine.stage == .greeting)
        #expect(machine.timerFired(at: .seconds(8)) == [.silent])
    }
}
