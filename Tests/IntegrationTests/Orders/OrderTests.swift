import BoxLink
import BoxSimulator
import EnergyModel
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSession
@testable import BoxSimulator

/// Every kind of order against a simulated box, real Noise and frames between.
@Suite(.serialized) struct OrderTests {
    @Test func aLevelIsSetReadBackAndRememberedAsAPersons() async throws {
        var plan = HouseStage.Plan()
        plan.situation = .assumed
        try await HouseStage.run(plan) { stage in
            let told = await stage.carryOut(stage.order(.level(.exactly(0.62))))
            #expect(told == [.acknowledged, .ended(.applied(.number(0.62)))])
            await stage.pass(2)
            #expect(await stage.car()?.level.origin == .person)
            #expect(await stage.executed.map(\.op) == ["loadpoint.soc.set"])
        }
    }

    /// Only what the car says is told as the outcome, at exactly 0 % too.
    @Test(arguments: [0.8, 0])
    func aLevelBesideACarThatSpeaksIsNoneOfOurs(said: Double) async throws {
        var plan = HouseStage.Plan()
        plan.situation = .carLive(said)
        try await HouseStage.run(plan) { stage in
            #expect(await stage.outcome(.level(.exactly(0.62))) == .overtaken(.number(said)))
            #expect(await stage.outcome(.level(.exactly(said))) == .applied(.number(said)))
            await stage.pass(2)
            #expect(await stage.car()?.level.origin == .car)
            #expect(await stage.car()?.level.soc == said)
        }
    }

    @Test func aLevelWithoutACarIsRefused() async throws {
        var plan = HouseStage.Plan()
        plan.situation = .unplugged
        try await HouseStage.run(plan) { stage in
            guard case .refused(let reason) = await stage.outcome(.level(.exactly(0.5))) else {
                Issue.record("not refused")
                return
            }
            #expect(reason.kind == .notPluggedIn && reason.boxCode == "E_UNAVAILABLE")
        }
    }

    @Test func chargeNowIsAHoldAtFullPowerAndPlanReleasesIt() async throws {
        try await HouseStage.run { stage in
            let full = await stage.outcome(.control(.chargeNow(powerW: nil, until: nil)))
            #expect(full == .applied(.number(11_000)))
            let hold = try #require(await stage.executed.last)
            #expect(hold.args["power_w"] == .float(11_000) && hold.args["hold_s"] == 0)
            #expect(hold.args["phase_mode"] == "3p")
            #expect(await stage.outcome(.control(.pause)) == .applied(.text("paused")))
            #expect(await stage.outcome(.control(.plan)) == .applied(.text("plan")))
            #expect(await stage.executed.last?.args["clear"] == true)
        }
    }

    @Test func chargeNowWithoutACarIsNeverSent() async throws {
        var plan = HouseStage.Plan()
        plan.situation = .unplugged
        try await HouseStage.run(plan) { stage in
            guard
                case .refused(let reason) = await stage.outcome(.control(.chargeNow(powerW: nil, until: nil)))
            else {
                Issue.record("not refused")
                return
            }
            #expect(reason.kind == .notPluggedIn && reason.boxCode == nil)
            #expect(await stage.box.requestLog.commands.isEmpty)
        }
    }

    @Test func withoutTheMeterNothingIsHeld() async throws {
        try await HouseStage.run { stage in
            await stage.box.loseMeter()
            await stage.pass(20)
            for wish in [Intent.ControlWish.chargeNow(powerW: nil, until: nil), .plan] {
                guard case .refused(let reason) = await stage.outcome(.control(wish)) else {
                    Issue.record("not refused")
                    return
                }
                #expect(reason.kind == .dispatchBlocked)
            }
        }
    }

    @Test func modeSurplusAndBoostAreReadBack() async throws {
        try await HouseStage.run { stage in
            #expect(await stage.outcome(.mode("idle"), loadpoint: nil) == .applied(.text("idle")))
            // Our own revision is old now; the conflict is met once inside.
            #expect(await stage.outcome(.mode("charge"), loadpoint: nil) == .applied(.text("charge")))
            #expect(
                await stage.outcome(.boost(.start(seconds: 600, minBatterySoc: 0.1))) == .applied(.flag(true))
            )
            #expect(await stage.outcome(.boost(.cancel)) == .applied(.flag(false)))
            #expect(await stage.outcome(.surplusOnly(true)) == .applied(.flag(true)))
            guard case .refused(let reason) = await stage.outcome(.mode("warp"), loadpoint: nil) else {
                Issue.record("not refused")
                return
            }
            #expect(reason.kind == .outOfRange)
        }
    }

    @Test func anOldBoxIsAskedOnceForWhatItLacks() async throws {
        var plan = HouseStage.Plan()
        plan.vintage = .base
        try await HouseStage.run(plan) { stage in
            for _ in 0..<2 {
                guard case .refused(let reason) = await stage.outcome(.level(.exactly(0.5))) else {
                    Issue.record("not refused")
                    return
                }
                #expect(reason.kind == .unsupported)
            }
            #expect(await stage.box.requestLog.commands.count == 1)
            #expect(await stage.site.unsupported == [.level])
        }
    }

    // MARK: Losses

    @Test func withoutAnyAnswerItNeverArrived() async throws {
        try await HouseStage.run { stage in
            await stage.box.setSilentCommands(acknowledged: false)
            #expect(await stage.outcome(.control(.plan)) == .neverArrived)
        }
    }

    @Test func aReceiptWithoutAResultIsUnconfirmed() async throws {
        try await HouseStage.run { stage in
            await stage.box.setSilentCommands(acknowledged: true)
            let told = await stage.carryOut(stage.order(.control(.plan)))
            #expect(told == [.acknowledged, .ended(.unconfirmed)])
        }
    }

    @Test(arguments: [false, true])
    func aBrokenLinkSaysWhetherTheBoxHadIt(wasAcknowledged: Bool) async throws {
        try await HouseStage.run { stage in
            await stage.box.setSilentCommands(acknowledged: wasAcknowledged)
            let stream = await stage.session.perform(stage.order(.control(.plan)))
            let told = Task { await stream.reduce(into: [BoxProgress]()) { $0.append($1) } }
            #expect(await eventually { await stage.session.orders.commands.count == 1 })
            if wasAcknowledged {
                #expect(await eventually { await !stage.box.requestLog.commands.isEmpty })
                await everybodysTurn()
            }
            await stage.loseBox(for: 1)
            let ends: [BoxProgress] =
                (wasAcknowledged ? [.acknowledged] : []) + [.linkBroke(acknowledged: wasAcknowledged)]
            #expect(await told.value == ends)
        }
    }

    @Test func noIdIsExecutedTwice() async throws {
        try await HouseStage.run { stage in
            for _ in 0..<5 { _ = await stage.outcome(.control(.pause)) }
            await stage.box.setSilentCommands(acknowledged: true)
            _ = await stage.outcome(.control(.plan))
            let ids = await stage.executed.map(\.id)
            #expect(Set(ids).count == ids.count && ids.count == 6)
        }
    }

    @Test(arguments: [
        (CommandFate.lost, [BoxProgress.acknowledged, .ended(.applied(.number(0.62)))], 1),
        (.answersLost, [.acknowledged, .ended(.applied(.number(0.62)))], 1),
        (.receiptLost, [.ended(.applied(.number(0.62)))], 1),
        (.resultLost, [.acknowledged, .ended(.unconfirmed)], 1),
        (.overtaken(by: 0.4), [.acknowledged, .ended(.overtaken(.number(0.4)))], 1),
        (.unconfirmed, [.acknowledged, .ended(.unconfirmed)], 0),
    ])
    func everyAnswerHasItsOneEnd(fate: CommandFate, ends: [BoxProgress], executions: Int) async throws {
        var plan = HouseStage.Plan()
        plan.situation = .estimated(0.5)
        try await HouseStage.run(plan) { stage in
            await stage.box.setCommandFates([fate])
            #expect(await stage.carryOut(stage.order(.level(.exactly(0.62))), patience: 5_000) == ends)
            #expect(await stage.box.executedIDs.count == executions)
        }
    }

    @Test(arguments: [
        (CommandFate.refused("E_PRECONDITION"), BoxRefusalReason.Kind.precondition),
        (.refused("E_BOOTING"), .starting), (.refused("E_SCOPE_DENIED"), .notAllowed),
        (.refusedAtExecution("E_UNAVAILABLE"), .unavailable), (.refused("E_LATER"), .unavailable),
    ])
    func aRefusalIsToldByItsKind(fate: CommandFate, kind: BoxRefusalReason.Kind) async throws {
        try await HouseStage.run { stage in
            await stage.box.setCommandFates([fate])
            guard case .refused(let reason) = await stage.outcome(.control(.plan)) else {
                Issue.record("not refused")
                return
            }
            #expect(reason.kind == kind)
            #expect(await stage.box.executedIDs.isEmpty)
        }
    }

    /// A hundred orders under seeded losses: one end each, no id carried out twice,
    /// and what is called done was done.
    @Test func underLossesNoIDIsCarriedOutTwice() async throws {
        try await HouseStage.run { stage in
            var dice = SeededDice(4)
            let losses: [CommandFate] = [.lost, .answersLost, .receiptLost, .resultLost, .unconfirmed]
            var done = 0
            for number in 0..<100 {
                let fates = (0..<2).map { _ in losses.randomElement(using: &dice) ?? .lost }
                await stage.box.setCommandFates(fates)
                let wish: Intent = .control(number.isMultiple(of: 2) ? .pause : .plan)
                let told = await stage.carryOut(stage.order(wish, id: "o\(number)"))
                #expect(told.count { $0 != .acknowledged } == 1)
                if case .ended(.applied) = told.last { done += 1 }
            }
            let ids = await stage.box.executedIDs
            #expect(Set(ids).count == ids.count)
            #expect(done > 0 && done <= ids.count)
        }
    }

    // MARK: Read back

    @Test func theBoxIsReadBackWithoutACommand() async throws {
        try await HouseStage.run { stage in
            _ = await stage.outcome(.control(.pause))
            await stage.box.clearLog()
            let paused = await stage.session.readBack(stage.order(.control(.pause)))
            #expect(paused == .matches(.text("paused")))
            let released = await stage.session.readBack(stage.order(.control(.plan)))
            #expect(released == .differs(.text("paused")))
            #expect(await stage.box.requestLog.commands.isEmpty)
        }
    }
}
