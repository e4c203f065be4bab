import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText
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

        /// The energy as it is shown now.
        mutating func energy() -> EnergyBoard? {
            var site = SiteState(link: Link(state: .live, since: wall))
            reader.show(in: &site, plan: nil, isPlanOld: false, wall: wall)
            return site.energy
        }

        mutating func answer(_ kind: AskBook.Kind, _ text: String) {
            _ = reader.finished(
                kind, .success(.api(APIAnswer(status: 200, headers: [:], body: Array(text.utf8)))), at: now,
                wall: wall)
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

    @Test func energyIsAskedForEachFiveMinutes() throws {
        var bench = try Bench(hour: 10)
        let ask = try #require(bench.look().first { $0.kind == .energy })
        guard case .api(let request) = ask.question else {
            Issue.record("not by the passthrough")
            return
        }
        #expect(request.path == "/api/energy/history" && request.query["bucket"] == "5m")
        #expect(request.priority == .history)
        let until = Int64(bench.wall.timeIntervalSince1970) * 1_000
        bench.answer(.energy, #"{"since_ms":0,"until_ms":\#(until),"points":[]}"#)
        // The five minutes turn for it half a minute after they do.
        bench.wall += 29
        #expect(!bench.look().contains { $0.kind == .energy })
        bench.wall += 1
        #expect(bench.look().contains { $0.kind == .energy })
    }

    /// What a box says that has no such route: over the session never a 404, behind some proxies one.
    static let noRoute: [Result<RequestTable.Answer, BoxRequestError>] = [
        .failure(.refused(BoxRefusal(code: "E_UNKNOWN_OP", args: ["t": "api.req", "field": "path"]))),
        .success(.api(APIAnswer(status: 404, headers: [:], body: []))),
    ]

    @Test(arguments: noRoute) func aBoxWithoutALedgerTellsOfItsDay(
        refusal: Result<RequestTable.Answer, BoxRequestError>
    ) throws {
        var bench = try Bench(hour: 10)
        _ = bench.look()
        #expect(bench.reader.finished(.energy, refusal, at: bench.now, wall: bench.wall) == nil)
        let ask = try #require(bench.look().first { $0.kind == .energy })
        guard case .api(let request) = ask.question else {
            Issue.record("not by the passthrough")
            return
        }
        #expect(request.path == "/api/energy/daily" && request.query == ["days": "1"])
        let days =
            #"{"tz":"Europe/Stockholm","days":[{"day":"2026-11-30","import_wh":5249.9,"export_wh":0,"#
            + #""pv_wh":120,"bat_charged_wh":0,"bat_discharged_wh":0,"load_wh":8000}]}"#
        bench.answer(.energy, days)
        let shown = bench.energy()
        let board = try #require(shown)
        #expect(board.todayKWh[.gridImport] == 5.24 && board.todayKWh[.gridExport] == 0)
        // Its car is in none of these numbers, and no total can be made of them.
        #expect(board.todayKWh[.car] == nil && board.totalsKWh.isEmpty)
        // A day that is not today's, and one without data, say nothing.
        bench.wall += 14 * 3_600
        #expect(bench.energy()?.todayKWh.isEmpty == true)
        #expect(bench.look().contains { $0.kind == .energy })
        bench.answer(.energy, #"{"days":[{"day":"2026-12-01","import_wh":0,"load_wh":0}]}"#)
        #expect(bench.energy()?.todayKWh.isEmpty == true)
        // Neither way: it is left alone until it restarts.
        bench.wall += 400
        #expect(bench.look().contains { $0.kind == .energy })
        #expect(bench.reader.finished(.energy, refusal, at: bench.now, wall: bench.wall) == nil)
        bench.wall += 4_000
        #expect(!bench.look().contains { $0.kind == .energy })
        bench.reader.restarted()
        guard case .api(let again) = bench.look().first(where: { $0.kind == .energy })?.question else {
            Issue.record("not asked again")
            return
        }
        #expect(again.path == "/api/energy/history")
    }

    @Test(arguments: noRoute) func aBoxWithoutThePriceRouteIsAskedByMessage(
        refusal: Result<RequestTable.Answer, BoxRequestError>
    ) throws {
        var bench = try Bench(hour: 10)
        _ = bench.look()
        #expect(bench.reader.finished(.prices, refusal, at: bench.now, wall: bench.wall) == nil)
        guard case .price = bench.look().first(where: { $0.kind == .prices })?.question else {
            Issue.record("not by message")
            return
        }
    }

    /// A total of 1234.5 kWh, then a box that starts again and says zero, then nothing, then the truth.
    @Test func aTotalNeverFallsWhatTheBoxAnswersAfterARestart() throws {
        var bench = try Bench(hour: 10)
        let since = Int64(bench.wall.timeIntervalSince1970) * 1_000 - 3_600_000
        let kept = try JSONValue(
            parsing: #"{"complete":true,"ledger":{"since_ms":\#(since),"answered_until_ms":\#(since),"#
                + #""recent":[],"totals_wh":{"grid_import":1234500}}}"#)
        func bucket(_ wattHours: String) -> String {
            #"{"since_ms":\#(since),"until_ms":\#(since + 3_600_000),"points":[{"flow":"grid_import","#
                + #""bucket_start_ms":\#(since + 1_200_000),"bucket_len_ms":300000,"energy_wh":\#(wattHours)}]}"#
        }
        let nothing = #"{"since_ms":\#(since),"until_ms":\#(since + 3_600_000),"points":[]}"#
        let answers: [(text: String, total: Double)] = [
            (bucket("0"), 1_234.5), (bucket("null"), 1_234.5), (nothing, 1_234.5), ("null", 1_234.5),
            (bucket("100"), 1_234.6), (bucket("0"), 1_234.6), (bucket("100"), 1_234.6),
        ]
        var disk: [String: JSONValue] = ["energy": kept]
        for (place, answer) in answers.enumerated() {
            // The bridge, the box, or both start again before each answer.
            if place % 3 != 1 {
                var next = BoardReader(settings: .init(isWanted: true))
                #expect(next.remember { disk[$0] }.isEmpty)
                bench.reader = next
                #expect(bench.energy()?.totalsKWh[.gridImport] ?? 0 >= 1_234.5, "before any answer")
            }
            if place % 3 != 0 { bench.reader.restarted() }
            bench.reader.sessionStarted()
            bench.wall += 3_600
            #expect(bench.look().contains { $0.kind == .energy })
            bench.answer(.energy, answer.text)
            #expect(bench.energy()?.totalsKWh[.gridImport] == answer.total, "\(answer.text)")
            for (name, value) in bench.reader.unsaved() { disk[name] = try JSONValue(parsing: value.bytes) }
        }
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
