import Ambient
import BoxLink
import EnergyModel
import TestSupport
import Testing

@testable import BoxSession

/// Questions through the whole session, and its life as a task.
@Suite struct BoxSessionRequestTests {
    /// The envelopes sent, once there are some.
    private func questions(_ stage: Stage) async throws -> [Envelope] {
        #expect(await eventually { stage.carrier.sentCount > 0 })
        return try stage.sent().map(\.envelope)
    }

    @Test func aQuestionBecomesAnAnswer() async throws {
        let stage = try Stage()
        let session = stage.session
        try await stage.goLive()
        async let answer = session.request(APIRequest(path: "/api/loadpoints", priority: .person))
        let question = try #require(try await questions(stage).first)
        #expect(question.body?["path"] == "/api/loadpoints")
        try await stage.answer(question.id, body: Array("[]".utf8))
        #expect(try await answer == APIAnswer(status: 200, headers: [:], body: Array("[]".utf8)))
        #expect(await session.counters().requests["GET /api/loadpoints"] == 1)
    }

    @Test func withoutASessionAQuestionFailsAtOnce() async throws {
        let stage = try Stage()
        let session = stage.session
        await #expect(throws: BoxRequestError.notConnected) {
            try await session.request(APIRequest(path: "/api/status"))
        }
    }

    @Test func aLostLinkFailsWhoeverWaits() async throws {
        let stage = try Stage()
        let session = stage.session
        try await stage.goLive()
        async let first: BoxRequestError? = failure { try await session.request(APIRequest(path: "/api/a")) }
        _ = try await questions(stage)
        async let second: BoxRequestError? = failure { try await session.plan() }
        _ = try await questions(stage)
        await session.handle(.gone)
        #expect(await first == .linkLost)
        #expect(await second == .linkLost)
    }

    @Test func aRefusalIsTheBoxsOwn() async throws {
        let stage = try Stage()
        let session = stage.session
        try await stage.goLive()
        async let answer: BoxRequestError? = failure {
            try await session.request(APIRequest(path: "/api/config"))
        }
        let question = try #require(try await questions(stage).first)
        try await stage.say(
            "error", id: question.id,
            ["code": "E_LOCAL_ONLY", "retryable": false, "args": ["path": "/api/config"]])
        #expect(
            await answer
                == .refused(BoxRefusal(code: "E_LOCAL_ONLY", args: ["path": "/api/config"])))
    }

    @Test func trap30BusyIsAskedAgainAfterAQuarterOfASecond() async throws {
        let stage = try Stage()
        let session = stage.session
        try await stage.goLive()
        async let answer = session.request(APIRequest(path: "/api/modes"))
        let question = try #require(try await questions(stage).first)
        try await stage.say(
            "error", id: question.id,
            ["code": "E_UNAVAILABLE", "retryable": true, "args": ["reason": "busy"]])
        #expect(stage.carrier.taken().isEmpty)
        await stage.advance(.milliseconds(250))
        let again = try #require(try await questions(stage).first)
        #expect(again.id != question.id)
        #expect(again.body == question.body)
        try await stage.answer(again.id, body: [])
        #expect(try await answer.body.isEmpty)
    }

    @Test func whoCancelsIsToldAndTheSlotDrains() async throws {
        let stage = try Stage()
        let session = stage.session
        try await stage.goLive()
        let asking = Task { await failure { try await session.request(APIRequest(path: "/api/a")) } }
        let question = try #require(try await questions(stage).first)
        asking.cancel()
        #expect(await asking.value == .cancelled)
        async let next = session.request(APIRequest(path: "/api/b"))
        try await stage.answer(question.id, body: [1])
        let second = try #require(try await questions(stage).first)
        #expect(second.body?["path"] == "/api/b")
        try await stage.answer(second.id, body: [])
        _ = try await next
    }

    @Test func plansAndPricesAreAskedAndRead() async throws {
        let stage = try Stage()
        let session = stage.session
        try await stage.goLive()
        async let plan = session.plan()
        let question = try #require(try await questions(stage).first)
        let body: CBORValue = ["rev": 7, "uptimeMs": 1, "slots": [], "stale": false, "ceilingW": .null]
        try await stage.say("plan", id: question.id, body)
        #expect(try await plan.rev == 7)
        async let prices = session.prices(fromMs: 1_760_000_000_000, toMs: 1_760_003_600_000)
        let second = try #require(try await questions(stage).first)
        #expect(second.body?["fromMs"] == .int(1_760_000_000_000))
        try await stage.say(
            "price", id: second.id,
            [
                "zone": "SE3", "currency": "SEK", "stale": false,
                "slots": [["startMs": 1, "durationMs": 2, "spotMinor": -3, "totalMinor": 4]],
            ])
        #expect(try await prices.slots.first?.spotMinor == -3)
    }

    @Test func trap25APushedPlanIsKeptAndAnswersNobody() async throws {
        let stage = try Stage()
        let session = stage.session
        try await stage.goLive()
        async let plan = session.plan()
        let question = try #require(try await questions(stage).first)
        func body(_ rev: Int64) -> CBORValue {
            ["rev": .int(rev), "uptimeMs": 1, "slots": [], "stale": false, "ceilingW": .null]
        }
        try await stage.say("plan", body(3))
        #expect(await session.newestPlan()?.rev == 3)
        try await stage.say("plan", id: question.id, body(4))
        #expect(try await plan.rev == 4)
        #expect(await session.newestPlan()?.rev == 4)
    }

    @Test func theRolesAreAskedOnceAndAgainForANewSource() async throws {
        let stage = try Stage()
        let session = stage.session
        try await stage.goLive()
        let box = stage.box
        for _ in 0..<20 {
            await stage.advance(.seconds(1))
            try await stage.say("delta", box.delta(sources: box.table()))
        }
        #expect(try stage.sent().isEmpty)
        try await stage.say("delta", box.delta(sources: box.table(["wall": "live"])))
        #expect(try stage.sent().map(\.envelope.body?["path"]) == ["/api/status"])
        // The link breaks with the question open: it is asked again on the next session.
        await session.handle(.gone)
        await session.handle(.ready)
        try await stage.shakeHands()
        _ = stage.carrier.taken()
        try await stage.say("hello_ok", box.helloOK())
        try await stage.say("snap", box.snap(sources: box.table(["wall": "live"])))
        #expect(try stage.sent().map(\.envelope.body?["path"]) == ["/api/status"])
    }

    // MARK: Life as a task

    @Test func itRunsUntilCancelledAndEndsEverything() async throws {
        let stage = try Stage()
        let session = stage.session
        let running = Task { await session.run() }
        stage.carrier.deliver(.joined)
        stage.carrier.deliver(.ready)
        #expect(await eventually { stage.carrier.sentCount == 1 })
        try await stage.shakeHands()
        try await stage.say("hello_ok", stage.box.helloOK())
        try await stage.say("snap", stage.box.snap())
        #expect(await eventually { await session.siteNow().link.state == .live })
        async let asked: BoxRequestError? = failure { try await session.plan() }
        #expect(await eventually { (try? stage.types().contains("plan.get")) == true })
        running.cancel()
        await running.value
        #expect(stage.carrier.hasEnded)
        #expect(await asked == .linkLost)
        var last: SiteState?
        for await state in session.states { last = state }
        #expect(last?.link.state == .live)
        for await _ in session.notes {}
    }

    @Test func theClockAloneWakesIt() async throws {
        let stage = try Stage()
        let session = stage.session
        let running = Task { await session.run() }
        stage.carrier.deliver(.ready)
        #expect(await eventually { stage.carrier.sentCount == 1 && stage.time.sleeperCount > 0 })
        stage.time.advance(by: .seconds(12))
        #expect(await eventually { await session.siteNow().link.reason == .handshakeUnanswered })
        running.cancel()
        await running.value
        #expect(await eventually { stage.time.sleeperCount == 0 })
    }

    @Test func oneTaskSleepsHoweverManyBeatsCome() async throws {
        let stage = try Stage()
        try await stage.goLive()
        for _ in 0..<200 {
            stage.time.advance(by: .seconds(1))
            try await stage.say("tick", stage.box.tick())
        }
        #expect(await eventually { stage.time.sleeperCount == 1 })
    }

    /// The question for roles that broke off with the link is due again, but not without one.
    @Test func withoutASessionNothingWakesItInALoop() async throws {
        let stage = try Stage()
        let session = stage.session
        try await stage.goLive(roles: false)
        await session.handle(.gone)
        stage.time.advance(by: .seconds(600))
        for _ in 0..<5_000 { await Task.yield() }
        #expect(await session.wakeUps < 5)
        #expect(stage.time.sleeperCount <= 1)
    }

    @Test func everyBeatIsPublishedAndAPieceOfADownloadIsNot() async throws {
        let stage = try Stage()
        let session = stage.session
        try await stage.goLive()
        var states = session.states.makeAsyncIterator()
        #expect(await states.next()?.link.state == .live)
        await stage.advance(.seconds(1))
        try await stage.say("tick", stage.box.tick())
        let beat = await states.next()
        #expect(beat?.power?.at == beat?.link.lastFrameAt)
        await stage.advance(.seconds(1))
        try await stage.say("novelty", ["a": 1])
        try await stage.say("tick", stage.box.tick())
        #expect(await states.next()?.power?.at != beat?.power?.at)
    }
}

/// Why a question failed; `nil` when it was answered.
func failure(_ question: @Sendable () async throws -> some Sendable) async -> BoxRequestError? {
    do {
        _ = try await question()
        return nil
    } catch {
        return error as? BoxRequestError
    }
}
