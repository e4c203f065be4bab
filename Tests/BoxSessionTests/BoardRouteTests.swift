import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText
import Testing

@testable import BoxSession

/// What is asked when a route of the box gives nothing, once or for long.
@Suite struct BoardRouteTests {
    /// What a box says that has no such route: over the session never a 404, behind some proxies one.
    static let noRoute: [Result<RequestTable.Answer, BoxRequestError>] = [
        .failure(.refused(BoxRefusal(code: "E_UNKNOWN_OP", args: ["t": "api.req", "field": "path"]))),
        .success(.api(APIAnswer(status: 404, headers: [:], body: []))),
    ]

    @Test(arguments: noRoute) func aBoxWithoutALedgerTellsOfItsDay(
        refusal: Result<RequestTable.Answer, BoxRequestError>
    ) throws {
        var bench = try BoardBench(hour: 10)
        _ = bench.look()
        #expect(bench.reader.finished(.energy, refusal, at: bench.now, wall: bench.wall) != nil)
        bench.wall += 30
        #expect(bench.path(.energy) == "/api/energy/history", "one answer proves nothing")
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
        // The ledger is asked for each hour, and one more refusal is enough.
        #expect(bench.path(.energy) == "/api/energy/history")
        #expect(bench.reader.finished(.energy, refusal, at: bench.now, wall: bench.wall) == nil)
        #expect(bench.path(.energy) == "/api/energy/daily")
        bench.answer(.energy, #"{"days":[{"day":"2026-12-01","import_wh":0,"load_wh":0}]}"#)
        #expect(bench.energy()?.todayKWh.isEmpty == true)
        // What told of days an hour ago is asked patiently.
        bench.wall += 400
        #expect(bench.path(.energy) == "/api/energy/daily")
        #expect(bench.reader.finished(.energy, refusal, at: bench.now, wall: bench.wall) != nil)
        bench.reader.restarted()
        bench.wall += 30
        #expect(bench.path(.energy) == "/api/energy/history")
    }

    @Test(arguments: noRoute) func aBoxThatTellsNothingOfEnergyIsAskedAgainEachHour(
        refusal: Result<RequestTable.Answer, BoxRequestError>
    ) throws {
        var bench = try BoardBench(hour: 1)
        var paths: [String] = []
        for _ in 0..<190 {
            if let path = bench.path(.energy) {
                paths.append(path)
                _ = bench.reader.finished(.energy, refusal, at: bench.now, wall: bench.wall)
            }
            bench.wall += 60
        }
        // Twice each, then once an hour.
        #expect(paths.count { $0 == "/api/energy/history" } == 5, "\(paths)")
        #expect(paths.count { $0 == "/api/energy/daily" } == 5, "\(paths)")
    }

    /// Faults that say nothing about routes.
    static let lasting: [Result<RequestTable.Answer, BoxRequestError>] = [
        .success(.api(APIAnswer(status: 500, headers: [:], body: []))),
        .success(.api(APIAnswer(status: 403, headers: [:], body: []))),
        .success(.api(APIAnswer(status: 200, headers: [:], body: Array("<html>".utf8)))),
        .failure(.timedOut),
        .failure(.refused(BoxRefusal(code: "E_UNAVAILABLE", args: [:]))),
    ]

    /// What was told before comes again; meanwhile the totals wait, and the day is not replaced.
    @Test(arguments: noRoute + lasting) func someFailuresChangeNothingAboutEnergy(
        failure: Result<RequestTable.Answer, BoxRequestError>
    ) throws {
        var bench = try BoardBench(hour: 10)
        _ = bench.look()
        let start = Int64(bench.wall.timeIntervalSince1970) * 1_000
        bench.answer(
            .energy,
            #"{"since_ms":\#(start - 36_000_000),"until_ms":\#(start),"points":[{"flow":"vehicle_charge","#
                + #""bucket_start_ms":\#(start - 3_600_000),"bucket_len_ms":300000,"energy_wh":1000}]}"#)
        #expect(bench.energy()?.todayKWh[.car] == 1)
        bench.wall += 300
        #expect(bench.path(.energy) == "/api/energy/history")
        for pause in [30.0, 60, 120, 240] {
            #expect(bench.reader.finished(.energy, failure, at: bench.now, wall: bench.wall) != nil)
            #expect(bench.energy()?.todayKWh[.car] == 1)
            bench.wall += pause
            #expect(bench.path(.energy) == "/api/energy/history")
        }
        let now = Int64(bench.wall.timeIntervalSince1970) * 1_000
        bench.answer(.energy, #"{"since_ms":\#(start - 36_000_000),"until_ms":\#(now),"points":[]}"#)
        #expect(bench.energy()?.countedUntil == bench.wall - 600)
    }

    @Test(arguments: noRoute) func aBoxWithoutThePriceRouteIsAskedByMessageForAnHour(
        refusal: Result<RequestTable.Answer, BoxRequestError>
    ) throws {
        var bench = try BoardBench(hour: 10)
        #expect(bench.path(.prices) == "/api/prices")
        #expect(bench.reader.finished(.prices, refusal, at: bench.now, wall: bench.wall) != nil)
        bench.wall += 30
        #expect(bench.path(.prices) == "/api/prices", "one answer proves nothing")
        #expect(bench.reader.finished(.prices, refusal, at: bench.now, wall: bench.wall) == nil)
        #expect(bench.path(.prices) == "price.get")
        try bench.tellByMessage()
        #expect(bench.total() == 1.23)
        bench.wall += 3_599
        #expect(bench.path(.prices) == nil)
        bench.wall += 1
        #expect(bench.path(.prices) == "/api/prices")
        #expect(bench.reader.finished(.prices, refusal, at: bench.now, wall: bench.wall) == nil)
        #expect(bench.path(.prices) == "price.get")
        try bench.tellByMessage()
        // Another session, perhaps of a box that learned it.
        bench.reader.sessionStarted()
        #expect(bench.path(.prices) == "/api/prices")
        _ = bench.reader.finished(
            .prices, .success(.api(bench.prices(days: 2))), at: bench.now, wall: bench.wall)
        #expect(bench.total() == 1.234)
        bench.wall += 86_400
        #expect(bench.path(.prices) == "/api/prices")
    }

    /// Prices that are there stay exact, however long the box fails; a day later they are exact again.
    @Test(arguments: noRoute + lasting) func pricesAreExactAfterAFailure(
        failure: Result<RequestTable.Answer, BoxRequestError>
    ) throws {
        var bench = try BoardBench(hour: 10)
        _ = bench.look()
        _ = bench.reader.finished(
            .prices, .success(.api(bench.prices(days: 1))), at: bench.now, wall: bench.wall)
        bench.wall += 4.1 * 3_600
        #expect(bench.path(.prices) == "/api/prices")
        for pause in [30.0, 60, 120] {
            #expect(bench.reader.finished(.prices, failure, at: bench.now, wall: bench.wall) != nil)
            #expect(bench.total() == 1.234)
            bench.wall += pause
            #expect(bench.path(.prices) == "/api/prices")
        }
        _ = bench.reader.finished(
            .prices, .success(.api(bench.prices(days: 2))), at: bench.now, wall: bench.wall)
        #expect(bench.total() == 1.234)
        bench.wall += 86_400
        #expect(bench.path(.prices) == "/api/prices")
    }

    /// Whole öre are better than nothing about the rest of today.
    @Test(arguments: lasting) func missingPricesAreTakenByMessageWhenTheRouteFailsForLong(
        failure: Result<RequestTable.Answer, BoxRequestError>
    ) throws {
        var bench = try BoardBench(hour: 10)
        for pause in [30.0, 60, 120, 240, 480] {
            #expect(bench.path(.prices) == "/api/prices")
            #expect(bench.reader.finished(.prices, failure, at: bench.now, wall: bench.wall) != nil)
            bench.wall += pause
        }
        #expect(bench.path(.prices) == "/api/prices")
        #expect(bench.reader.finished(.prices, failure, at: bench.now, wall: bench.wall) == nil)
        #expect(bench.path(.prices) == "price.get")
        try bench.tellByMessage()
        #expect(bench.total() == 1.23)
        bench.wall += 3_600
        #expect(bench.path(.prices) == "/api/prices")
        // Now nothing is missing, so it is the exact form or none.
        #expect(bench.reader.finished(.prices, failure, at: bench.now, wall: bench.wall) != nil)
        bench.wall += 30
        #expect(bench.path(.prices) == "/api/prices")
    }

    @Test func aRouteThatIsTriedAgainHasItsMoment() throws {
        var bench = try BoardBench(hour: 10)
        for _ in 0..<2 {
            _ = bench.path(.prices)
            _ = bench.reader.finished(.prices, Self.noRoute[0], at: bench.now, wall: bench.wall)
            bench.wall += 30
        }
        _ = bench.path(.prices)
        try bench.tellByMessage()
        bench.answer(.energy, #"{"since_ms":0,"until_ms":0,"points":[]}"#)
        bench.capabilities = ["api.passthrough", "price.spot"]
        bench.wall += 3_600 - 60
        _ = bench.look()
        let next = bench.reader.nextDeadline(at: bench.now, wall: bench.wall)
        #expect(next.map { $0 <= bench.now + .seconds(30) } == true)
        // Without a session its time may be long past, and is no reason to wake up.
        bench.reader.sessionStarted()
        bench.wall += 3_600
        let asleep = bench.reader.nextDeadline(at: bench.now, wall: bench.wall)
        #expect(asleep.map { $0 > bench.now } ?? true)
    }
}
