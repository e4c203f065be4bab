import EnergyModel
import FoundationEssentials
import JSONText
import Testing

/// Answers as a box of August 2026 gave them, byte for byte.
private enum Recorded {
    static let plain = #"""
        {"enabled":true,"loadpoints":[{"id":"garage","driver_name":"garage-charger","plugged_in":true,"current_soc":0.4,"current_power_w":0,"delivered_wh_session":0,"target_soc":0,"target_time":"0001-01-01T00:00:00Z","updated_at_ms":1796023538766,"soc_source":"inferred","min_charge_w":4140,"max_charge_w":11000,"phases":3,"voltage_v":230,"manual_active":false,"battery_boost":{"state":"inactive","active":false},"surplus_only":false,"schedule":{"soc":0,"time_of_day_min_utc":0,"recurring":false}}]}
        """#
    static let scheduled = #"""
        {"enabled":true,"loadpoints":[{"id":"garage","driver_name":"garage-charger","plugged_in":true,"current_soc":0.4,"current_power_w":0,"delivered_wh_session":0,"target_soc":0.8,"target_time":"2026-12-01T06:00:00Z","updated_at_ms":1796023538766,"soc_source":"inferred","min_charge_w":4140,"max_charge_w":11000,"phases":3,"voltage_v":230,"manual_active":false,"battery_boost":{"state":"inactive","active":false},"surplus_only":false,"schedule":{"soc":0.8,"time_of_day_min_utc":360,"recurring":true,"days":31}}]}
        """#
    /// A hold of 6,900 W; the schedule was removed and its derived goal stays.
    static let held = #"""
        {"enabled":true,"loadpoints":[{"id":"garage","driver_name":"garage-charger","plugged_in":true,"current_soc":0.4,"current_power_w":0,"delivered_wh_session":0,"target_soc":0.8,"target_time":"2026-12-01T06:00:00Z","updated_at_ms":1796023554766,"soc_source":"inferred","min_charge_w":4140,"max_charge_w":11000,"phases":3,"voltage_v":230,"manual_active":true,"manual_charge_w":6900,"battery_boost":{"state":"inactive","active":false},"surplus_only":false,"schedule":{"soc":0,"time_of_day_min_utc":0,"recurring":false}}]}
        """#
    static let hold = #"{"active":true,"power_w":6900,"expires_at_ms":1796023674771}"#
    /// The first of 97 actions, and what stands around them.
    static let plan = #"""
        {"enabled":true,"meta":{"last_replan_ms":1796023535464,"last_replan_reason":"manual"},"plan":{"decision_id":"7f0682e9-1cf4-458a-8985-cca6881a3035","generated_at_ms":1796023535449,"mode":"passive_arbitrage","horizon_slots":97,"capacity_wh":10000,"initial_soc":0.5500035933970913,"total_cost_ore":4212.784759814809,"actions":[{"slot_start_ms":1796022900000,"slot_len_min":15,"price_ore":215.11124999999998,"spot_ore":132.089,"pv_w":-0,"load_w":1425.8199419948683,"battery_w":-1425.8199419948683,"grid_w":-0,"soc":0.5124820159761737,"cost_ore":-0,"confidence":1,"reason":"discharge — price above horizon mean","ems_mode":"self_consumption","storage_power_w":{"house-battery":-1425.8199419948683},"storage_energy_wh":{"house-battery":5124.820159761737}}],"solver":{"engine":"highspy","backend":"highs","status":"optimal"},"dp_shadow":{"solver":{"engine":"go-dp"}}}}
        """#
    static let daily = #"""
        {"days":[{"bat_charged_wh":0,"bat_discharged_wh":0,"day":"2026-11-29","export_wh":0,"import_wh":0,"load_wh":0,"pv_wh":0},{"bat_charged_wh":50.92345568043877,"bat_discharged_wh":332.6760170990504,"day":"2026-11-30","export_wh":20.653221125039185,"import_wh":48.98915604603003,"load_wh":511.22655858999576,"pv_wh":221.51843987729384}],"tz":"Europe/Stockholm"}
        """#
}

@Suite struct RecordedAnswerTests {
    /// 08:26 on Monday 30 November 2026 in Stockholm.
    private let now = at(1_796_023_560)

    private func read(_ text: String) throws -> (Loadpoint, Goal?, String) {
        let list = try #require(LoadpointList(JSONValue(parsing: text)))
        #expect(list.faults.isEmpty)
        let lp = try #require(list.loadpoints.first)
        let goal = Goal(of: lp, zone: try home(), now: now)
        return (lp, goal, Sentence.goal(goal).text(.sv, zone: try stockholm(), now: now))
    }

    @Test func aPlainLoadpoint() throws {
        let (lp, goal, text) = try read(Recorded.plain)
        #expect(lp.hold == Loadpoint.Hold.none)
        #expect(goal == nil)
        #expect(text == "Inget laddmål är satt.")
        #expect(lp.fullPower == (11_000, "3p"))
        var tracker = CarLevelTracker()
        let level = tracker.level(CarLevelInput(loadpoint: lp, readAt: now, now: now))
        #expect(level == CarLevel(soc: 0.4, origin: .estimated, planCountsFrom: 0.4))
    }

    @Test func aSchedule() throws {
        let (_, goal, text) = try read(Recorded.scheduled)
        #expect(goal?.nextDeadline == at(1_796_104_800))
        #expect(goal?.minuteOfDay == 420)
        #expect(text == "Mål: 80 % till 07:00, på vardagar.")
    }

    @Test func aHoldAndAGoalThatOutlivedItsSchedule() throws {
        let (lp, goal, text) = try read(Recorded.held)
        #expect(lp.hold == .chargeNow(powerW: 6_900))
        #expect(goal?.recurring == false)
        #expect(text == "Mål: 80 % till i morgon 07:00, bara denna gång.")
        let detail = try #require(ManualHoldDetail(JSONValue(parsing: Recorded.hold)))
        #expect(detail.expiresAt == Date(timeIntervalSince1970: 1_796_023_674.771))
        #expect(detail.powerW == 6_900)
    }

    @Test func aPlanWithoutACar() throws {
        let answer = try #require(PlanAnswer(JSONValue(parsing: Recorded.plan)))
        #expect(answer.faults.isEmpty)
        let plan = try #require(answer.plan)
        #expect(!plan.isFallback)
        let action = try #require(plan.actions.first)
        #expect(action.end.timeIntervalSince(action.start) == 900)
        #expect(action.gridW.map(JSONValue.double)?.text == "0")
        #expect(PlanDay(answer, now: now).now == .gives)
        let (lp, goal, _) = try read(Recorded.scheduled)
        let ready = Readiness(
            ReadinessInput(loadpoint: lp, level: CarLevel(), goal: goal, plan: answer, now: now))
        #expect(ready.reason == .prices)
    }

    @Test func daysOfEnergy() throws {
        let days = try #require(EnergyDays(JSONValue(parsing: Recorded.daily))).days
        #expect(days.map(\.date) == ["2026-11-29", "2026-11-30"])
        #expect(days.last?.energyWh[.solar] == 221.51843987729384)
        #expect(days.last?.energyWh[.car] == nil)
    }
}
