import BoxSimulator
import EnergyModel
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSession
@testable import BoxSimulator

/// What may come back when a goal is written, and what that means.
@Suite(.serialized) struct GoalAnswerTests {
    private let schedule = "/api/loadpoints/garage/schedule"

    private func writes(_ stage: HouseStage) async -> [BoxLog.Request] {
        await stage.box.requestLog.requests.filter { $0.method == "PUT" }
    }

    // MARK: Consent

    @Test func withTheOwnersConsentTheBoxIsToldOfIt() async throws {
        var plan = HouseStage.Plan()
        plan.zoneName = "Europe/Stockholm"
        plan.consent = true
        try await HouseStage.run(plan) { stage in
            await stage.box.setStepUp(true)
            let outcome = await stage.outcome(GoalOrderTests.goal)
            #expect(outcome == .applied(.text("80% 05:10 mon,tue,wed,thu,fri")))
            // First without a claim, which only a box that asks for one gets.
            #expect(await writes(stage).map(\.refusal) == ["E_NEEDS_STEP_UP", nil])
        }
    }

    @Test func aBoxThatDoesNotAskIsNotTold() async throws {
        var plan = HouseStage.Plan()
        plan.vintage = .late
        plan.consent = true
        try await HouseStage.run(plan) { stage in
            guard case .applied = await stage.outcome(GoalOrderTests.goal) else {
                Issue.record("not applied")
                return
            }
            #expect(await writes(stage).count == 1)
            // No window was opened: what needs a confirmation still needs it.
            await stage.box.setStepUp(true)
            _ = await stage.outcome(.goal(.clear))
            #expect(await writes(stage).map(\.refusal) == [nil, "E_NEEDS_STEP_UP", nil])
        }
    }

    // MARK: The write

    @Test(arguments: [
        (400, BoxRefusalReason.Kind.outOfRange), (403, .notAllowed), (404, .noCharger), (409, .conflict),
        (428, .precondition), (500, .unavailable), (503, .starting),
    ])
    func anErrorOfTheWriteIsARefusal(status: Int, kind: BoxRefusalReason.Kind) async throws {
        var plan = HouseStage.Plan()
        plan.vintage = .late
        try await HouseStage.run(plan) { stage in
            await stage.box.setFault(.status(status), path: schedule)
            guard case .refused(let reason) = await stage.outcome(GoalOrderTests.goal) else {
                Issue.record("not refused")
                return
            }
            #expect(reason.kind == kind && reason.boxCode == nil)
            #expect(reason.detail == "HTTP \(status): broken on purpose")
            // Nothing is written twice.
            #expect(await writes(stage).count == 1)
        }
    }

    @Test(arguments: [AnswerFault.garbled, .truncated, .foreign])
    func anUnreadableReceiptIsSettledByReading(fault: AnswerFault) async throws {
        var plan = HouseStage.Plan()
        plan.vintage = .late
        plan.zoneName = "Europe/Stockholm"
        try await HouseStage.run(plan) { stage in
            await stage.box.setFault(fault, path: schedule)
            let told = await stage.carryOut(stage.order(GoalOrderTests.goal))
            #expect(told == [.acknowledged, .ended(.applied(.text("80% 05:10 mon,tue,wed,thu,fri")))])
            #expect(await writes(stage).count == 1)
        }
    }

    @Test func noHandlerIsARefusal() async throws {
        var plan = HouseStage.Plan()
        plan.vintage = .late
        try await HouseStage.run(plan) { stage in
            await stage.box.setFault(.refused, path: schedule)
            guard case .refused(let reason) = await stage.outcome(GoalOrderTests.goal) else {
                Issue.record("not refused")
                return
            }
            #expect(reason.kind == .unavailable && reason.boxCode == "E_UNAVAILABLE")
        }
    }

    // MARK: The fresh read before it

    @Test(arguments: [
        (AnswerFault.status(400), BoxRefusalReason.Kind.outOfRange), (.status(403), .notAllowed),
        (.status(404), .noCharger), (.status(409), .conflict), (.status(428), .precondition),
        (.status(500), .unavailable), (.garbled, .unavailable), (.truncated, .unavailable),
        (.foreign, .unavailable), (.refused, .unavailable),
    ])
    func withoutAFreshReadNothingIsWritten(fault: AnswerFault, kind: BoxRefusalReason.Kind) async throws {
        var plan = HouseStage.Plan()
        plan.vintage = .late
        try await HouseStage.run(plan) { stage in
            await stage.box.setFault(fault, path: HouseStage.chargers)
            guard case .refused(let reason) = await stage.outcome(GoalOrderTests.goal) else {
                Issue.record("not refused")
                return
            }
            #expect(reason.kind == kind)
            #expect(await writes(stage).isEmpty)
        }
    }

    // MARK: The read after it

    @Test func whatTheBoxHoldsInsteadIsTold() async throws {
        var plan = HouseStage.Plan()
        plan.vintage = .late
        plan.zoneName = "Europe/Stockholm"
        try await HouseStage.run(plan) { stage in
            await stage.box.setAnswerDelay(beats: 1)
            let stream = await stage.session.perform(stage.order(GoalOrderTests.goal))
            // The app writes another goal before ours is read back.
            #expect(await stage.passUntil(10) { await !writes(stage).isEmpty })
            stage.house.now { $0.chargers[0].schedule.soc = 0.5 }
            #expect(await stage.passUntil(20) { await stage.session.orders.running == 0 })
            let told = await stream.reduce(into: [BoxProgress]()) { $0.append($1) }
            #expect(told == [.acknowledged, .ended(.overtaken(.text("50% 05:10 mon,tue,wed,thu,fri")))])
        }
    }

    @Test func aGoalThatCannotBeReadBackIsUnconfirmed() async throws {
        var plan = HouseStage.Plan()
        plan.vintage = .late
        try await HouseStage.run(plan) { stage in
            await stage.box.setAnswerDelay(beats: 1)
            let stream = await stage.session.perform(stage.order(GoalOrderTests.goal))
            #expect(await stage.passUntil(10) { await !writes(stage).isEmpty })
            await stage.box.setFault(.status(500), path: HouseStage.chargers)
            #expect(await stage.passUntil(20) { await stage.session.orders.running == 0 })
            let told = await stream.reduce(into: [BoxProgress]()) { $0.append($1) }
            #expect(told == [.acknowledged, .ended(.unconfirmed)])
        }
    }
}
