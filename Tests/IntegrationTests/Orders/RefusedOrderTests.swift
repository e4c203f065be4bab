import BoxLink
import BoxSimulator
import EnergyModel
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSession
@testable import BoxSimulator
@testable import Daemon

/// Orders that the box, or the bridge for it, does not carry out.
@Suite(.serialized) struct RefusedOrderTests {
    private func refusal(_ outcome: BoxOutcome?) -> BoxRefusalReason? {
        if case .refused(let reason)? = outcome { reason } else { nil }
    }

    // MARK: Who may

    @Test func aViewerSendsNothing() async throws {
        var plan = HouseStage.Plan()
        plan.role = .viewer
        try await HouseStage.run(plan) { stage in
            #expect(await stage.site.link.state == .readonly)
            for intent in [Intent.level(.exactly(0.5)), .control(.plan), .goal(.clear)] {
                let reason = refusal(await stage.outcome(intent))
                #expect(reason?.kind == .notAllowed && reason?.boxCode == nil)
            }
            #expect(refusal(await stage.outcome(.mode("idle"), loadpoint: nil))?.kind == .notAllowed)
            #expect(await stage.box.requestLog.commands.isEmpty)
            #expect(await stage.box.requestLog.requests.allSatisfy { $0.method == "GET" })
        }
    }

    @Test func whoeverBecomesAViewerIsToldByTheBox() async throws {
        try await HouseStage.run { stage in
            await stage.box.setRole(.viewer, clientKey: try HouseStage.ourKey)
            let reason = refusal(await stage.outcome(.level(.exactly(0.5))))
            #expect(reason?.kind == .notAllowed && reason?.boxCode == "E_SCOPE_DENIED")
            let goal = refusal(await stage.outcome(GoalOrderTests.goal))
            #expect(goal?.kind == .notAllowed && goal?.boxCode == "E_SCOPE_DENIED")
            #expect(await stage.box.executedIDs.isEmpty)
        }
    }

    @Test func aRemovedBridgeIsToldSoAndSaysIt() async throws {
        try await HouseStage.run { stage in
            await stage.box.revoke(clientKey: try HouseStage.ourKey, tells: false)
            let reason = refusal(await stage.outcome(.control(.plan)))
            #expect(reason?.kind == .notAllowed && reason?.boxCode == "E_GRANT_REVOKED")
            #expect(await eventually { await stage.site.link.state == .revoked })
        }
    }

    @Test(arguments: [false, true])
    func aRemovalInTheMiddleLeavesItOpen(wasAcknowledged: Bool) async throws {
        try await HouseStage.run { stage in
            await stage.box.setSilentCommands(acknowledged: wasAcknowledged)
            let stream = await stage.session.perform(stage.order(.control(.plan)))
            var told: [BoxProgress] = []
            var progress = stream.makeAsyncIterator()
            if wasAcknowledged { told.append(try #require(await progress.next())) }
            #expect(await eventually { await stage.session.orders.commands.count == 1 })
            await everybodysTurn()
            await stage.box.revoke(clientKey: try HouseStage.ourKey)
            while let next = await progress.next() { told.append(next) }
            #expect(
                told == (wasAcknowledged ? [.acknowledged] : [])
                    + [.linkBroke(acknowledged: wasAcknowledged)])
        }
    }

    @Test func withoutAPairingNothingArrives() async throws {
        let box = UnpairedBox(time: ManualTime())
        let order = BoxOrder(id: "o", loadpoint: "garage", intent: .control(.plan), deadline: .seconds(30))
        var told: [BoxProgress] = []
        for await progress in await box.perform(order) { told.append(progress) }
        #expect(told == [.ended(.neverArrived)])
        #expect(await box.readBack(order) == .unknown)
    }

    // MARK: Too late

    @Test func whatIsTooLateIsNotSent() async throws {
        try await HouseStage.run { stage in
            let late = await stage.carryOut(stage.order(.level(.exactly(0.5)), for: 0))
            #expect(late == [.ended(.expired)])
            // Reading the charger took longer than the command may last.
            await stage.box.setAnswerDelay(beats: 3)
            let now = Intent.control(.chargeNow(powerW: nil, until: nil))
            #expect(await stage.carryOut(stage.order(now, for: 1)) == [.ended(.expired)])
            #expect(await stage.carryOut(stage.order(GoalOrderTests.goal, for: 1)) == [.ended(.expired)])
            #expect(await stage.box.requestLog.commands.isEmpty)
            #expect(await stage.box.requestLog.requests.allSatisfy { $0.method == "GET" })
        }
    }

    @Test func theBoxMayFindItTooOldItself() async throws {
        try await HouseStage.run { stage in
            await stage.box.setCommandFates([.refused("E_CMD_EXPIRED")])
            #expect(await stage.carryOut(stage.order(.control(.plan))) == [.ended(.expired)])
            #expect(await stage.box.executedIDs.isEmpty)
        }
    }

    // MARK: What the charger cannot do

    @Test(arguments: [1.0, 1_379, 11_001, 99_000])
    func powerOutsideTheChargersRangeIsNotSent(powerW: Double) async throws {
        try await HouseStage.run { stage in
            let reason = refusal(await stage.outcome(.control(.chargeNow(powerW: powerW, until: nil))))
            #expect(reason?.kind == .outOfRange && reason?.boxCode == nil)
            #expect(reason?.detail?.contains("W") == true)
            #expect(await stage.box.requestLog.commands.isEmpty)
        }
    }

    @Test func aChargerThatIsNotThereIsNoCharger() async throws {
        try await HouseStage.run { stage in
            for intent in [Intent.level(.exactly(0.5)), .control(.pause), .goal(.clear), .surplusOnly(true)] {
                #expect(refusal(await stage.outcome(intent, loadpoint: "barn"))?.kind == .noCharger)
            }
            // It would name another route of the box.
            #expect(refusal(await stage.outcome(.goal(.clear), loadpoint: "a/b"))?.kind == .unsupported)
            #expect(await stage.box.requestLog.requests.allSatisfy { $0.method == "GET" })
        }
    }

    // MARK: What the box lacks

    @Test func whatABoxLacksIsRememberedOverARestartAndForgottenAfterItsUpdate() async throws {
        var plan = HouseStage.Plan()
        plan.vintage = .base
        try await HouseStage.run(plan) { stage in
            #expect(refusal(await stage.outcome(.level(.exactly(0.5))))?.kind == .unsupported)
            #expect(refusal(await stage.outcome(.surplusOnly(true)))?.kind == .unsupported)
            #expect(await stage.box.requestLog.commands.count == 2)
        }
        // Another run of the bridge, with the same memory.
        try await HouseStage.run(plan) { stage in
            #expect(await stage.site.unsupported == [.level, .surplusOnly])
            #expect(refusal(await stage.outcome(.level(.exactly(0.5))))?.kind == .unsupported)
            #expect(await stage.box.requestLog.commands.isEmpty)
            await stage.box.restart(as: .soc)
            #expect(await stage.goLive())
            #expect(await stage.site.unsupported.isEmpty)
            #expect(await stage.outcome(.level(.exactly(0.5))) == .applied(.number(0.5)))
        }
    }

    // MARK: Read back by value

    @Test(arguments: [
        (Intent.control(.chargeNow(powerW: 7_000, until: nil)), 3_680.0, BoxOutcome.BoxValue.number(3_680)),
        (.control(.pause), 7_000, .number(7_000)), (.control(.plan), 7_000, .number(7_000)),
        (.level(.exactly(0.62)), 0.7, .number(0.7)), (.surplusOnly(true), 0, .flag(false)),
        (.boost(.start(seconds: 600, minBatterySoc: 0.1)), 0, .flag(false)),
        (.mode("idle"), 0, .text("planner_passive_arbitrage")),
    ])
    func whatTheBoxKeptInsteadIsTold(intent: Intent, by value: Double, kept: BoxOutcome.BoxValue) async throws
    {
        try await HouseStage.run { stage in
            await stage.box.setCommandFates([.overtaken(by: value)])
            #expect(await stage.outcome(intent, loadpoint: "garage") == .overtaken(kept))
        }
    }

    @Test func whatIsReadBackAfterACutIsTheTruth() async throws {
        try await HouseStage.run { stage in
            _ = await stage.outcome(.mode("idle"), loadpoint: nil)
            await stage.pass(2)
            let order = stage.order
            #expect(
                await stage.session.readBack(order(.mode("idle"), nil, "a", 30)) == .matches(.text("idle")))
            #expect(
                await stage.session.readBack(order(.mode("charge"), nil, "a", 30)) == .differs(.text("idle")))
            #expect(
                await stage.session.readBack(order(.control(.pause), "barn", "a", 30)) == .differs(nil))
            await stage.box.setFault(.garbled, path: HouseStage.chargers)
            #expect(await stage.session.readBack(order(.control(.pause), "garage", "a", 30)) == .unknown)
        }
    }
}
