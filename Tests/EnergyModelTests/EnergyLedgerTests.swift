import EnergyModel
import FoundationEssentials
import JSONText
import Testing

private let start = 1_792_792_800

@Suite struct EnergyLedgerTests {
    private func bucket(_ index: Int, _ wattHours: Double, _ flow: EnergyFlow = .gridImport, length: Int = 1)
        -> EnergyHistory.Bucket
    {
        EnergyHistory.Bucket(
            flow: flow, start: at(start + index * 300), end: at(start + (index + length) * 300),
            energyWh: wattHours)
    }

    private func history(_ range: Range<Date>, _ all: [EnergyHistory.Bucket]) -> EnergyHistory {
        EnergyHistory(
            since: range.lowerBound, until: range.upperBound,
            buckets: all.filter { $0.start >= range.lowerBound && $0.end <= range.upperBound })
    }

    @Test func onlyClosedBucketsCountAndOnlyOnce() {
        var ledger = EnergyLedger(since: at(start))
        let all = EnergyHistory(
            since: at(start), until: at(start + 900), buckets: [bucket(0, 10), bucket(1, 20), bucket(2, 5)])
        ledger.add(all, now: at(start + 1_200))
        #expect(ledger.totalsWh == [.gridImport: 30])
        ledger.add(all, now: at(start + 1_200))
        #expect(ledger.totalsWh == [.gridImport: 30])
        ledger.add(all, now: at(start + 1_500))
        #expect(ledger.totalsWh == [.gridImport: 35])
        #expect(ledger.totalsWh[.car] == nil)
    }

    @Test func aTotalNeverFalls() {
        var ledger = EnergyLedger(since: at(start))
        let ask = at(start)..<at(start + 900)
        ledger.add(history(ask, [bucket(0, 10)]), now: at(start + 2_000))
        ledger.add(history(ask, [bucket(0, 4)]), now: at(start + 2_100))
        ledger.add(history(ask, []), now: at(start + 2_200))
        ledger.add(history(ask, [bucket(0, 0)]), now: at(start + 2_300))
        #expect(ledger.totalsWh == [.gridImport: 10])
        ledger.add(history(ask, [bucket(0, 12)]), now: at(start + 2_400))
        #expect(ledger.totalsWh == [.gridImport: 12])
    }

    @Test func aLateBucketIsAddedWhileItIsRemembered() {
        var ledger = EnergyLedger(since: at(start))
        ledger.add(history(at(start)..<at(start + 6_000), [bucket(3, 10)]), now: at(start + 7_000))
        ledger.add(
            history(at(start)..<at(start + 6_000), [bucket(0, 7), bucket(3, 10)]), now: at(start + 7_000))
        #expect(ledger.totalsWh == [.gridImport: 17])
        ledger.add(history(at(start + 6_000)..<at(start + 90_000), []), now: at(start + 91_000))
        ledger.add(
            history(at(start)..<at(start + 6_000), [bucket(0, 50), bucket(1, 50)]), now: at(start + 91_000))
        #expect(ledger.totalsWh == [.gridImport: 17])
    }

    @Test func aLongerBucketOverCountedOnesAddsOnlyTheDifference() {
        var ledger = EnergyLedger(since: at(start))
        ledger.add(
            history(at(start)..<at(start + 3_600), [bucket(0, 10), bucket(1, 10)]), now: at(start + 9_000))
        ledger.add(
            history(at(start)..<at(start + 3_600), [bucket(0, 25, length: 12)]), now: at(start + 9_000))
        #expect(ledger.totalsWh == [.gridImport: 25])
        // A part of what is counted as a whole, and one across its edge.
        ledger.add(
            history(at(start)..<at(start + 4_200), [bucket(0, 99), bucket(11, 99, length: 2)]),
            now: at(start + 9_000))
        #expect(ledger.totalsWh == [.gridImport: 25])
    }

    @Test func readingsOfOneBucketAddUpAndInvalidOnesDoNotCount() throws {
        func point(_ flow: String, _ wattHours: String, _ quality: String) -> String {
            "{\"flow\":\"\(flow)\",\"bucket_start_ms\":\(start)000,\"bucket_len_ms\":300000,\"energy_wh\":\(wattHours),"
                + "\"quality\":\"\(quality)\"}"
        }
        let points = [
            point("vehicle_charge", "10.5", "measured"), point("vehicle_charge", "2", "recovered"),
            point("vehicle_charge", "99", "invalid"), point("grid_export", "0", "measured"),
            point("moonlight", "1", "measured"), point("grid_import", "-4", "measured"), "7",
        ]
        let json = try JSONValue(
            parsing:
                "{\"since_ms\":\(start)000,\"until_ms\":\(start + 900)000,\"truncated\":false,\"points\":["
                + points.joined(separator: ",") + "]}")
        let history = try #require(EnergyHistory(json))
        #expect(history.sums(since: at(start)) == [.car: 12.5, .gridExport: 0])
        #expect(history.sums(since: at(start + 1)).isEmpty)
        #expect(EnergyHistory(try JSONValue(parsing: "{\"error\":\"x\"}")) == nil)
    }

    @Test(arguments: [1, 2, 3, 4, 5])
    func restartsGapsAndLateBucketsLoseAndDoubleNothing(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let count = 2_000
        var truth: [EnergyHistory.Bucket] = []
        for index in 0..<count {
            for flow in [EnergyFlow.gridImport, .car] where Int.random(in: 0..<10, using: &random) > 0 {
                truth.append(bucket(index, Double(Int.random(in: 0...400, using: &random)), flow))
            }
        }
        var ledger = EnergyLedger(since: at(start))
        var last: [EnergyFlow: Double] = [:]
        var now = start
        while now < start + count * 300 + 4_000 {
            now += [300, 300, 300, 900, 7_000, 100_000].randomElement(using: &random) ?? 300
            for _ in 0..<4 {
                guard let ask = ledger.nextAsk(now: at(now)) else { break }
                // Some closed buckets of the last half hour come later.
                let known = truth.filter {
                    $0.end <= at(now)
                        && ($0.end <= at(now - 1_800) || Int.random(in: 0..<3, using: &random) > 0)
                }
                ledger.add(history(ask, known), now: at(now))
            }
            for (flow, total) in last { #expect((ledger.totalsWh[flow] ?? 0) >= total) }
            last = ledger.totalsWh
            if Int.random(in: 0..<3, using: &random) == 0 {
                ledger = try #require(EnergyLedger(json: JSONValue(parsing: ledger.json.bytes)))
            }
        }
        for _ in 0..<30 {
            now += 300
            if let ask = ledger.nextAsk(now: at(now)) { ledger.add(history(ask, truth), now: at(now)) }
        }
        for flow in [EnergyFlow.gridImport, .car] {
            #expect(ledger.totalsWh[flow] == truth.filter { $0.flow == flow }.reduce(0) { $0 + $1.energyWh })
        }
    }

    @Test func roundingNeverStepsBack() {
        var ledger = EnergyLedger(since: at(start))
        #expect(ledger.shownKWh(.gridImport) == nil)
        var shown: [Double?] = []
        for wattHours in [5_244.0, 5_236, 5_241, 5_249.9, 5_250] {
            ledger.add(history(at(start)..<at(start + 900), [bucket(0, wattHours)]), now: at(start + 2_000))
            shown.append(ledger.shownKWh(.gridImport))
        }
        #expect(shown == [5.24, 5.24, 5.24, 5.24, 5.25])
    }

    @Test func theAskIsAlignedAndBounded() throws {
        let ledger = EnergyLedger(since: at(start + 17))
        #expect(ledger.since == at(start))
        #expect(ledger.nextAsk(now: at(start + 299)) == nil)
        #expect(ledger.nextAsk(now: at(start + 700)) == at(start)..<at(start + 600))
        let long = try #require(ledger.nextAsk(now: at(start + 100_000_000)))
        #expect(long.upperBound.timeIntervalSince(long.lowerBound) <= 2_000 * 300)
    }

    @Test func aTruncatedAnswerIsAskedOnFromItsEnd() throws {
        var ledger = EnergyLedger(since: at(start))
        let cut = EnergyHistory(
            since: at(start), until: at(start + 90_000), isTruncated: true, buckets: [bucket(40, 5)])
        ledger.add(cut, now: at(start + 100_000))
        #expect(ledger.answeredUntil == at(start + 41 * 300))
    }

    @Test(arguments: [
        "null", "{}", "{\"since_ms\":1,\"answered_until_ms\":0,\"totals_wh\":{},\"recent\":[]}",
        "{\"since_ms\":1000,\"answered_until_ms\":2000,\"totals_wh\":{\"grid_import\":-1},\"recent\":[]}",
        "{\"since_ms\":1000,\"answered_until_ms\":2000,\"totals_wh\":{},\"recent\":[{\"flow\":\"car\"}]}",
    ])
    func aDamagedMemoryIsNoticed(text: String) throws {
        #expect(EnergyLedger(json: try JSONValue(parsing: text)) == nil)
    }
}
