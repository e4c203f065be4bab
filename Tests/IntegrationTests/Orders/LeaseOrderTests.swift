import BoxLink
import BoxSimulator
import EnergyModel
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSession
@testable import BoxSimulator

/// Timed charging against a simulated box.
@Suite(.serialized) struct LeaseOrderTests {
    private func begin(_ stage: HouseStage, minutes: Double) async {
        let until = stage.time.wall.addingTimeInterval(minutes * 60)
        #expect(
            await stage.outcome(.control(.chargeNow(powerW: 7_000, until: until))) == .applied(.number(7_000))
        )
        await stage.pass(2)
    }

    private func holds(_ stage: HouseStage) async -> [Int64] {
        await stage.executed.compactMap { $0.args["hold_s"]?.intValue }
    }

    @Test func itIsRenewedEveryTenMinutesAndEndsInTime() async throws {
        try await HouseStage.run { stage in
            await begin(stage, minutes: 45)
            #expect(await stage.site.leases.keys.sorted() == ["garage"])
            await stage.pass(25 * 60)
            #expect(await holds(stage).count == 3)
            #expect(await holds(stage).prefix(2) == [1_800, 1_800])
            #expect(await stage.site.leases.isEmpty)
            await stage.pass(21 * 60)
            #expect(stage.house.now { $0.chargers.first?.hold } == nil)
        }
    }

    @Test(arguments: ["app", "unplug", "order", "restart"])
    func itStopsWhenSomethingElseHappened(what: String) async throws {
        try await HouseStage.run { stage in
            await begin(stage, minutes: 120)
            switch what {
            case "app": stage.house.hold(3_680)
            case "unplug": stage.house.plug(false)
            case "order": _ = await stage.outcome(.control(.plan))
            default:
                await stage.box.restart()
                #expect(await stage.goLive())
            }
            await stage.pass(11 * 60)
            #expect(await holds(stage) == [1_800])
            #expect(await stage.site.leases.isEmpty)
        }
    }

    /// Only its beginning tells the app's hold from ours, so it is looked at as soon as that is new.
    @Test func theAppsHoldAtTheSamePowerIsNotTakenForOurs() async throws {
        try await HouseStage.run { stage in
            await begin(stage, minutes: 120)
            await stage.pass(120)
            #expect(await stage.site.holdEnds.keys.sorted() == ["garage"])
            #expect(await stage.site.takenHolds.isEmpty)
            stage.house.hold(7_000)
            await stage.pass(70)
            #expect(await stage.site.leases.isEmpty)
            #expect(await stage.site.takenHolds == ["garage"])
            #expect(await stage.site.holdEnds.isEmpty)
            await stage.pass(11 * 60)
            #expect(await holds(stage) == [1_800])
            // A lease of ours is ours again.
            #expect(await stage.outcome(.control(.plan)) != nil)
            await stage.pass(2)
            #expect(await stage.site.takenHolds.isEmpty)
        }
    }

    // MARK: When renewing is due and cannot be done

    @Test func aLinkThatIsDownWhenItIsDueOnlyDelaysIt() async throws {
        try await HouseStage.run { stage in
            await begin(stage, minutes: 120)
            await stage.pass(9 * 60 + 30)
            await stage.loseBox(for: 60)
            #expect(await stage.goLive())
            #expect(await stage.site.leases.keys.sorted() == ["garage"])
            await stage.pass(180)
            #expect(await holds(stage) == [1_800, 1_800])
        }
    }

    @Test func aMeterThatIsDownWhenItIsDueOnlyDelaysIt() async throws {
        try await HouseStage.run { stage in
            await begin(stage, minutes: 120)
            await stage.pass(9 * 60)
            await stage.box.loseMeter()
            await stage.pass(4 * 60)
            #expect(await holds(stage) == [1_800])
            #expect(await stage.site.leases.keys.sorted() == ["garage"])
            await stage.box.restoreMeter()
            await stage.pass(120)
            #expect(await holds(stage) == [1_800, 1_800])
        }
    }

    @Test func whatCannotBeRenewedRunsOut() async throws {
        try await HouseStage.run { stage in
            await begin(stage, minutes: 120)
            await stage.box.loseMeter()
            await stage.pass(31 * 60)
            #expect(await stage.site.leases.isEmpty)
            #expect(stage.house.now { $0.chargers.first?.hold } == nil)
            await stage.box.restoreMeter()
            await stage.pass(11 * 60)
            #expect(await holds(stage) == [1_800])
        }
    }

    /// What is left of the hold runs out; nobody charges by what an earlier run was asked.
    @Test func anotherRunOfTheBridgeDoesNotGoOn() async throws {
        try await HouseStage.run { stage in
            await begin(stage, minutes: 120)
            await stage.pass(60)
            try await stage.restartBridge()
            #expect(await stage.goLive())
            #expect(await stage.site.leases.isEmpty)
            #expect(stage.house.now { $0.chargers.first?.hold } != nil)
            await stage.pass(31 * 60)
            // Renewing would have been due twice.
            #expect(await holds(stage) == [1_800])
            #expect(await stage.site.leases.isEmpty)
            #expect(stage.house.now { $0.chargers.first?.hold } == nil)
            #expect(await stage.car()?.loadpoint.hold == Loadpoint.Hold.none)
        }
    }

    /// An order of this run that broke and turns out to be done goes on; one of an earlier run does not.
    @Test func anOrderThatBrokeGoesOnOnceItIsReadBack() async throws {
        try await HouseStage.run { stage in
            let until = stage.time.wall.addingTimeInterval(7_200)
            let order = stage.order(.control(.chargeNow(powerW: 7_000, until: until)))
            await stage.box.setCommandFates([.answersLost])
            let stream = await stage.session.perform(order)
            #expect(await stage.passUntil(2) { await stage.box.executedIDs.count == 1 })
            await stage.loseBox(for: 1)
            #expect(await stage.goLive())
            let told = await stream.reduce(into: [BoxProgress]()) { $0.append($1) }
            #expect(told == [.linkBroke(acknowledged: false)])
            #expect(await stage.site.leases.isEmpty)
            var earlier = order
            earlier.id = "earlier"
            #expect(await stage.session.readBack(earlier) == .matches(.number(7_000)))
            #expect(await stage.site.leases.isEmpty)
            #expect(await stage.session.readBack(order) == .matches(.number(7_000)))
            #expect(await stage.site.leases.keys.sorted() == ["garage"])
            await stage.pass(11 * 60)
            #expect(await holds(stage) == [1_800, 1_800])
        }
    }

    // MARK: Its end

    @Test func theEndIsToldFromTheLeaseAndFromTheBox() async throws {
        try await HouseStage.run { stage in
            let end = stage.time.wall.addingTimeInterval(45 * 60)
            await begin(stage, minutes: 45)
            func told() async -> Double? { await stage.site.holdEnds["garage"]?.timeIntervalSince(end) }
            #expect(abs(await told() ?? 99) < 2)
            // The last hold lasts to the end: now the box itself knows it.
            await stage.pass(25 * 60)
            #expect(await stage.site.leases.isEmpty)
            #expect(abs(await told() ?? 99) < 2)
            await stage.pass(21 * 60)
            #expect(await told() == nil)
        }
    }

    @Test func aHoldOfTheAppHasNoEndAndIsAskedAboutOnce() async throws {
        try await HouseStage.run { stage in
            await stage.box.clearLog()
            stage.house.hold(7_000)
            await stage.pass(600)
            #expect(await stage.site.holdEnds.isEmpty)
            #expect(await stage.box.requestLog.count("/api/loadpoints/garage/manual_hold") == 1)
        }
    }
}
