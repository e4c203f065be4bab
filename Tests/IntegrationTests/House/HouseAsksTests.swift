import EnergyModel
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSession
@testable import BoxSimulator

/// When the box is asked, counted on its own list.
@Suite struct HouseAsksTests {
    let chargers = HouseStage.chargers
    let plan = HouseStage.plan

    @Test func theFirstReadIsOfTheChargersThenOfTheRoles() async throws {
        try await HouseStage.run { stage in
            #expect(await stage.asked == [chargers, "/api/status"])
            #expect(await stage.car()?.isCurrent == true)
        }
    }

    @Test func tenQuietMinutesCostTheChargersAtTheirIntervalAndNothingElse() async throws {
        try await HouseStage.run { stage in
            await stage.box.clearLog()
            await stage.pass(600)
            #expect(await stage.asked == Array(repeating: chargers, count: 10))
            let times = await stage.box.requestLog.requests.map(\.at)
            #expect(zip(times, times.dropFirst()).allSatisfy { $1.timeIntervalSince($0) == 60 })
            #expect(await stage.session.counters().requests["GET /api/loadpoints"] == 11)
        }
    }

    @Test func aCarThatBeginsToDrawIsReadAtOnceAndOnceMore() async throws {
        var setup = HouseStage.Plan()
        setup.readInterval = .seconds(600)
        try await HouseStage.run(setup) { stage in
            await stage.box.clearLog()
            _ = stage.reasons()
            stage.house.hold(11_000)
            await stage.pass(1)
            #expect(await stage.asked == [chargers])
            #expect(await stage.car()?.charging == .heldCharging(powerW: 11_000))
            await stage.pass(14)
            #expect(await stage.asked == [chargers])
            await stage.pass(1)
            #expect(await stage.asked == [chargers, chargers])
            #expect(
                stage.reasons() == [
                    "asking for /api/loadpoints: a car began to draw",
                    "asking for /api/loadpoints: once more after a car began to draw",
                ])
            await stage.pass(120)
            #expect(await stage.asked.count == 2)
            stage.house.hold(nil)
            await stage.pass(16)
            #expect(await stage.asked.count == 4)
        }
    }

    @Test func aChangedPlanIsReadOnce() async throws {
        var setup = HouseStage.Plan()
        setup.situation = .carLive(0.5)
        setup.readInterval = .seconds(600)
        try await HouseStage.run(setup) { stage in
            #expect(await stage.asked == [chargers, "/api/status", plan])
            await stage.pass(30)
            await stage.box.clearLog()
            stage.house.replan()
            await stage.box.pushPlan()
            await stage.pass(30)
            #expect(await stage.asked == [chargers, plan])
            // The same revision again: somebody commanded, the plan is what it was.
            await stage.box.clearLog()
            await stage.box.pushPlan()
            await stage.pass(30)
            #expect(await stage.asked == [chargers])
        }
    }

    @Test func thePlanIsReadAgainWhenTheQuarterTurns() async throws {
        var setup = HouseStage.Plan()
        setup.situation = .carLive(0.5)
        setup.wall = setup.wall.addingTimeInterval(740)
        setup.readInterval = .seconds(600)
        try await HouseStage.run(setup) { stage in
            await stage.box.clearLog()
            await stage.pass(50)
            #expect(await stage.asked.isEmpty)
            await stage.pass(20)
            #expect(await stage.asked == [plan])
        }
    }

    @Test func aShortBreakCostsNothing() async throws {
        try await HouseStage.run { stage in
            await stage.pass(10)
            await stage.box.clearLog()
            await stage.loseBox(for: 25)
            #expect(await stage.goLive())
            #expect(await stage.session.counters().sessions == 2)
            #expect(await stage.asked.isEmpty)
            #expect(await stage.car()?.isCurrent == true)
        }
    }

    @Test func aLongBreakCostsTheChargersAlone() async throws {
        try await HouseStage.run { stage in
            await stage.pass(10)
            await stage.box.clearLog()
            await stage.loseBox(for: 100)
            #expect(await stage.car()?.isCurrent == false)
            #expect(await stage.car()?.level.outdated == true)
            #expect(await stage.goLive())
            #expect(await stage.asked == [chargers])
            #expect(await stage.car()?.isCurrent == true)
        }
    }

    @Test func aNameThatChangesInFlightIsAskedForAgain() async throws {
        var setup = HouseStage.Plan()
        setup.readInterval = .seconds(600)
        try await HouseStage.run(setup) { stage in
            await stage.box.clearLog()
            await stage.box.setAnswerDelay(beats: 3)
            await stage.session.refreshCars()
            await stage.session.refreshCars()
            await stage.session.refreshCars()
            for _ in 0..<20 {
                stage.time.advance(by: .seconds(1))
                await stage.box.beat()
                #expect(await eventually { await stage.session.link.link.lastFrameAt == stage.time.wall })
            }
            await stage.settle()
            #expect(await stage.asked == [chargers, chargers])
        }
    }

    @Test func whatAPersonSetsAtTheBoxIsReason() async throws {
        var setup = HouseStage.Plan()
        setup.readInterval = .seconds(600)
        try await HouseStage.run(setup) { stage in
            await stage.box.clearLog()
            await stage.box.setLoadpoints([.init(), .init(id: "Gäst 2", driver: "guest")])
            await stage.pass(5)
            #expect(await stage.asked.filter { $0 == chargers }.count <= 2)
            #expect(await stage.cars.map(\.loadpoint.id) == ["garage", "Gäst 2"])
        }
    }

    @Test func aChargerThatGoesQuietIsReadOnceEachWay() async throws {
        var setup = HouseStage.Plan()
        setup.readInterval = .seconds(600)
        try await HouseStage.run(setup) { stage in
            await stage.box.clearLog()
            _ = stage.reasons()
            await stage.box.setSource("garage-charger", .failing)
            await stage.pass(120)
            #expect(stage.reasons() == ["asking for /api/loadpoints: garage-charger stopped answering"])
            let ill = try #require(await stage.car())
            #expect(!ill.isCurrent && ill.level.outdated && ill.charging == .unknown)
            await stage.box.setSource("garage-charger", .answering)
            await stage.pass(30)
            #expect(stage.reasons() == ["asking for /api/loadpoints: garage-charger answers again"])
            #expect(await stage.car()?.isCurrent == true)
        }
    }

    @Test func aRestartedBoxIsReadAgain() async throws {
        try await HouseStage.run { stage in
            await stage.box.clearLog()
            await stage.box.restart()
            #expect(await stage.goLive())
            await stage.pass(5)
            #expect(await stage.asked.contains(chargers))
            #expect(await stage.car()?.isCurrent == true)
        }
    }

    @Test func anOldBoxWithoutTheInterfaceIsNotAsked() async throws {
        var setup = HouseStage.Plan()
        setup.vintage = .ancient
        try await HouseStage.run(setup) { stage in
            await stage.pass(70)
            #expect(await stage.asked.isEmpty)
            #expect(await stage.site.cars == nil)
        }
    }

    @Test func withoutAGoalNobodyReadsThePlan() async throws {
        try await HouseStage.run { stage in
            await stage.pass(60)
            stage.house.replan()
            await stage.box.pushPlan()
            await stage.pass(10)
            #expect(await stage.asked.contains(plan) == false)
            // And a goal brings it at once.
            await stage.box.setCar(.carLive(0.4))
            await stage.session.refreshCars()
            await stage.pass(3)
            #expect(await stage.asked.filter { $0 == plan }.count == 1)
        }
    }

    @Test func somebodyWhoLooksGetsNothingNewerThanAMinute() async throws {
        var setup = HouseStage.Plan()
        setup.readInterval = .seconds(600)
        try await HouseStage.run(setup) { stage in
            await stage.box.clearLog()
            await stage.session.someoneLooks()
            await stage.pass(2)
            #expect(await stage.asked.isEmpty)
            await stage.pass(70)
            await stage.session.someoneLooks()
            await stage.pass(2)
            #expect(await stage.asked == [chargers])
        }
    }
}
