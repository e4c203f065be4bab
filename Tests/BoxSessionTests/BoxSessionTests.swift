import Ambient
import BoxLink
import EnergyModel
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSession

/// The actor over a fake carrier and a clock that moves by hand.
@Suite struct BoxSessionTests {
    @Test func aReadyBoxBecomesALiveHouse() async throws {
        let stage = try Stage()
        try await stage.goLive()
        let site = await stage.site
        #expect(site.link.state == .live)
        #expect(site.box?.zone == "Europe/Stockholm")
        #expect(site.power?.gridW == 1_200)
        #expect(site.power?.houseW == 700)
        #expect(site.mode?.current?.key == "planner_self")
        #expect(site.control.answer == .yes)
        #expect(site.sources.map(\.roles) == [[.charger], [.meter], [.solar], [.battery]])
        #expect(stage.carrier.proven == 1)
    }

    // MARK: The room

    @Test func trap1OtherClientsLeaveNoTraceButANumber() async throws {
        let stage = try Stage()
        try await stage.goLive()
        let before = await stage.site
        let lines = stage.lines.all.count
        for length in [0, 23, 48, 96, 536, 1_048] {
            await stage.session.handle(.message(Array(repeating: 7, count: length)))
        }
        #expect(await stage.site == before)
        #expect(await stage.session.counters().foreign == 6)
        #expect(stage.lines.all.count == lines)
        #expect(try stage.sent().isEmpty)
    }

    @Test func trap2AnotherClientsAnswerOfTheSameLengthIsNotOurs() async throws {
        let stage = try Stage()
        await stage.session.handle(.ready)
        let stranger = try FakeBox()
        var handshake = try InitiatorHandshake(
            prologue: InitiatorHandshake.prologue(boxKey: stranger.keys.publicKey),
            staticKey: X25519KeyPair(), remoteStatic: stranger.keys.publicKey)
        let foreign = try stranger.answer(try handshake.writeMessage1(payload: []))
        #expect(foreign.count == 48)
        await stage.session.handle(.message(foreign))
        #expect(await stage.session.counters().foreign == 1)
        // The handshake goes on as if nothing had come.
        try await stage.greet()
        #expect(await stage.site.link.state == .live)
    }

    @Test func aReplayedFrameIsForeign() async throws {
        let stage = try Stage()
        try await stage.goLive()
        let tick = try stage.box.seal("tick", stage.box.tick())
        await stage.session.handle(.message(tick))
        let site = await stage.site
        await stage.session.handle(.message(tick))
        #expect(await stage.site == site)
        #expect(await stage.session.counters().foreign == 1)
    }

    @Test func trap4AfterGoneTheOldKeysOpenNothing() async throws {
        let stage = try Stage()
        try await stage.goLive()
        let late = try stage.box.seal("tick", stage.box.tick())
        await stage.session.handle(.gone)
        #expect(await stage.site.link.reason == .boxGone)
        await stage.session.handle(.message(late))
        #expect(await stage.session.counters().foreign == 1)
        #expect(stage.carrier.taken().isEmpty)
        await stage.session.handle(.ready)
        try await stage.greet()
        #expect(await stage.site.link.state == .live)
        #expect(await stage.session.counters().reconnects == 1)
    }

    @Test func everythingWeSendHasTheLaneAndSizeOfItsKind() async throws {
        let stage = try Stage()
        await stage.session.handle(.ready)
        try await stage.shakeHands()
        let sizes = stage.carrier.taken().map(\.count)
        #expect(sizes == [536])
        try await stage.say("hello_ok", stage.box.helloOK(subscribed: nil))
        #expect(stage.carrier.taken().map(\.count) == [536])
        try await stage.say("snap", stage.box.snap())
        let question = stage.carrier.taken()
        #expect(question.map(\.count) == [1_048])
        #expect(try question.map { try stage.box.open($0).frame.lane } == [.bulk])
    }

    // MARK: Silence

    @Test func trap6SilenceIsTakenForWhatItIsAtOnceAndHealed() async throws {
        let stage = try Stage()
        try await stage.goLive()
        await stage.advance(.milliseconds(3_499))
        #expect(await stage.site.link.state == .live)
        await stage.advance(.milliseconds(1))
        let site = await stage.site
        #expect(site.link.state == .lost)
        #expect(site.link.reason == .silent)
        #expect(site.control.answer == .unknown)
        #expect(stage.carrier.taken().map(\.count) == [96])
        await stage.advance(.seconds(12))
        #expect(stage.carrier.redials == 1)
        #expect(stage.carrier.taken().isEmpty)
        await stage.session.handle(
            .lost(CarrierLoss(cause: .closed, sentence: "", retryIn: .seconds(1))))
        await stage.session.handle(.joined)
        await stage.session.handle(.ready)
        try await stage.greet()
        #expect(await stage.site.link.state == .live)
        #expect(await stage.session.counters().silences == 1)
    }

    @Test func aQuietStreamAtTheSlowCadenceIsNoSilence() async throws {
        let stage = try Stage(beat: .fiveSeconds)
        try await stage.goLive()
        await stage.advance(.seconds(17))
        #expect(await stage.site.link.state == .live)
        await stage.advance(.milliseconds(500))
        #expect(await stage.site.link.reason == .silent)
    }

    /// Five clients, four places: whoever comes back at once throws out a phone.
    @Test func trap5EvictedAgainAndAgainItStandsBackAndSaysSo() async throws {
        let stage = try Stage()
        try await stage.goLive()
        var handshakes: [Int] = []
        for second in 1...1_200 {
            await stage.advance(.seconds(1))
            // Every session is evicted right after its snapshot, while others' frames go by.
            await stage.session.handle(.message(Array(repeating: 1, count: 536)))
            if let message1 = stage.carrier.taken().last, message1.count == 96 {
                handshakes.append(second)
                await stage.session.handle(.message(try stage.box.answer(message1)))
                try await stage.say("hello_ok", stage.box.helloOK())
                try await stage.say("snap", stage.box.snap())
                _ = stage.carrier.taken()
            }
            if second == 20 { #expect(await stage.site.link.reason == .evicted) }
        }
        #expect(handshakes.count == 6)
        #expect(await stage.site.link.state == .lost)
    }

    // MARK: Pairing and its end

    @Test func theCodeGoesOutOnceAndIsForgotten() async throws {
        let code: [UInt8] = Array(1...16)
        let stage = try Stage(code: code)
        try await stage.goLive()
        #expect(stage.box.payloads == [code])
        var notes = stage.session.notes.makeAsyncIterator()
        #expect(await notes.next() == .paired)
        await stage.session.handle(.gone)
        await stage.session.handle(.ready)
        try await stage.greet()
        #expect(stage.box.payloads == [code, []])
    }

    @Test func aCodeThatMeetsSilenceIsGivenUpWithANote() async throws {
        let stage = try Stage(code: Array(1...16), chance: 0)
        await stage.session.handle(.joined)
        await stage.session.handle(.ready)
        var lengths = stage.carrier.taken().map(\.count)
        for _ in 0..<4 {
            await stage.advance(.seconds(12))
            await stage.session.timerFired()
            lengths += stage.carrier.taken().map(\.count)
        }
        #expect(lengths == [112, 112, 112, 96, 96])
        #expect(await stage.site.link.reason == .codeRefused)
        var notes = stage.session.notes.makeAsyncIterator()
        #expect(await notes.next() == .codeRefused)
        #expect(await stage.session.code == nil)
    }

    @Test func aRemovedClientStopsAndSaysSo() async throws {
        let stage = try Stage()
        try await stage.goLive()
        try await stage.say("session.terminate", ["reason": "revoked"])
        #expect(await stage.site.link.state == .revoked)
        await stage.session.handle(.ready)
        await stage.advance(.seconds(3_599))
        #expect(stage.carrier.taken().isEmpty)
        await stage.advance(.seconds(1))
        #expect(stage.carrier.taken().map(\.count) == [96])
        await stage.advance(.seconds(12))
        await stage.advance(.seconds(600))
        #expect(stage.carrier.taken().isEmpty)
        var notes = stage.session.notes.makeAsyncIterator()
        #expect(await notes.next() == .revoked)
    }

    @Test func noSecretReachesTheLog() async throws {
        let code: [UInt8] = Array(200...215)
        let stage = try Stage(code: code)
        try await stage.goLive()
        try await stage.say("session.terminate", ["reason": "box_shutdown"])
        await stage.advance(.seconds(30))
        let log = stage.lines.all.joined(separator: "\n")
        #expect(log.contains("box link: live"))
        for secret in [code, stage.box.keys.publicKey] {
            let hex = secret.map { String($0, radix: 16) }.joined()
            #expect(!log.contains(hex))
            #expect(!log.contains(secret.map(String.init).joined(separator: ", ")))
        }
    }

    @Test func theLogHasOneLinePerChange() async throws {
        let stage = try Stage()
        try await stage.goLive()
        for _ in 0..<50 {
            await stage.advance(.seconds(1))
            try await stage.say("tick", stage.box.tick())
        }
        #expect(stage.lines.all.filter { $0.contains("live") }.count == 1)
    }

    // MARK: Vintages

    @Test func anOldBoxIsSubscribedToSeparatelyAndCountsAsOwner() async throws {
        let stage = try Stage()
        await stage.session.handle(.ready)
        try await stage.shakeHands()
        _ = stage.carrier.taken()
        try await stage.say(
            "hello_ok", stage.box.helloOK(subscribed: nil, caps: ["status.core"], role: nil))
        #expect(try stage.types() == ["sub"])
        try await stage.say("snap", stage.box.snap())
        let site = await stage.site
        #expect(site.link.state == .live)
        #expect(site.box?.role == nil)
        // Without the passthrough there are no roles, and nothing is asked.
        #expect(try stage.types().isEmpty)
        #expect(site.power?.solarW == -3_000)
    }

    @Test func aViewersLinkIsReadonly() async throws {
        let stage = try Stage()
        await stage.session.handle(.ready)
        try await stage.shakeHands()
        try await stage.say("hello_ok", stage.box.helloOK(mode: "readonly", role: "viewer"))
        try await stage.say("snap", stage.box.snap())
        #expect(await stage.site.link.state == .readonly)
    }

    @Test func aBootingBoxIsShownAndWaitedFor() async throws {
        let stage = try Stage()
        await stage.session.handle(.ready)
        try await stage.shakeHands()
        _ = stage.carrier.taken()
        let boot: CBORValue = ["phase": "migrate", "pct": 70, "etaMs": 4_000]
        try await stage.say("hello_ok", stage.box.helloOK(mode: "booting", subscribed: nil, boot: boot))
        #expect(await stage.site.link.state == .booting)
        #expect(await stage.site.link.bootPercent == 70)
        await stage.advance(.seconds(5))
        #expect(try stage.types() == ["hello"])
        try await stage.say("hello_ok", stage.box.helloOK())
        try await stage.say("snap", stage.box.snap())
        #expect(await stage.site.link.state == .live)
    }

    @Test func aBoxThatRestartedBehindOurBackIsAnotherRun() async throws {
        let stage = try Stage()
        try await stage.goLive()
        await stage.session.handle(.gone)
        stage.box.uptimeMs = 2_000
        await stage.session.handle(.ready)
        try await stage.greet()
        var notes = stage.session.notes.makeAsyncIterator()
        #expect(await notes.next() == .boxRestarted)
        let at = try #require(await stage.site.power?.at)
        #expect(abs(at.timeIntervalSince(stage.time.wall)) < 0.001)
    }

    @Test func aBoxThatRestartedWhileTheLinkWasDownForLongIsAnotherRun() async throws {
        let stage = try Stage()
        try await stage.goLive()
        await stage.session.handle(.gone)
        await stage.advance(.seconds(600))
        // Up for longer than it was when we last heard of it, and yet started meanwhile.
        stage.box.uptimeMs = 300_000
        await stage.session.handle(.ready)
        try await stage.greet()
        // First, for without a restart there is no note to wait for.
        let started = try #require(await stage.session.tracker.boxStartedAt)
        try #require(abs(started.timeIntervalSince(stage.time.wall) + 300) < 0.001)
        var notes = stage.session.notes.makeAsyncIterator()
        #expect(await notes.next() == .boxRestarted)
        let at = try #require(await stage.site.power?.at)
        #expect(abs(at.timeIntervalSince(stage.time.wall)) < 0.001)
    }

    // MARK: Many sources

    @Test func trap29CutBeatsAgeTheAnswerAndARareNewSessionRefreshesIt() async throws {
        let stage = try Stage()
        try await stage.goLive()
        for _ in 0..<600 {
            await stage.advance(.seconds(1))
            try await stage.say("delta", stage.box.delta(), flags: Frame.truncFlag)
        }
        #expect(await stage.site.control.answer == .yes)
        #expect(stage.carrier.taken().isEmpty)
        await stage.advance(.seconds(1))
        try await stage.say("delta", stage.box.delta(), flags: Frame.truncFlag)
        #expect(stage.carrier.sentCount == 1)
        // The change of session is planned and not shown.
        #expect(await stage.site.link.state == .live)
        try await stage.greet()
        #expect(await stage.site.control.answer == .yes)
        #expect(await stage.session.counters().sessions == 2)
    }

    // MARK: The hourly rotation

    @Test func aRotationWithinTheBeatsIsNotSeen() async throws {
        let stage = try Stage()
        try await stage.goLive()
        await stage.session.handle(
            .lost(CarrierLoss(cause: .rotated, sentence: "", retryIn: .seconds(1))))
        #expect(await stage.site.link.state == .live)
        await stage.advance(.seconds(2))
        await stage.session.handle(.joined)
        await stage.session.handle(.ready)
        try await stage.greet()
        #expect(await stage.site.link.state == .live)
        await stage.advance(.seconds(2))
        #expect(await stage.site.link.state == .live)
    }

    @Test func aRotationThatTakesLongerIsSeen() async throws {
        let stage = try Stage()
        try await stage.goLive()
        await stage.session.handle(
            .lost(CarrierLoss(cause: .rotated, sentence: "", retryIn: .seconds(1))))
        await stage.advance(.milliseconds(8_000))
        #expect(await stage.site.link.state == .lost)
    }

    @Test func aSourceComesBackByTimeAlone() async throws {
        let stage = try Stage()
        try await stage.goLive()
        let box = stage.box
        try await stage.say("delta", box.delta(sources: box.table(["roof": "down"])))
        try await stage.say("delta", box.delta(sources: box.table()))
        #expect(await stage.site.power?.solarW == nil)
        for _ in 0..<9 {
            await stage.advance(.seconds(1))
            try await stage.say("tick", box.tick())
        }
        #expect(await stage.site.power?.solarW == nil)
        await stage.advance(.seconds(1))
        #expect(await stage.site.power?.solarW == -3_000)
    }
}
