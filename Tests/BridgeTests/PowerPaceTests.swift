import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

@Suite struct PowerPaceTests {
    func grid(_ watts: Double?) -> SiteState { house().changed { $0.power?.gridW = watts } }

    func bench(_ rate: BridgeSettings.Rate = .normal, from watts: Double = 3_000) -> Bench {
        var bench = Bench(settings(rate: rate))
        bench.see(grid(watts))
        bench.connect()
        bench.pass(.seconds(2))
        return bench
    }

    @Test(arguments: [(3_200.0), 3_299, 2_700, 0, -500])
    func aStepGoesOutAtOnce(watts: Double) {
        var bench = bench()
        let sent = bench.see(grid(watts))
        #expect(sent.documents("power").last?["grid"] == .int(Int64(watts)))
    }

    @Test func atSmallPowersATenthIsAStep() {
        var bench = bench(from: 400)
        #expect(bench.see(grid(450)).to("power").count == 1)
        #expect(bench.see(grid(455)).to("power").isEmpty)
    }

    @Test func becomingUnknownIsAStep() {
        var bench = bench()
        #expect(bench.see(grid(nil)).documents("power").last?["grid"] == .null)
        bench.pass(.seconds(1))
        #expect(bench.see(grid(3_000)).documents("power").last?["grid"] == 3_000)
    }

    @Test func aDriftWaitsFiveSeconds() {
        var bench = bench()
        #expect(bench.see(grid(3_060)).isEmpty)
        #expect(bench.pass(.milliseconds(4_900)).isEmpty)
        #expect(bench.see(grid(3_070)).isEmpty)
        #expect(bench.pass(.milliseconds(200)).documents("power").last?["grid"] == 3_070)
    }

    @Test func noiseWaitsForTheRenewal() {
        var bench = bench()
        #expect(bench.see(grid(3_040)).isEmpty)
        #expect(bench.pass(.seconds(27)).isEmpty)
        #expect(bench.pass(.seconds(2)).documents("power").last?["grid"] == 3_040)
    }

    @Test(arguments: BridgeSettings.Rate.allCases)
    func theLastValueBeforeASilenceIsPublished(rate: BridgeSettings.Rate) {
        var bench = bench(rate, from: 0)
        bench.see(grid(3_000))
        bench.pass(.milliseconds(200))
        bench.see(grid(0))
        bench.pass(.milliseconds(800))
        #expect(bench.json("power")?["grid"] == 0)
    }

    @Test func presetsDifferInHowMuchTheySay() {
        func count(_ rate: BridgeSettings.Rate) -> Int {
            var bench = bench(rate)
            var sent = 0
            for second in 0..<600 {
                let watts = 3_000 + Double(second % 20) * 30
                sent += (bench.see(grid(watts)) + bench.pass(.seconds(1))).to("power").count
            }
            return sent
        }
        let counts = [count(.calm), count(.normal), count(.fast)]
        #expect(counts[0] < counts[1] && counts[1] < counts[2])
        #expect(counts[2] >= 590)
    }
}
