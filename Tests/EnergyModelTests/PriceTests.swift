import EnergyModel
import FoundationEssentials
import JSONText
import Testing

/// Slots of equal length from a start on; `nil` leaves a hole.
func slots(from start: Int, minutes: Int, _ prices: [Double?]) -> [PriceSlot] {
    prices.enumerated().compactMap { index, price in
        price.map {
            PriceSlot(
                start: at(start + index * minutes * 60), end: at(start + (index + 1) * minutes * 60),
                totalMinor: $0,
                spotMinor: $0 / 2)
        }
    }
}

private let midnight24 = 1_792_792_800  // 24 Oct 2026 00:00 CEST
private let midnight25 = 1_792_879_200
private let midnight26 = 1_792_969_200

@Suite struct PriceTests {
    @Test func theSessionsAnswerIsRead() throws {
        let prices = try #require(
            Prices(
                JSONValue(
                    parsing: """
                        {"zone":"SE3","currency":"SEK","stale":false,"slots":[
                        {"startMs":1792793700000,"durationMs":900000,"spotMinor":-12,"totalMinor":-5},
                        {"startMs":1792792800000,"durationMs":900000,"spotMinor":100,"totalMinor":123},
                        {"startMs":"x","durationMs":900000,"totalMinor":1},{"startMs":1792795500000,"totalMinor":1}]}
                        """)))
        #expect(prices.area == "SE3")
        #expect(prices.currency == "SEK")
        #expect(prices.slots.map(\.total) == [1.23, -0.05])
        #expect(prices.slots.map(\.spot) == [1, -0.12])
        #expect(prices.slots.map(\.start) == [at(midnight24), at(midnight24 + 900)])
    }

    @Test func theApiKeepsItsDecimals() throws {
        let prices = try #require(
            Prices(
                JSONValue(
                    parsing: """
                        {"enabled":true,"zone":"FI","currency":"EUR","items":[{"slot_ts_ms":1792792800000,
                        "slot_len_min":60,"spot_ore_kwh":-0.05,"total_ore_kwh":4.125,"source":"x"}]}
                        """)))
        #expect(prices.slots.first?.total == 0.04125)
        #expect(prices.slots.first?.spot == -0.0005)
    }

    @Test(arguments: ["{}", "null", "{\"enabled\":false,\"items\":[]}", "{\"slots\":null}", "7"])
    func noPricesAreNoAnswer(text: String) throws { #expect(Prices(try JSONValue(parsing: text)) == nil) }

    @Test(arguments: [(midnight24, 96), (midnight25, 100), (1_806_188_400, 92)])
    func everyQuarterOfAHouseholdDayHasItsPrice(midnight: Int, count: Int) throws {
        let zone = try stockholm()
        let prices = Prices(slots: slots(from: midnight, minutes: 15, (0..<count).map { Double($0) }))
        let day = zone.bounds(of: zone.day(of: at(midnight)))
        #expect(prices.coverage(of: day).isComplete)
        #expect(day.upperBound == prices.until)
        for index in 0..<count {
            #expect(prices.slot(at: at(midnight + index * 900 + 899))?.totalMinor == Double(index))
        }
        #expect(prices.grid(zone: zone, now: at(midnight)).totals.count == count)
    }

    @Test func theHourThatHappensTwiceHasTwoPrices() throws {
        let prices = Prices(slots: slots(from: midnight25, minutes: 15, (0..<100).map { Double($0) }))
        // 02:15 summer time and 02:15 normal time.
        #expect(prices.slot(at: at(1_792_887_300))?.totalMinor == 9)
        #expect(prices.slot(at: at(1_792_890_900))?.totalMinor == 13)
    }

    @Test func thePriceChangesAtTheEdgeOfItsSlot() {
        let prices = Prices(slots: slots(from: midnight24, minutes: 60, [100, 50, nil, 75]))
        let before = prices.now(at: at(midnight24 + 3_599))
        #expect(before.slot?.totalMinor == 100)
        #expect(before.next?.totalMinor == 50)
        #expect(before.changesAt == at(midnight24 + 3_600))
        let after = prices.now(at: at(midnight24 + 3_600))
        #expect(after.slot?.totalMinor == 50)
        #expect(after.next == nil)
        let hole = prices.now(at: at(midnight24 + 7_200))
        #expect(hole.slot == nil)
        #expect(hole.level == nil)
        #expect(hole.changesAt == at(midnight24 + 10_800))
        #expect(prices.now(at: at(midnight24 + 14_400)) == Prices.Now())
        #expect(prices.now(at: at(midnight24 - 1)).slot == nil)
    }

    @Test func holesLateStartsAndMissingTailsAreToldApart() throws {
        let prices = Prices(slots: slots(from: midnight24 + 3_600, minutes: 60, [1, nil, 3]))
        let coverage = prices.coverage(of: at(midnight24)..<at(midnight25))
        #expect(
            coverage.holes == [
                at(midnight24)..<at(midnight24 + 3_600), at(midnight24 + 7_200)..<at(midnight24 + 10_800),
            ])
        #expect(coverage.missingTail == at(midnight24 + 14_400)..<at(midnight25))
        #expect(Prices(slots: []).coverage(of: at(0)..<at(1)).missingTail == at(0)..<at(1))
    }

    @Test func tomorrowIsKnownWhenItIsKnownToItsEnd() throws {
        let zone = try stockholm()
        let today = slots(from: midnight24, minutes: 60, Array(repeating: 1, count: 24))
        let short = slots(from: midnight25, minutes: 15, Array(repeating: 1, count: 96))
        let whole = slots(from: midnight25, minutes: 15, Array(repeating: 1, count: 100))
        let now = at(midnight24 + 50_000)
        #expect(!Prices(slots: today).isTomorrowKnown(zone: zone, now: now))
        #expect(!Prices(slots: today + short).isTomorrowKnown(zone: zone, now: now))
        #expect(Prices(slots: today + whole).isTomorrowKnown(zone: zone, now: now))
    }

    @Test func hoursAndQuartersMix() throws {
        let zone = try stockholm()
        let prices = Prices(
            slots: slots(from: midnight24, minutes: 60, [10, 20])
                + slots(from: midnight24 + 7_200, minutes: 15, [1, 2, 3, 4]))
        let grid = prices.grid(zone: zone, now: at(midnight24))
        #expect(grid.stepS == 900)
        #expect(grid.totals == [0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.2, 0.01, 0.02, 0.03, 0.04])
        let hourly = Prices(slots: slots(from: midnight24, minutes: 60, [10, nil, 20])).grid(
            zone: zone, now: at(midnight24))
        #expect(hourly.stepS == 3_600)
        #expect(hourly.totals == [0.1, nil, 0.2])
    }

    @Test func whereSlotsOverlapTheFinerCounts() {
        let prices = Prices(
            slots: slots(from: midnight24, minutes: 60, [10])
                + slots(from: midnight24, minutes: 15, [1, 2, 3, 4]))
        #expect(prices.slots.map(\.totalMinor) == [1, 2, 3, 4])
        let late = Prices(
            slots: slots(from: midnight24, minutes: 60, [10])
                + slots(from: midnight24 + 1_800, minutes: 15, [3, 4]))
        #expect(late.slots.map(\.totalMinor) == [10, 3, 4])
        for (one, next) in zip(late.slots, late.slots.dropFirst()) { #expect(one.end <= next.start) }
    }

    @Test func manyOverlappingSlotsAreTidiedToo() {
        var random = Seeded(state: 5)
        for _ in 0..<200 {
            let wild = (0..<30).map { _ in
                let begin = Int.random(in: 0...20, using: &random) * 900
                return PriceSlot(
                    start: at(begin), end: at(begin + Int.random(in: -1...4, using: &random) * 900),
                    totalMinor: Double(Int.random(in: -9...9, using: &random)))
            }
            let tidy = Prices(slots: wild).slots
            for (one, next) in zip(tidy, tidy.dropFirst()) { #expect(one.end <= next.start) }
            for second in stride(from: 0, to: 25 * 900, by: 900) {
                let holding = wild.filter { $0.contains(at(second)) }
                let finest = holding.map { $0.end.timeIntervalSince($0.start) }.min()
                let price = Prices(slots: wild).slot(at: at(second))?.totalMinor
                #expect((price == nil) == holding.isEmpty)
                #expect(
                    price == nil
                        || holding.contains {
                            $0.totalMinor == price && $0.end.timeIntervalSince($0.start) == finest
                        })
            }
        }
    }

    @Test(arguments: [
        ([0.0, 10, 20, 30, 40, 50, 60, 70, 80], [1, 2, 3, 4, 5, 6, 7, 8, 8]), ([50, 50, 50], [4, 4, 4]),
        ([50, 50.9], [4, 4]), ([50, 51], [1, 8]), ([-40, 0, 40], [1, 5, 8]), ([-10, -5], [1, 8]), ([7], [4]),
    ])
    func levelsGoFromOneToEight(totals: [Double], levels: [Int]) {
        let prices = Prices(slots: slots(from: midnight24, minutes: 60, totals))
        #expect(prices.slots.map { prices.level(of: $0, from: at(midnight24)) } == levels)
    }

    @Test func levelsCompareTheNext24HoursOnly() {
        let prices = Prices(
            slots: slots(from: midnight24, minutes: 60, [500] + Array(repeating: 10, count: 24) + [20, 0]))
        let second = prices.slots[1]
        #expect(prices.level(of: second, from: at(midnight24)) == 1)
        #expect(prices.level(of: second, from: at(midnight24 + 3_600)) == 4)
        #expect(prices.level(of: second, from: at(midnight24 + 7_200)) == 1)
        #expect(prices.level(of: second, from: at(midnight24 + 10_800)) == 5)
    }

    @Test func cheapNowFollowsItsRule() {
        let prices = Prices(slots: slots(from: midnight24, minutes: 60, [100, -5, 30]))
        let window = CheapestWindow(
            start: at(midnight24 + 3_600), end: at(midnight24 + 7_200), averageMinor: -5)
        func cheap(_ rule: CheapRule, _ hour: Int) -> Bool? {
            rule.isCheap(prices, window: window, now: at(midnight24 + hour * 3_600))
        }
        #expect([0, 1, 2, 3].map { cheap(.under(0.3), $0) } == [false, true, false, nil])
        #expect([0, 1, 2, 3].map { cheap(.window(hours: 1), $0) } == [false, true, false, nil])
        #expect([0, 1, 2, 3].map { cheap(.level(2), $0) } == [false, true, false, nil])
    }
}
