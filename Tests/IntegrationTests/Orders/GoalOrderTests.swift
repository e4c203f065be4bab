import BoxSimulator
import EnergyModel
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSession
@testable import BoxSimulator

/// A goal is household time at the box, whatever its age, the season and our own zone.
@Suite(.serialized) struct GoalOrderTests {
    static let goal = Intent.goal(.change(soc: 0.8, minuteOfDay: 310, days: 31, isRecurring: true))

    /// Instants of 08:00 UTC on 15 January and 15 July 2026.
    static let seasons = [1_768_464_000.0, 1_784_102_400.0]

    @Test(arguments: seasons, [BoxVintage.soc, .late])
    func tenPastFiveIsTenPastFive(at instant: Double, vintage: BoxVintage) async throws {
        for home in ["Europe/London", "America/New_York"] {
            var plan = HouseStage.Plan()
            plan.wall = Date(timeIntervalSince1970: instant)
            plan.vintage = vintage
            plan.zoneName = "Europe/Stockholm"
            plan.zone = try #require(Zone(named: home))
            try await HouseStage.run(plan) { stage in
                await stage.box.setStepUp(false)
                #expect(await stage.outcome(Self.goal) == .applied(.text("80% 05:10 mon,tue,wed,thu,fri")))
                await stage.refresh()
                #expect(await stage.car()?.goal?.minuteOfDay == 310)
                let held = try #require(stage.house.now { $0.chargers.first?.schedule })
                #expect(held.localMinute == (vintage == .late ? 310 : nil))
                #expect(held.utcMinute == (instant == Self.seasons[0] ? 250 : 190))
            }
        }
    }

    @Test func whatIsNotNamedStaysAndClearRemoves() async throws {
        var plan = HouseStage.Plan()
        plan.vintage = .late
        plan.zoneName = "Europe/Stockholm"
        try await HouseStage.run(plan) { stage in
            _ = await stage.outcome(Self.goal)
            let level = Intent.goal(.change(soc: 0.6, minuteOfDay: nil, days: nil, isRecurring: nil))
            #expect(await stage.outcome(level) == .applied(.text("60% 05:10 mon,tue,wed,thu,fri")))
            #expect(await stage.outcome(.goal(.clear)) == .applied(.text("none")))
            let time = Intent.goal(.change(soc: nil, minuteOfDay: 400, days: nil, isRecurring: nil))
            guard case .refused(let reason) = await stage.outcome(time) else {
                Issue.record("not refused")
                return
            }
            #expect(reason.kind == .precondition)
        }
    }

    @Test func aBoxThatWantsAConfirmationIsNotDeceived() async throws {
        try await HouseStage.run { stage in
            await stage.box.setStepUp(true)
            guard case .refused(let reason) = await stage.outcome(Self.goal) else {
                Issue.record("not refused")
                return
            }
            #expect(reason.kind == .needsConsent && reason.boxCode == "E_NEEDS_STEP_UP")
            #expect(await stage.box.requestLog.requests.count { $0.method == "PUT" } == 1)
        }
    }
}
