import BoxLink
import EnergyModel
import FoundationEssentials
import Testing

@testable import BoxSession

@Suite struct BoardReaderTests {
    /// A reader in Stockholm, its clock, and a box that has prices up to some moment.
    private struct Bench {
        var reader = BoardReader(settings: .init(isWanted: true))
        let zone: Zone
        var wall: Date
        var capabilities = ["api.passthrough", "price.spot"]
        var questions: [RequestTable.Question] = []

        init(hour: Double) throws {
            zone = try #require(Zone(named: "Europe/Stockholm"))
            wall = zone.start(of: LocalDay(year: 2026, month: 11, day: 30)).addingTimeInterval(hour * 3_600)
        }

        var now: Duration { .seconds(wall.timeIntervalSince1970) }

        mutating func look() -> [BoardReader.Ask] {
            let site = SiteState(
                link: Link(state: .live, since: wall),
                box: BoxFacts(
                    id: nil, build: "1", zone: nil, role: nil, scopes: nil, capabilities: capabilities))
            reader.observed(
                .init(site: site, controlRev: nil, isOpen: true), zone: zone, at: now, wall: wall)
            return reader.take(at: now, wall: wall)
        }

        func prices(days: Int) -> APIAnswer {
            let start = zone.start(of: zone.day(of: wall))
            let items = (0..<(days * 96)).map { index in
                let ms = Int64(start.timeIntervalSince1970 + Double(index) * 900) * 1_000
                return #"{"slot_ts_ms":\#(ms),"slot_len_min":15,"spot_ore_kwh":50,"total_ore_kwh":123.4}"#
            }
            let text = #"{"enabled":true,"currency":"SEK","items":[\#(items.joined(separator: ","))]}"#
            return APIAnswer(status: 200, headers: [:], body: Array(text.utf8))
        }

        /// Lets the hours pass minute by minute; the box has so many days of prices.
        mutating func pass(hours: Double, days: Int) -> Int {
            var asked = 0
            for _ in 0..<Int(hours * 60) {
                wall += 60
                for ask in look() {
                    guard ask.kind == .prices else {
                        _ = reader.finished(
                            ask.kind, .success(.api(APIAnswer(status: 404, headers: [:], body: []))), at: now,
                            wall: wall)
                        continue
                    }
                    asked += 1
                    _ = reader.finished(.prices, .success(.api(prices(days: days))), at: now, wall: wall)
                }
            }
            return asked
        }
    }

    @Test func pricesAreAskedForByDayAndState() throws {
        var bench = try Bench(hour: 0.5)
        #expect(bench.pass(hours: 13.4, days: 1) == 1)
        // Late from two o'clock on: each quarter, until tomorrow is there.
        #expect(bench.pass(hours: 2.1, days: 1) == 9)
        #expect(bench.pass(hours: 0.3, days: 2) == 1)
        #expect(bench.pass(hours: 7.5, days: 2) == 0)
        // The next day at midnight, and no more.
        #expect(bench.pass(hours: 10, days: 1) == 1)
    }

    @Test func theExactFormIsAskedForHouseholdDays() throws {
        var bench = try Bench(hour: 10)
        let ask = try #require(bench.look().first { $0.kind == .prices })
        let from = Int64(bench.zone.start(of: bench.zone.day(of: bench.wall)).timeIntervalSince1970) * 1_000
        guard case .api(let request) = ask.question else {
            Issue.record("not by the passthrough")
            return
        }
        #expect(request.path == "/api/prices")
        #expect(request.query == ["since_ms": "\(from)", "until_ms": "\(from + 2 * 86_400_000)"])
        _ = bench.reader.finished(
            .prices, .success(.api(bench.prices(days: 1))), at: bench.now, wall: bench.wall)
        var site = SiteState(link: Link(state: .live, since: bench.wall))
        bench.reader.show(in: &site, plan: nil, isPlanOld: false, wall: bench.wall)
        #expect(site.prices?.slot?.total == 1.234)
        #expect(site.plan == nil && site.energy != nil)
    }

    @Test func aBoxWithoutThePassthroughIsAskedByMessage() throws {
        var bench = try Bench(hour: 10)
        bench.capabilities = ["price.spot"]
        let asks = bench.look()
        #expect(asks.map(\.kind) == [.prices])
        guard case .price = asks.first?.question else {
            Issue.record("not by message")
            return
        }
    }

    @Test func aRefusedPassthroughFallsBackToTheMessage() throws {
        var bench = try Bench(hour: 10)
        _ = bench.look()
        let refused = APIAnswer(status: 403, headers: [:], body: [])
        let fault = bench.reader.finished(.prices, .success(.api(refused)), at: bench.now, wall: bench.wall)
        #expect(fault == nil)
        guard case .price = bench.look().first(where: { $0.kind == .prices })?.question else {
            Issue.record("not by message")
            return
        }
    }

    @Test func pricesThatAreOffAreAskedForOnceADay() throws {
        var bench = try Bench(hour: 10)
        _ = bench.look()
        let off = APIAnswer(
            status: 200, headers: [:], body: Array(#"{"items":[],"enabled":false}"#.utf8))
        _ = bench.reader.finished(.prices, .success(.api(off)), at: bench.now, wall: bench.wall)
        var site = SiteState(link: Link(state: .live, since: bench.wall))
        bench.reader.show(in: &site, plan: nil, isPlanOld: false, wall: bench.wall)
        #expect(site.prices == nil)
        #expect(bench.pass(hours: 13, days: 1) == 0)
        #expect(bench.pass(hours: 2, days: 1) == 1)
    }

    @Test func energyIsAskedForEachFiveMinutesAndNeverAgainWithoutALedger() throws {
        var bench = try Bench(hour: 10)
        let ask = try #require(bench.look().first { $0.kind == .energy })
        guard case .api(let request) = ask.question else {
            Issue.record("not by the passthrough")
            return
        }
        #expect(request.path == "/api/energy/history" && request.query["bucket"] == "5m")
        #expect(request.priority == .history)
        let none = APIAnswer(status: 404, headers: [:], body: [])
        _ = bench.reader.finished(.energy, .success(.api(none)), at: bench.now, wall: bench.wall)
        bench.wall += 4_000
        #expect(!bench.look().contains { $0.kind == .energy })
        bench.reader.restarted()
        #expect(bench.look().contains { $0.kind == .energy })
    }

    @Test func aFailureIsTriedAgainAndTheOldDataIsMarked() throws {
        var bench = try Bench(hour: 10)
        _ = bench.look()
        _ = bench.reader.finished(
            .prices, .success(.api(bench.prices(days: 1))), at: bench.now, wall: bench.wall)
        bench.wall += 4.1 * 3_600
        #expect(bench.look().contains { $0.kind == .prices })
        #expect(
            bench.reader.finished(.prices, .failure(.timedOut), at: bench.now, wall: bench.wall) != nil)
        var site = SiteState(link: Link(state: .live, since: bench.wall))
        bench.reader.show(in: &site, plan: nil, isPlanOld: false, wall: bench.wall)
        #expect(site.prices?.isStale == true && site.prices?.slot != nil)
        bench.wall += 29
        #expect(!bench.look().contains { $0.kind == .prices })
        bench.wall += 1
        #expect(bench.look().contains { $0.kind == .prices })
    }
}
