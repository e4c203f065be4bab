import EnergyModel
import FoundationEssentials
import Testing

private let midnight24 = 1_792_792_800  // 24 Oct 2026 00:00 CEST

@Suite struct CheapestWindowTests {
    private func start(_ answer: CheapestAnswer) -> Int? {
        answer.window.map { Int($0.start.timeIntervalSince1970) - midnight24 }
    }

    @Test func theCheapestStretchMaySpanMidnight() throws {
        let prices = Prices(slots: slots(from: midnight24 + 72_000, minutes: 60, [9, 9, 9, 1, 1, 9, 9]))
        let answer = prices.cheapest(hours: 2, now: at(midnight24 + 72_000))
        #expect(start(answer) == 82_800)
        #expect(answer.window?.average == 0.01)
        #expect(answer.pricesUntil == at(midnight24 + 97_200))
    }

    @Test func noStretchReachesAcrossAHole() {
        let prices = Prices(slots: slots(from: midnight24, minutes: 60, [1, nil, 1, 5, 5]))
        #expect(start(prices.cheapest(hours: 2, now: at(midnight24))) == 7_200)
        let three = prices.cheapest(hours: 3, now: at(midnight24))
        #expect(start(three) == 7_200)
        let four = prices.cheapest(hours: 4, now: at(midnight24))
        #expect(four.window == nil)
        #expect(four.knownHours == 3)
    }

    @Test func amongEqualsTheEarliestCounts() {
        let prices = Prices(
            slots: slots(from: midnight24, minutes: 15, Array(repeating: 33.333_333, count: 40)))
        #expect(start(prices.cheapest(hours: 2, now: at(midnight24 + 1))) == 900)
        #expect(start(prices.cheapest(hours: 2, now: at(midnight24))) == 0)
    }

    @Test func negativePricesAreTheCheapest() {
        let prices = Prices(slots: slots(from: midnight24, minutes: 60, [-1, -5, -3, 0, 2]))
        let answer = prices.cheapest(hours: 2, now: at(midnight24))
        #expect(start(answer) == 3_600)
        #expect(answer.window?.averageMinor == -4)
    }

    @Test func aRunningWindowIsKept() {
        let prices = Prices(slots: slots(from: midnight24, minutes: 60, [5, 1, 1, 5, 5, 5, 5]))
        let chosen = prices.cheapest(hours: 2, now: at(midnight24)).window
        #expect(chosen?.start == at(midnight24 + 3_600))
        let inside = prices.cheapest(hours: 2, now: at(midnight24 + 5_000), running: chosen)
        #expect(inside.window == chosen)
        #expect(start(prices.cheapest(hours: 2, now: at(midnight24 + 5_000))) == 5_400)
        // It is over: the next one.
        #expect(start(prices.cheapest(hours: 2, now: at(midnight24 + 10_800), running: chosen)) == 10_800)
        // Another length is another question.
        #expect(start(prices.cheapest(hours: 3, now: at(midnight24 + 5_000), running: chosen)) == 5_400)
    }

    @Test func beforeTomorrowIsPublishedTodaysHoursAreUsed() {
        // 11:00, prices known to midnight.
        let prices = Prices(
            slots: slots(from: midnight24, minutes: 60, (0..<24).map { $0 == 14 ? 1 : Double($0) + 50 }))
        let now = at(midnight24 + 39_600)
        let answer = prices.cheapest(hours: 3, now: now)
        #expect(start(answer) == 43_200)
        #expect(answer.pricesUntil == at(midnight24 + 86_400))
        #expect(answer.knownHours == 13)
    }

    @Test func nothingKnownIsSaidPlainly() {
        #expect(
            Prices(slots: []).cheapest(hours: 2, now: at(midnight24))
                == CheapestAnswer(window: nil, knownHours: 0, pricesUntil: nil))
        let one = Prices(slots: slots(from: midnight24, minutes: 15, [4]))
        #expect(one.cheapest(hours: 2, now: at(midnight24)).knownHours == 0.25)
        #expect(one.cheapest(hours: 0.25, now: at(midnight24)).window?.averageMinor == 4)
    }

    @Test(arguments: [Double.nan, 0, -1, 49, .infinity])
    func absurdLengthsFindNothing(hours: Double) {
        let prices = Prices(slots: slots(from: midnight24, minutes: 15, [4, 5, 6, 7]))
        #expect(prices.cheapest(hours: hours, now: at(midnight24)).window == nil)
        #expect(
            prices.cheapest(hours: 1, now: at(midnight24), horizonHours: hours == 49 ? .nan : hours)
                .pricesUntil != nil)
    }

    /// The day before a clock change and the day itself: 92 or 100 quarters, every one once, and a
    /// window is as long as it says whatever the clock on the wall does.
    @Test(arguments: [
        LocalDay(year: 2026, month: 3, day: 29), LocalDay(year: 2026, month: 10, day: 25),
        LocalDay(year: 2027, month: 3, day: 28), LocalDay(year: 2027, month: 10, day: 31),
    ])
    func windowsOverAClockChangeAreTheOnesThatTryingAllFinds(day: LocalDay) throws {
        let zone = try stockholm()
        var dice = Seeded(state: UInt64(day.number))
        let first = Int(zone.start(of: day.adding(days: -1)).timeIntervalSince1970)
        let end = Int(zone.start(of: day.adding(days: 1)).timeIntervalSince1970)
        let totals = (0..<((end - first) / 900)).map { _ in Double(Int.random(in: -40...40, using: &dice)) }
        let prices = Prices(slots: slots(from: first, minutes: 15, totals.map { $0 }))
        for start in stride(from: first, to: end, by: 900) {
            for (offset, length) in [(0, 8), (1, 12), (450, 16)] {
                let now = start + offset
                let answer = prices.cheapest(hours: Double(length) / 4, now: at(now))
                let expected = tryAll(
                    totals.map { $0 }, from: first, step: 900, now: now, length: length, end: now + 86_400)
                #expect(
                    answer.window.map { Int($0.start.timeIntervalSince1970) } == expected?.start, "\(now)")
                guard let window = answer.window, let expected else { continue }
                #expect(abs(window.averageMinor - expected.average) < 1e-9)
                #expect(window.end.timeIntervalSince(window.start) == Double(length) * 900)
            }
        }
    }

    /// Compared with trying every quarter, on random days: quarters and hours,
    /// holes, equal and negative prices, few and many slots, any moment.
    @Test func everyWindowIsTheOneThatTryingAllFinds() {
        var random = Seeded(state: 20_261_025)
        for _ in 0..<100_000 {
            let isHourly = Int.random(in: 0..<4, using: &random) == 0
            let spread = [0, 1, 3, 200].randomElement(using: &random) ?? 1
            let base = [0, -50, 100].randomElement(using: &random) ?? 0
            let holes = [0, 0, 6, 30].randomElement(using: &random) ?? 0
            let count = Int.random(in: 0...(isHourly ? 12 : 40), using: &random)
            let totals: [Double?] = (0..<count).map { _ in
                if Int.random(in: 0..<100, using: &random) < holes { return nil }
                return Double(base + Int.random(in: -spread...spread, using: &random))
            }
            let offset = Int.random(in: -2...8, using: &random) * 900
            let prices = Prices(
                slots: slots(
                    from: midnight24 + offset * (isHourly ? 4 : 1), minutes: isHourly ? 60 : 15, totals))
            let now = midnight24 + Int.random(in: -1_000...20_000, using: &random)
            let length = Int.random(in: 1...16, using: &random)
            let horizon = Int.random(in: 4...12, using: &random)
            let answer = prices.cheapest(
                hours: Double(length) / 4, now: at(now), horizonHours: Double(horizon))
            let expected = tryAll(
                totals, from: midnight24 + offset * (isHourly ? 4 : 1), step: isHourly ? 3_600 : 900,
                now: now,
                length: length, end: now + max(horizon * 3_600, length * 900))
            guard answer.window.map({ Int($0.start.timeIntervalSince1970) }) == expected?.start,
                answer.window.map({ abs($0.averageMinor - (expected?.average ?? .infinity)) < 1e-9 }) ?? true
            else {
                Issue.record(
                    "\(totals) at \(now - midnight24), \(length) quarters: \(answer) and not \(String(describing: expected))"
                )
                return
            }
        }
    }

    /// The same on whole days, also those of a clock change: quarters and hours side by side, holes,
    /// the horizon of 24 hours that the bridge uses, and a window answered before.
    @Test func onWholeDaysTooAndARunningWindowIsKept() {
        var random = Seeded(state: 20_270_328)
        var kept = 0
        for round in 0..<6_000 {
            let day = RandomDay(random: &random, first: midnight24)
            let prices = Prices(slots: day.slots.shuffled(using: &random))
            let now = midnight24 + Int.random(in: -7_200...(day.totals.count * 900), using: &random)
            let length = Int.random(in: 1...48, using: &random)
            // Running, over, ahead, of another length or across a hole.
            var running: CheapestWindow?
            if round % 3 != 0 {
                let begin = now / 900 * 900 + Int.random(in: -length...1, using: &random) * 900
                let other = length + (Int.random(in: 0..<5, using: &random) == 0 ? 1 : 0)
                running = CheapestWindow(start: at(begin), end: at(begin + other * 900), averageMinor: 7)
            }
            let answer = prices.cheapest(hours: Double(length) / 4, now: at(now), running: running)
            if let running, day.isKept(running, now: now, length: length) {
                kept += 1
                guard answer.window == running else {
                    Issue.record("round \(round): \(answer) and not \(running)")
                    return
                }
                continue
            }
            let expected = tryAll(
                day.totals, from: midnight24, step: 900, now: now, length: length, end: now + 86_400)
            guard answer.window.map({ Int($0.start.timeIntervalSince1970) }) == expected?.start,
                answer.window.map({ abs($0.averageMinor - (expected?.average ?? .infinity)) < 1e-9 }) ?? true
            else {
                Issue.record("round \(round): \(answer) and not \(String(describing: expected))")
                return
            }
        }
        #expect(kept > 500)
    }

    /// What lies further ahead than 24 hours is not looked at, however cheap (box-api.md §H).
    @Test func thePricesOfTheNext24HoursCount() {
        let prices = Prices(
            slots: slots(from: midnight24, minutes: 60, (0..<48).map { $0 == 25 ? 0 : $0 == 9 ? 4 : 9 }))
        #expect(start(prices.cheapest(hours: 1, now: at(midnight24))) == 9 * 3_600)
        #expect(start(prices.cheapest(hours: 1, now: at(midnight24 + 2 * 3_600))) == 25 * 3_600)
        #expect(prices.cheapest(hours: 1, now: at(midnight24)).pricesUntil == at(midnight24 + 48 * 3_600))
    }

    private func tryAll(
        _ totals: [Double?], from first: Int, step: Int, now: Int, length: Int, end: Int
    ) -> (start: Int, average: Double)? {
        func price(_ second: Int) -> Double? {
            let index = second - first
            guard index >= 0, index / step < totals.count else { return nil }
            return totals[index / step]
        }
        var best: (start: Int, sum: Double)?
        var start = (now + 899) / 900 * 900
        search: while start + length * 900 <= end {
            var sum = 0.0
            for quarter in 0..<length {
                guard let price = price(start + quarter * 900) else {
                    start += 900
                    continue search
                }
                sum += price
            }
            if best.map({ sum < $0.sum }) ?? true { best = (start, sum) }
            start += 900
        }
        return best.map { ($0.start, $0.sum / Double(length)) }
    }
}

/// One or two days of 92, 96 or 100 quarters, in slots of either length.
private struct RandomDay {
    /// The price of each quarter; `nil` where nothing is published.
    var totals: [Double?] = []
    var slots: [PriceSlot] = []
    let first: Int

    init(random: inout Seeded, first: Int) {
        self.first = first
        let days = Int.random(in: 1...2, using: &random)
        let count = (0..<days).reduce(0) { sum, _ in
            sum + ([92, 96, 100].randomElement(using: &random) ?? 96)
        }
        let hourly = [0, 20, 50, 100].randomElement(using: &random) ?? 0
        let holes = [0, 0, 1, 4].randomElement(using: &random) ?? 0
        let spread = [0, 2, 300].randomElement(using: &random) ?? 1
        while totals.count < count {
            let isHour = totals.count % 4 == 0 && Int.random(in: 0..<100, using: &random) < hourly
            let quarters = isHour ? 4 : 1
            let isHole = Int.random(in: 0..<100, using: &random) < holes
            // Eighths are exact, so that equal sums are equal.
            let total = isHole ? nil : Double(Int.random(in: -spread...spread, using: &random)) / 8
            let start = first + totals.count * 900
            if let total {
                slots.append(
                    PriceSlot(start: at(start), end: at(start + quarters * 900), totalMinor: total))
            }
            totals += Array(repeating: total, count: quarters)
        }
    }

    /// It is running, as long as asked for, and every quarter of it is published.
    func isKept(_ window: CheapestWindow, now: Int, length: Int) -> Bool {
        let begin = Int(window.start.timeIntervalSince1970)
        let end = Int(window.end.timeIntervalSince1970)
        guard begin <= now, now < end, end - begin == length * 900 else { return false }
        return stride(from: begin, to: end, by: 900).allSatisfy { second in
            let index = (second - first) / 900
            return second >= first && index < totals.count && totals[index] != nil
        }
    }
}
