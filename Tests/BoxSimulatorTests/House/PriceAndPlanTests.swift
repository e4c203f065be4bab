import EnergyModel
import FoundationEssentials
import Testing

@testable import BoxSimulator

@Suite struct PriceAndPlanTests {
    let zone = Zone(named: "Europe/Stockholm") ?? .utc
    var prices: DayAhead { DayAhead(zone: zone, noise: HouseNoise(seed: 1)) }

    @Test(arguments: [
        (LocalDay(year: 2026, month: 10, day: 25), 100), (LocalDay(year: 2026, month: 10, day: 26), 96),
        (LocalDay(year: 2027, month: 3, day: 28), 92),
    ])
    func aDayHasAQuarterForEachOfItsHours(day: LocalDay, count: Int) {
        let slots = prices.slots(of: day)
        #expect(slots.count == count)
        #expect(zip(slots, slots.dropFirst()).allSatisfy { $0.end == $1.start })
    }

    @Test func tomorrowIsPublishedAtOne() {
        let day = LocalDay(year: 2026, month: 11, day: 30)
        let start = zone.start(of: day)
        let until = start.addingTimeInterval(3 * 86_400)
        let before = prices.slots(from: start, to: until, now: zone.instant(day, minute: 779))
        let after = prices.slots(from: start, to: until, now: zone.instant(day, minute: 780))
        #expect(before.count == 96)
        #expect(after.count == 192)
    }

    @Test func theQuarterUnderWayIsIncludedAndTheOneAtTheEndIsNot() {
        let day = LocalDay(year: 2026, month: 11, day: 30)
        let at = zone.instant(day, minute: 607)
        let slots = prices.slots(from: at, to: zone.instant(day, minute: 645), now: at)
        #expect(slots.map { zone.minuteOfDay(of: $0.start) } == [600, 615, 630])
        #expect(prices.slots(from: at, to: at, now: at).isEmpty)
    }

    @Test func someNoonsCostLessThanNothingAndEveningsAreDear() {
        let days = (0..<40).map { LocalDay(year: 2026, month: 6, day: 1).adding(days: $0) }
        let lows = days.compactMap { prices.slots(of: $0).map(\.spotMinor).min() }
        let negative = lows.count { $0 < 0 }
        #expect((3...25).contains(negative))
        for day in days {
            let night = prices.price(at: zone.instant(day, minute: 180)).spotMinor
            let evening = prices.price(at: zone.instant(day, minute: 1_100)).spotMinor
            #expect(evening > night)
        }
    }

    @Test func totalIsSpotTariffAndTax() {
        let slot = prices.price(at: zone.instant(LocalDay(year: 2026, month: 11, day: 30), minute: 480))
        #expect(abs(slot.totalMinor - (slot.spotMinor + 40) * 1.25) < 1e-9)
    }

    @Test func aPlanGivesTheCarItsCheapestQuartersInTime() throws {
        let now = zone.instant(LocalDay(year: 2026, month: 11, day: 30), minute: 1_140)
        var house = HouseModel(settings: SimulatedHouseSettings(), now: now)
        house.arrange(.carLive(0.5), at: 0)
        let plan = try #require(house.plan)
        #expect(plan.slots.count == 97)
        let target = try #require(house.chargers[0].target)
        #expect(target.time == zone.instant(LocalDay(year: 2026, month: 12, day: 1), minute: 420))
        let windows = plan.windows(of: "garage", from: now)
        #expect(!windows.isEmpty)
        #expect(windows.allSatisfy { $0.end <= target.time })
        let wh = windows.map(\.wh).reduce(0, +) * Charger.efficiency
        #expect(abs(wh - 0.3 * 60_000) < 10)
        #expect(plan.shortfallWh["garage"] == 0)
        let used = plan.slots.filter { $0.carW["garage"] != nil }.map(\.price.totalMinor).max() ?? 0
        let unused = plan.slots.filter { $0.carW["garage"] == nil && $0.end <= target.time }
        #expect(unused.allSatisfy { $0.price.totalMinor >= used })
    }

    @Test func whatCannotArriveInTimeIsMissing() throws {
        let now = zone.instant(LocalDay(year: 2026, month: 12, day: 1), minute: 390)
        var house = HouseModel(settings: SimulatedHouseSettings(), now: now)
        house.arrange(.carLive(0.2), at: 0)
        let missing = try #require(house.plan?.shortfallWh["garage"])
        // Half an hour at 11 kW of the 36 kWh that are wanted.
        #expect(abs(missing - (36_000 - 5_500 * Charger.efficiency)) < 50)
    }

    @Test func theFirstSlotBeginsWithThePlan() throws {
        let now = zone.instant(LocalDay(year: 2026, month: 11, day: 30), minute: 607)
        let house = HouseModel(settings: SimulatedHouseSettings(), now: now)
        let first = try #require(house.plan?.slots.first)
        #expect(first.executionStart == now && first.start < now && first.end > now)
        #expect(house.plan?.slots.dropFirst().allSatisfy { $0.executionStart == nil } == true)
    }

    // Both readings of a schedule on both sides of the change of clocks.
    @Test(arguments: [
        (1_792_749_600.0, nil, 300, 0, 1_792_818_000.0), (1_792_749_600, 420, 300, 0, 1_792_818_000),
        (1_792_749_600, nil, 300, 31, 1_792_990_800), (1_792_749_600, 420, 300, 31, 1_792_994_400),
        (1_792_864_800, nil, 300, 0, 1_792_904_400), (1_792_864_800, 420, 300, 0, 1_792_908_000),
        (1_792_749_600, nil, 1_350, 32, 1_792_794_600),
    ])
    func deadlinesFollowTheBoxesClock(
        now: Double, local: Int?, utc: Int, days: Int, expected: Double
    ) {
        var charger = Charger(settings: SimulatedHouseSettings.ChargerSettings())
        charger.schedule = Charger.Schedule(
            soc: 0.8, localMinute: local, utcMinute: utc, recurring: true, days: days)
        let next = charger.nextDeadline(
            after: Date(timeIntervalSince1970: now), zone: zone, readsLocalMinute: true)
        #expect(next == Date(timeIntervalSince1970: expected))
    }
}
