import EnergyModel
import FoundationEssentials
import JSONText
import Testing

private struct Missing: Error {}

/// What must be there; for calls that change what they are called on.
private func unwrap<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw Missing() }
    return value
}

@Suite struct PriceBoardTests {
    /// Slots of `seconds` from `start` on.
    private func prices(_ start: Date, _ totals: [Double], seconds: Double = 900) -> Prices {
        Prices(
            area: "SE3", currency: "SEK",
            slots: totals.enumerated().map { index, total in
                PriceSlot(
                    start: start.addingTimeInterval(Double(index) * seconds),
                    end: start.addingTimeInterval(Double(index + 1) * seconds), totalMinor: total)
            })
    }

    private func tracker(_ prices: Prices, _ rule: CheapRule = .level(3)) -> PriceTracker {
        var tracker = PriceTracker(rules: PriceRules(cheapNow: rule))
        tracker.read(prices)
        return tracker
    }

    @Test(arguments: [CheapRule.level(3), .under(0.5), .window(hours: 3)])
    func cheapNowChangesOnlyAtEdges(rule: CheapRule) throws {
        let zone = try stockholm()
        var dice = Seeded(state: 7)
        let midnight = zone.start(of: LocalDay(year: 2026, month: 11, day: 30))
        var tracker = tracker(
            prices(midnight, (0..<48).map { _ in .random(in: -50...200, using: &dice) }, seconds: 3_600), rule
        )
        var last: Bool?
        for second in stride(from: 0, to: 86_400, by: 60) {
            let now = midnight.addingTimeInterval(Double(second) + 0.5)
            let isCheap = try unwrap(tracker.board(zone: zone, isOld: false, now: now)?.isCheapNow)
            if let last, last != isCheap { #expect(second % 900 == 0, "\(second)") }
            last = isCheap
        }
    }

    /// A clock that a time server pulls to and fro by seconds, and now and then by half a minute:
    /// within minutes of a change nothing is taken back, and nothing changes between edges.
    @Test(arguments: [CheapRule.level(3), .under(0.5), .window(hours: 2)], [UInt64](1...3))
    func cheapNowDoesNotFlapWhileTheClockJitters(rule: CheapRule, seed: UInt64) throws {
        let zone = try stockholm()
        var dice = Seeded(state: seed)
        let midnight = zone.start(of: LocalDay(year: 2026, month: 10, day: 25))
        var tracker = tracker(
            prices(midnight, (0..<196).map { _ in .random(in: -50...150, using: &dice) }), rule)
        var last: Bool?
        var changedAt = -10_000
        var changes = 0
        var off = 0.0
        for second in 0..<90_000 {
            if second % 700 == 0 { off = .random(in: -40...40, using: &dice) }
            let now = midnight.addingTimeInterval(Double(second) + off + .random(in: -2...2, using: &dice))
            guard now >= midnight else { continue }
            let isCheap = try unwrap(tracker.board(zone: zone, isOld: false, now: now)?.isCheapNow)
            if let last, last != isCheap {
                changes += 1
                #expect((second + 50) % 900 <= 100, "\(second) is at no edge")
                #expect(second - changedAt >= 780, "\(second) takes back what \(changedAt) said")
                changedAt = second
            }
            last = isCheap
        }
        #expect(changes >= 2)
    }

    /// Tomorrow's prices are asked for at an edge, so their answer comes a moment after it.
    @Test(arguments: [CheapRule.level(3), .window(hours: 2)])
    func pricesThatComeJustAfterTheEdgeCountFromTheNext(rule: CheapRule) throws {
        let zone = try stockholm()
        let midnight = zone.start(of: LocalDay(year: 2026, month: 10, day: 26))
        let quarters = (0..<96).map { $0 / 4 == 14 ? 90.0 : 200 }
        var tracker = tracker(prices(midnight, quarters), rule)
        let edge = midnight.addingTimeInterval(14 * 3_600)
        func isCheap(_ seconds: Double) -> Bool? {
            tracker.board(zone: zone, isOld: false, now: edge.addingTimeInterval(seconds))?.isCheapNow
        }
        if case .window = rule {} else { #expect(isCheap(-1) == false) }
        let before = try unwrap(isCheap(0.5))
        let tomorrow = Array(repeating: -300.0, count: 96)
        tracker.read(prices(midnight, quarters + tomorrow))
        for second in [0.6, 2, 60, 899] { #expect(isCheap(second) == before) }
        #expect(isCheap(900) == false)
        // A price of now that is corrected counts at once.
        tracker.read(prices(midnight, quarters.map { $0 == 90 ? -400 : $0 } + tomorrow))
        #expect(isCheap(901) == (rule == .level(3)))
    }

    @Test func aClockThatIsSetBackALittleTakesNothingBack() throws {
        let zone = try stockholm()
        let midnight = zone.start(of: LocalDay(year: 2026, month: 11, day: 30))
        var tracker = tracker(prices(midnight, [10] + Array(repeating: 100, count: 95)))
        func total(_ second: Double) -> Double? {
            tracker.board(zone: zone, isOld: false, now: midnight.addingTimeInterval(second))?.slot?
                .totalMinor
        }
        #expect(total(899.9) == 10)
        #expect(total(900) == 100)
        #expect(total(899.99) == 100)
        #expect(total(500) == 10)
    }

    @Test(arguments: [
        (LocalDay(year: 2026, month: 3, day: 29), 92), (LocalDay(year: 2026, month: 10, day: 25), 100),
        (LocalDay(year: 2027, month: 3, day: 28), 92), (LocalDay(year: 2027, month: 10, day: 31), 100),
    ])
    func daysOfTheClockChangeHaveEveryQuarterOnce(day: LocalDay, quarters: Int) throws {
        let zone = try stockholm()
        let bounds = zone.bounds(of: day)
        var tracker = tracker(prices(bounds.lowerBound, (0..<quarters).map(Double.init)))
        for index in 0..<quarters {
            let now = bounds.lowerBound.addingTimeInterval(Double(index) * 900)
            let board = try unwrap(tracker.board(zone: zone, isOld: false, now: now))
            #expect(board.slot?.totalMinor == Double(index))
            #expect(board.grid.start == bounds.lowerBound && board.grid.totals.count == quarters)
            #expect(board.holes.isEmpty && !board.isStale && !board.isTomorrowKnown)
        }
    }

    @Test func aQuarterPastTwoComesTwiceInOctober() throws {
        let zone = try stockholm()
        let day = LocalDay(year: 2026, month: 10, day: 25)
        var tracker = tracker(prices(zone.start(of: day), (0..<100).map(Double.init)))
        let totals = ["2026-10-25T02:15:00+02:00", "2026-10-25T02:15:00+01:00"].map { text in
            instant(rfc3339: text).flatMap {
                tracker.board(zone: zone, isOld: false, now: $0)?.slot?.totalMinor
            }
        }
        #expect(totals == [9, 13])
    }

    @Test func missingTomorrowIsNoFault() throws {
        let zone = try stockholm()
        let day = LocalDay(year: 2026, month: 11, day: 30)
        let midnight = zone.start(of: day)
        let today = (0..<96).map { 50 + Double($0 % 7) }
        var tracker = tracker(prices(midnight, today))
        let now = midnight.addingTimeInterval(11 * 3_600)
        let before = try unwrap(tracker.board(zone: zone, isOld: false, now: now))
        let window = try #require(before.cheapest.first { $0.hours == 3 })
        #expect(
            window.window.map { $0.start >= now && $0.end <= midnight.addingTimeInterval(86_400) } == true)
        #expect(window.pricesUntil == midnight.addingTimeInterval(86_400))
        #expect(!before.isTomorrowKnown && !before.isStale && before.holes.isEmpty)
        tracker.read(prices(midnight, today + Array(repeating: -20, count: 96)))
        let after = try unwrap(tracker.board(zone: zone, isOld: false, now: now))
        #expect(after.isTomorrowKnown)
        #expect(after.cheapest.first { $0.hours == 3 }?.window?.averageMinor == -20)
    }

    @Test func negativeStaysNegativeAndEqualPricesAreOfTheMiddle() throws {
        let zone = try stockholm()
        let midnight = zone.start(of: LocalDay(year: 2026, month: 11, day: 30))
        var tracker = tracker(prices(midnight, Array(repeating: -5, count: 96)))
        let board = try unwrap(tracker.board(zone: zone, isOld: false, now: midnight))
        #expect(board.slot?.total == -0.05 && board.level == 4)
        #expect(board.cheapest.map { $0.window?.start } == [midnight, midnight, midnight])
        #expect(board.cheapest.allSatisfy { $0.window?.average == -0.05 && $0.isRunning })
    }

    @Test func tooFewHoursAreSaid() throws {
        let zone = try stockholm()
        let midnight = zone.start(of: LocalDay(year: 2026, month: 11, day: 30))
        var one = tracker(prices(midnight, [7]))
        let board = try unwrap(one.board(zone: zone, isOld: false, now: midnight))
        #expect(board.cheapest.allSatisfy { $0.window == nil && $0.knownHours == 0.25 })
        #expect(board.isStale && board.isCheapNow == false)
        var none = tracker(prices(midnight, []))
        let empty = try unwrap(none.board(zone: zone, isOld: false, now: midnight))
        #expect(empty.slot == nil && empty.level == nil && empty.isCheapNow == nil && empty.isStale)
        #expect(empty.cheapest.allSatisfy { $0.window == nil && $0.knownHours == 0 })
    }

    @Test func pricesThatEndedAreUnknownAndNotTheLastOnes() throws {
        let zone = try stockholm()
        let midnight = zone.start(of: LocalDay(year: 2026, month: 11, day: 30))
        var tracker = tracker(prices(midnight, Array(repeating: 80, count: 96)))
        let board = try unwrap(
            tracker.board(zone: zone, isOld: false, now: midnight.addingTimeInterval(86_400)))
        #expect(board.slot == nil && board.next == nil && board.isCheapNow == nil && board.isStale)
    }

    @Test func aWindowThatRunsSurvivesARestart() throws {
        let zone = try stockholm()
        let midnight = zone.start(of: LocalDay(year: 2026, month: 11, day: 30))
        let totals = (0..<96).map { $0 < 16 ? 10 + Double($0) : 100 }
        var first = tracker(prices(midnight, totals), .window(hours: 4))
        let started = first.board(zone: zone, isOld: false, now: midnight)?.cheapest.last?.window
        #expect(started?.start == midnight)
        var second = PriceTracker(rules: PriceRules(cheapNow: .window(hours: 4)))
        second.remember(try JSONValue(parsing: unwrap(first.json).bytes))
        let later = second.board(zone: zone, isOld: false, now: midnight.addingTimeInterval(7_200))
        #expect(later?.cheapest.last?.window == started && later?.isCheapNow == true)
        #expect(second.prices == first.prices)
    }
}

@Suite struct PlanBoardTests {
    private func answer(_ made: Date) -> PlanAnswer? {
        let slots = (0..<8).map { index in
            let start = Int64(made.timeIntervalSince1970 + Double(index) * 900) * 1_000
            return #"{"slot_start_ms":\#(start),"slot_len_min":15,"battery_w":\#(index < 4 ? 2000 : -500)}"#
        }
        let text =
            #"{"enabled":true,"plan":{"generated_at_ms":\#(Int64(made.timeIntervalSince1970) * 1_000),"#
            + #""actions":[\#(slots.joined(separator: ","))]}}"#
        return (try? JSONValue(parsing: text)).flatMap(PlanAnswer.init)
    }

    @Test func aPlanAgesAndEnds() throws {
        let made = at(1_796_029_200)
        let answer = try unwrap(self.answer(made))
        var tracker = PlanTracker()
        func board(_ minutes: Double, isOld: Bool = false) -> PlanBoard? {
            tracker.board(answer, deadlines: [], isOld: isOld, now: made.addingTimeInterval(minutes * 60))
        }
        #expect(board(1)?.day.now == .stores)
        #expect(board(1)?.day.until == made.addingTimeInterval(3_600))
        #expect(board(1)?.isStale == false)
        #expect(board(1, isOld: true)?.isStale == true)
        #expect(board(31)?.isStale == true && board(31)?.day.now == .stores)
        let gone = try #require(board(61))
        #expect(gone.day.now == nil && gone.isStale && gone.day.plannedAt == made)
        #expect(gone.day.quarters.allSatisfy { $0 == nil })
    }

    @Test func withoutAPlanThereIsNoBoard() {
        var tracker = PlanTracker()
        let board = tracker.board(nil, deadlines: [], isOld: false, now: at(1_796_029_200))
        #expect(board == nil)
        #expect(tracker.nextChange == nil)
    }
}

@Suite struct EnergyTrackerTests {
    /// A box's ledger: one bucket of some watt-hours per five minutes since `origin`.
    private struct Box {
        var origin: Date
        var missing: Set<Int> = []
        func answer(_ ask: Range<Date>, now: Date) -> EnergyHistory {
            var buckets: [EnergyHistory.Bucket] = []
            var start = ask.lowerBound
            while start < min(ask.upperBound, now) {
                let index = Int(start.timeIntervalSince(origin) / 300)
                if start >= origin, !missing.contains(index) {
                    // One that is still open has flowed in part.
                    let part = min(1, now.timeIntervalSince(start) / 300)
                    buckets.append(
                        .init(
                            flow: .gridImport, start: start, end: start.addingTimeInterval(300),
                            energyWh: Double(index % 13) * part))
                }
                start = start.addingTimeInterval(300)
            }
            return EnergyHistory(since: ask.lowerBound, until: ask.upperBound, buckets: buckets)
        }
        func sum(_ range: Range<Date>) -> Double {
            // One that reaches past the end is not counted yet.
            answer(range, now: .distantFuture).buckets.filter { $0.end <= range.upperBound }
                .reduce(0) { $0 + $1.energyWh }
        }
    }

    @Test(arguments: 0..<40)
    func totalsNeverFallDoubleOrSkipOverRestartsInAnyOrder(seed: UInt64) throws {
        let zone = try stockholm()
        var dice = Seeded(state: seed)
        let began = zone.start(of: LocalDay(year: 2026, month: 10, day: 24)).addingTimeInterval(50_000)
        var box = Box(origin: began.addingTimeInterval(-400_000))
        var tracker = EnergyTracker(start: .zero)
        var disk: JSONValue?
        var now = began
        var shown = 0.0
        for _ in 0..<300 {
            now = now.addingTimeInterval(.random(in: 1...2_000, using: &dice))
            switch Int.random(in: 0..<10, using: &dice) {
            case 0:  // The bridge restarts, with what it kept.
                tracker = EnergyTracker(start: .zero)
                if let disk {
                    let isUsable = tracker.remember(disk)
                    #expect(isUsable)
                }
            case 1: now = now.addingTimeInterval(.random(in: 0...200_000, using: &dice))  // The box is away.
            case 2: box.missing.insert(Int(now.timeIntervalSince(box.origin) / 300))  // It restarts: a gap.
            default:
                guard let ask = tracker.nextAsk(zone: zone, now: now) else { continue }
                // A question that is lost on the way changes nothing.
                guard Int.random(in: 0..<5, using: &dice) > 0 else { continue }
                tracker.add(box.answer(ask, now: now), zone: zone, now: now)
                disk = try JSONValue(parsing: unwrap(tracker.json).bytes)
            }
            let board = tracker.board(zone: zone, now: now)
            guard let total = board?.totalsKWh[.gridImport] else { continue }
            #expect(total >= shown)
            shown = total
        }
        now = now.addingTimeInterval(4_000)
        repeat {
            let ask = try unwrap(tracker.nextAsk(zone: zone, now: now))
            tracker.add(box.answer(ask, now: now), zone: zone, now: now)
        } while tracker.isBehind(now: now)
        let total = try #require(tracker.total)
        let wanted = box.sum(total.since..<total.answeredUntil)
        #expect(abs((total.totalsWh[.gridImport] ?? -1) - wanted) < 0.001)
        let midnight = zone.start(of: zone.day(of: now))
        let today = tracker.board(zone: zone, now: now)?.todayKWh[.gridImport] ?? 0
        #expect(abs(today * 1_000 - box.sum(midnight..<max(midnight, total.answeredUntil))) <= 10)
    }

    /// The box is away at the start, so its zone is known later, and the date may be the same.
    @Test func aZoneThatBecomesKnownLaterBeginsTheDayAnew() throws {
        let zone = try stockholm()
        let midnight = zone.start(of: LocalDay(year: 2026, month: 11, day: 30))
        let box = Box(origin: midnight.addingTimeInterval(-86_400))
        let now = midnight.addingTimeInterval(12 * 3_600)
        func today(_ zones: [Zone]) throws -> Double? {
            var tracker = EnergyTracker(start: .zero)
            for zone in zones {
                for _ in 0..<3 {
                    guard let ask = tracker.nextAsk(zone: zone, now: now) else { break }
                    tracker.add(box.answer(ask, now: now), zone: zone, now: now)
                }
            }
            return tracker.board(zone: zone, now: now)?.todayKWh[.gridImport]
        }
        let known = try unwrap(today([zone]))
        #expect(known > 0)
        #expect(try today([.utc, zone]) == known)
    }

    @Test func moreReadingsThanAreReadAreAskedForAgain() throws {
        func point(_ number: Int) -> JSONValue {
            [
                "flow": "grid_import", "bucket_start_ms": .int(Int64(number) * 300_000),
                "bucket_len_ms": 300_000, "energy_wh": 1,
            ]
        }
        func history(_ count: Int) throws -> EnergyHistory {
            let points = (0..<count).map { point($0 % 1_000) }
            return try unwrap(
                EnergyHistory(["since_ms": 300_000, "until_ms": 300_000_000, "points": .array(points)]))
        }
        #expect(try history(60_000).isTruncated == false)
        #expect(try history(60_001).isTruncated)
    }

    @Test func roundingTakesNothingBack() throws {
        let zone = try stockholm()
        let start = at(1_796_029_200)
        var tracker = EnergyTracker(start: .zero)
        _ = tracker.nextAsk(zone: zone, now: start)
        var shown: [Double] = []
        for wh in [5_244.0, 5_236, 5_241] {
            let history = EnergyHistory(
                since: start, until: start.addingTimeInterval(300),
                buckets: [
                    .init(flow: .house, start: start, end: start.addingTimeInterval(300), energyWh: wh)
                ])
            tracker.add(history, zone: zone, now: start.addingTimeInterval(1_000))
            shown.append(tracker.board(zone: zone, now: start)?.totalsKWh[.house] ?? -1)
        }
        #expect(shown == [5.24, 5.24, 5.24])
        let car = tracker.board(zone: zone, now: start)?.totalsKWh[.car]
        #expect(car == nil)
    }

    @Test func anEarlierHistoryIsShownOnlyWhenItIsRead() throws {
        let zone = try stockholm()
        let now = at(1_796_029_200)
        let box = Box(origin: now.addingTimeInterval(-20 * 86_400))
        var tracker = EnergyTracker(start: .backfill)
        var asks = 0
        repeat {
            let ask = try unwrap(tracker.nextAsk(zone: zone, now: now))
            #expect(ask.upperBound.timeIntervalSince(ask.lowerBound) <= 2_000 * 300)
            tracker.add(box.answer(ask, now: now), zone: zone, now: now)
            asks += 1
            let board = tracker.board(zone: zone, now: now)
            if tracker.isBehind(now: now) { #expect(board?.totalsKWh.isEmpty == true) }
        } while tracker.isBehind(now: now) && asks < 200
        let total = try unwrap(tracker.board(zone: zone, now: now)?.totalsKWh[.gridImport])
        let until = try #require(tracker.total?.answeredUntil)
        #expect(abs(total * 1_000 - box.sum(box.origin..<until)) < 10)
    }

    @Test func aDamagedMemoryIsNotCountedOn() {
        var tracker = EnergyTracker(start: .zero)
        let isUsable = tracker.remember(["ledger": ["since_ms": 1]])
        #expect(!isUsable)
        #expect(tracker.json == nil)
    }
}
