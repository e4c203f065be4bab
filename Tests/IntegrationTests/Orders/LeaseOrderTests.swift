import BoxLink
import BoxSimulator
import EnergyModel
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSession
@testable import BoxSimulator

/// Timed charging against a simulated box.
@Suite struct LeaseOrderTests {
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
}
