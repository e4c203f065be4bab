import EnergyModel
import FoundationEssentials
import JSONText
import Testing

private let noon = 1_792_836_000  // 24 Oct 2026 12:00 CEST

@Suite struct PlanDayTests {
    private func answer(_ actions: String, _ members: String = "") throws -> PlanAnswer {
        try #require(
            PlanAnswer(
                JSONValue(
                    parsing:
                        "{\"enabled\":true\(members),\"plan\":{\"generated_at_ms\":\(noon)000,\"actions\":[\(actions)]}}"
                )))
    }

    private func slot(_ offset: Int, _ minutes: Int, _ batteryW: Double, _ members: String = "") -> String {
        "{\"slot_start_ms\":\(noon + offset)000,\"slot_len_min\":\(minutes),\"battery_w\":\(batteryW)\(members)}"
    }

    @Test func aDayHas96Quarters() throws {
        let day = PlanDay(
            try answer((0..<96).map { slot($0 * 900, 15, Double($0)) }.joined(separator: ",")),
            now: at(noon + 10))
        #expect(day.start == at(noon))
        #expect(day.quarters.count == 96)
        #expect(day.quarters.map { $0?.batteryW } == (0..<96).map { Double($0) })
        #expect(day.quarters.compactMap { $0 }.count == 96)
    }

    @Test(arguments: [
        (100.0, PlanStep.stores), (99.9, .waits), (0, .waits), (-99.9, .waits), (-100, .gives),
        (-5_000, .gives),
    ])
    func theBattery(batteryW: Double, step: PlanStep) { #expect(PlanStep(batteryW: batteryW) == step) }

    @Test func aFirstSlotThatStartsInsideAQuarterIsItsQuarters() throws {
        let actions = [
            slot(0, 15, 2_000, ",\"execution_start_ms\":\(noon + 400)000"), slot(900, 15, -2_000),
            slot(1_800, 60, -300),
            slot(5_400, 15, 0),
        ].joined(separator: ",")
        let before = PlanDay(try answer(actions), now: at(noon + 100))
        #expect(before.quarters.first??.step == .stores)
        #expect(before.now == nil)
        let inside = PlanDay(try answer(actions), now: at(noon + 500))
        #expect(inside.now == .stores)
        #expect(inside.until == at(noon + 900))
        let later = PlanDay(try answer(actions), now: at(noon + 1_000))
        #expect(later.now == .gives)
        #expect(later.until == at(noon + 5_400))
        #expect(later.nowBatteryW == -2_000)
        #expect(later.quarters[4]?.batteryW == -300)
        #expect(later.quarters[6] == nil)
    }

    @Test func noPlanIsNotWaiting() throws {
        for answer in [nil, try answer(""), try answer(slot(0, 15, 5), ",\"meta\":{\"outdated\":true}")] {
            let day = PlanDay(answer, now: at(noon))
            #expect(day.quarters.allSatisfy { $0 == nil })
            #expect(day.now == nil)
            #expect(day.until == nil)
        }
    }

    @Test func theSunComesFromTheForecastOrNotAtAll() throws {
        let none = PlanDay(try answer(slot(0, 15, 0, ",\"pv_w\":0")), now: at(noon))
        #expect(none.quarters.first??.solarW == nil)
        let some = try answer(
            [slot(0, 15, 0, ",\"pv_w\":-9.9"), slot(900, 15, 0, ",\"pv_w\":-800,\"forecast_pv_w\":-1000")]
                .joined(separator: ","))
        let day = PlanDay(some, now: at(noon))
        #expect(day.quarters[0]?.solarW == 0)
        #expect(day.quarters[1]?.solarW == -1_000)
    }

    @Test func carsAreSummedAndSignsKept() throws {
        let day = PlanDay(
            try answer(slot(0, 15, -1_500, ",\"grid_w\":-200,\"loadpoint_power_w\":{\"a\":4000,\"b\":3000}")),
            now: at(noon))
        #expect(day.quarters[0]?.carW == 7_000)
        #expect(day.quarters[0]?.gridW == -200)
        #expect(day.quarters[0]?.batteryW == -1_500)
    }

    @Test func afterHalfAnHourThePlanIsStale() throws {
        let plan = try answer(slot(0, 60, 0))
        #expect(!PlanDay(plan, now: at(noon + 1_800)).isStale)
        #expect(PlanDay(plan, now: at(noon + 1_801)).isStale)
        #expect(PlanDay(plan, now: at(noon)).plannedAt == at(noon))
    }
}
