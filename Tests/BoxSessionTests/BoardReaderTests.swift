import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText
import Testing

@testable import BoxSession

@Suite struct BoardReaderTests {
    @Test func pricesAreAskedForByDayAndState() throws {
        var bench = try BoardBench(hour: 0.5)
        #expect(bench.pass(hours: 13.4, days: 1) == 1)
        // Late from two o'clock on: each quarter, until tomorrow is there.
        #expect(bench.pass(hours: 2.1, days: 1) == 9)
        #expect(bench.pass(hours: 0.3, days: 2) == 1)
        #expect(bench.pass(hours: 7.5, days: 2) == 0)
        // The next day at midnight, and no more.
        #expect(bench.pass(hours: 10, days: 1) == 1)
    }

    @Test func theExactFormIsAskedForHouseholdDays() throws {
        var bench = try BoardBench(hour: 10)
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
        var bench = try BoardBench(hour: 10)
        bench.capabilities = ["price.spot"]
        let asks = bench.look()
        #expect(asks.map(\.kind) == [.prices])
        guard case .price = asks.first?.question else {
            Issue.record("not by message")
            return
        }
    }

    @Test func pricesThatAreOffAreAskedForOnceADay() throws {
        var bench = try BoardBench(hour: 10)
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
        var bench = try BoardBench(hour: 10)
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

    /// A total of 1234.5 kWh, then a box that starts again and says zero, then nothing, then the truth.
    @Test func aTotalNeverFallsWhatTheBoxAnswersAfterARestart() throws {
        var bench = try BoardBench(hour: 10)
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
        var bench = try BoardBench(hour: 10)
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
