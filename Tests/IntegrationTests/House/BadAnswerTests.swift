import BoxSimulator
import EnergyModel
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSession

/// Answers that are none, and loadpoints that are not what they were.
@Suite struct BadAnswerTests {
    let chargers = HouseStage.chargers

    @Test(arguments: [
        AnswerFault.truncated, .garbled, .foreign, .status(500), .status(503), .refused,
    ])
    func aBadAnswerKeepsTheLastOneMarkedOld(fault: AnswerFault) async throws {
        var setup = HouseStage.Plan()
        setup.situation = .carLive(0.63)
        try await HouseStage.run(setup) { stage in
            let before = try #require(await stage.car())
            await stage.box.setFault(fault, path: chargers)
            await stage.refresh()
            let old = try #require(await stage.car())
            #expect(old.loadpoint == before.loadpoint && old.readAt == before.readAt)
            #expect(!old.isCurrent && old.level.outdated && old.level.soc == 0.63)
            #expect(old.readiness.reason == .stale)
            await stage.box.setFault(nil, path: chargers)
            await stage.pass(30)
            #expect(await stage.car()?.isCurrent == true)
        }
    }

    @Test func failuresAreTriedAgainAtDoublingPausesUntilTheLinkIsNew() async throws {
        try await HouseStage.run { stage in
            await stage.box.setFault(.status(500), path: chargers)
            await stage.refresh()
            await stage.box.clearLog()
            let start = stage.time.wall
            await stage.pass(300)
            let pauses = await stage.box.requestLog.requests.map { $0.at.timeIntervalSince(start) }
            #expect(pauses == [30, 90, 210])
            // A new session starts from the beginning.
            await stage.box.clearLog()
            await stage.loseBox(for: 2)
            #expect(await stage.goLive())
            #expect(await stage.asked == [chargers])
            await stage.pass(30)
            #expect(await stage.asked == [chargers, chargers])
        }
    }

    @Test func aTakenSlotIsTriedAtAQuarterHalfAndOneSecond() async throws {
        try await HouseStage.run { stage in
            await stage.box.clearLog()
            await stage.box.setBusy(calls: 3)
            await stage.session.refreshCars()
            for (asked, pause) in [
                (1, Duration.milliseconds(250)), (2, .milliseconds(500)), (3, .seconds(1)),
            ] {
                #expect(await eventually { await stage.asked.count == asked })
                #expect(await eventually { await stage.session.pauseOfQuestions == pause })
                stage.time.advance(by: pause)
            }
            #expect(await eventually { await stage.asked.count == 4 })
            await stage.settle()
            let log = await stage.box.requestLog.requests
            #expect(log.map(\.refusal) == ["E_UNAVAILABLE", "E_UNAVAILABLE", "E_UNAVAILABLE", nil])
            let times = log.map(\.at)
            #expect(zip(times, times.dropFirst()).map { $1.timeIntervalSince($0) } == [0.25, 0.5, 1])
            #expect(await stage.car()?.isCurrent == true)
        }
    }

    @Test func aPlanThatCannotBeReadLeavesNoPromise() async throws {
        var setup = HouseStage.Plan()
        setup.situation = .late(shortfallWh: 13_500)
        setup.wall = CarSituationTests.evening
        try await HouseStage.run(setup) { stage in
            #expect(await stage.car()?.readiness.state == .late)
            await stage.box.setFault(.truncated, path: HouseStage.plan)
            stage.house.replan()
            await stage.box.pushPlan()
            await stage.pass(2)
            let car = try #require(await stage.car())
            #expect(car.isCurrent && !car.level.outdated)
            #expect(car.readiness.state == .unknown && car.readiness.reason == .stale)
        }
    }

    // MARK: Loadpoints

    @Test func loadpointsComeGoAndAreRenamed() async throws {
        try await HouseStage.run { stage in
            let odd: [SimulatedHouseSettings.ChargerSettings] = [
                .init(id: "Uppfart / gäst 🚗", driver: "gäst"), .init(id: "..#+/$SYS", driver: "odd one"),
            ]
            await stage.box.setLoadpoints([.init()] + odd)
            await stage.pass(60)
            #expect(await stage.cars.map(\.loadpoint.id) == ["garage", "Uppfart / gäst 🚗", "..#+/$SYS"])
            #expect(await stage.cars.allSatisfy(\.isCurrent))
            await stage.box.setLoadpoints([.init(id: "Garaget")])
            await stage.pass(60)
            #expect(await stage.cars.map(\.loadpoint.id) == ["Garaget"])
            await stage.box.setLoadpoints([])
            await stage.pass(60)
            #expect(await stage.site.cars == [])
        }
    }

    @Test func withoutAChargerNothingIsPolled() async throws {
        var setup = HouseStage.Plan()
        setup.situation = nil
        setup.house.chargers = []
        try await HouseStage.run(setup) { stage in
            await stage.pass(300)
            #expect(await stage.asked == ["/api/status"])
            #expect(await stage.site.cars == nil)
        }
    }
}
