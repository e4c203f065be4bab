import Ambient
import EnergyModel
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSimulator

@Suite struct HouseTests {
    /// Saturday 27 June 2026, midnight in Stockholm.
    static let summer = Date(timeIntervalSince1970: 1_782_511_200)
    /// Monday 30 November 2026, midnight in Stockholm.
    static let winter = Date(timeIntervalSince1970: 1_795_993_200)

    /// Two days, minute by minute.
    private func live(
        _ start: Date, seed: UInt64 = 1, _ look: (HouseModel, HouseFlows) -> Void
    ) -> HouseModel {
        var settings = SimulatedHouseSettings()
        settings.seed = seed
        var house = HouseModel(settings: settings, now: start)
        for minute in 1...2_880 {
            house.advance(to: start.addingTimeInterval(Double(minute) * 60))
            look(house, house.flows)
        }
        return house
    }

    @Test(arguments: [summer, winter])
    func powerAlwaysBalancesAndStaysInItsLimits(start: Date) {
        var broken: [String] = []
        var mostSun = 0.0
        var charged = false
        _ = live(start) { house, flows in
            let sum = flows.loadW + flows.batteryW + flows.pvW + flows.totalEVW
            if abs(flows.gridW - sum) > 1e-9 { broken.append("balance at \(house.at)") }
            if !(-8_000...0).contains(flows.pvW) { broken.append("sun \(flows.pvW)") }
            if !(80...8_000).contains(flows.loadW) { broken.append("load \(flows.loadW)") }
            if !(-5_000...5_000).contains(flows.batteryW) { broken.append("battery \(flows.batteryW)") }
            if !(0.0999...1).contains(house.batterySoc ?? -1) {
                broken.append("soc \(house.batterySoc ?? -1)")
            }
            let car = flows.evW["garage"] ?? -1
            if car != 0, !(4_140...11_000).contains(car) { broken.append("car \(car)") }
            if car > 0, !house.chargers[0].pluggedIn { broken.append("charging without a car") }
            mostSun = max(mostSun, -flows.pvW)
            charged = charged || car > 0
        }
        #expect(broken.isEmpty, "\(broken.prefix(3))")
        #expect(mostSun > 500)
        #expect(charged)
    }

    @Test func theSunSleepsAtNightAndSummerIsBrighter() {
        var best: [Double] = []
        for start in [Self.summer, Self.winter] {
            var most = 0.0
            _ = live(start) { house, flows in
                if house.zone.minuteOfDay(of: house.at) < 120 { #expect(flows.pvW == 0) }
                most = max(most, -flows.pvW)
            }
            best.append(most)
        }
        #expect(best[0] > best[1] * 1.5)
    }

    @Test func theSameSeedLivesTheSameDay() {
        var first: [HouseFlows] = []
        var again: [HouseFlows] = []
        var other: [HouseFlows] = []
        _ = live(Self.winter) { first.append($1) }
        _ = live(Self.winter) { again.append($1) }
        _ = live(Self.winter, seed: 2) { other.append($1) }
        #expect(first == again)
        #expect(first != other)
    }

    @Test func energyInTheLedgerIsPowerOverTime() throws {
        var importWh = 0.0
        var carWh = 0.0
        let house = live(Self.winter) { _, flows in
            importWh += max(0, flows.gridW) / 60
            carWh += flows.totalEVW / 60
        }
        let end = Self.winter.addingTimeInterval(2 * 86_400)
        let energy = try #require(house.ledger.energy(in: Self.winter..<end))
        #expect(abs(energy.importWh - importWh) < importWh * 0.02)
        #expect(abs(energy.carWh - carWh) < carWh * 0.02 + 200)
    }

    @Test func theCarLeavesInTheMorningAndComesBackEmptier() {
        var wasAway = false
        var atLeaving = 1.0
        var atReturn = 1.0
        _ = live(Self.winter) { house, _ in
            let car = house.chargers[0]
            let minute = house.zone.minuteOfDay(of: house.at)
            if (500...1_000).contains(minute), house.at < Self.winter.addingTimeInterval(86_400) {
                #expect(!car.pluggedIn)
                wasAway = true
                atLeaving = car.truth
            }
            if wasAway, car.pluggedIn, atReturn == 1 { atReturn = car.truth }
        }
        #expect(wasAway)
        #expect(atReturn < atLeaving)
    }

    @Test func aHouseThatSleptForAWeekWakesUp() {
        var house = HouseModel(settings: SimulatedHouseSettings(), now: Self.winter)
        house.advance(to: Self.winter.addingTimeInterval(7 * 86_400))
        #expect(house.at == Self.winter.addingTimeInterval(7 * 86_400))
    }

    @Test func aClockThatIsSetBackIsFollowed() {
        var house = HouseModel(settings: SimulatedHouseSettings(), now: Self.winter.addingTimeInterval(7_200))
        house.advance(to: Self.winter)
        #expect(house.at == Self.winter)
        #expect(house.plan?.generatedAt == Self.winter)
        house.advance(to: Self.winter.addingTimeInterval(600))
        #expect(house.at == Self.winter.addingTimeInterval(600))
    }

    @Test func aHouseWithoutBatteryCarAndSunIsJustLoad() {
        var settings = SimulatedHouseSettings()
        settings.battery = nil
        settings.chargers = []
        settings.pvPeakW = 0
        let house = HouseModel(settings: settings, now: Self.summer.addingTimeInterval(43_200))
        #expect(house.batterySoc == nil)
        #expect(house.flows.gridW == house.flows.loadW)
    }

    @Test(arguments: ["idle", "charge", "self_consumption", "planner_self", "peak_shaving"])
    func modesSteerTheBattery(mode: String) {
        var house = HouseModel(
            settings: SimulatedHouseSettings(), now: Self.winter.addingTimeInterval(72_000))
        house.arrange(.unplugged, at: 0)
        house.mode = mode
        house.batterySoc = 0.5
        house.advance(to: house.at.addingTimeInterval(30))
        switch mode {
        case "idle": #expect(house.flows.batteryW == 0)
        case "charge": #expect(house.flows.batteryW == 5_000)
        case "peak_shaving": #expect(house.flows.batteryW >= -5_000 && house.flows.gridW <= 5_000)
        default: #expect(abs(house.flows.gridW) < 1)
        }
    }

    @Test func aClockMayRunFaster() {
        let time = ManualTime()
        let clock = HouseClock(time: time, startingAt: Self.winter, factor: 60)
        #expect(clock.now == Self.winter)
        time.advance(by: .seconds(10))
        #expect(clock.now == Self.winter.addingTimeInterval(600))
        #expect(HouseTime(base: time, clock: clock).wall == clock.now)
        time.setWall(Self.summer)
        #expect(HouseClock(following: time).now == Self.summer)
    }
}
