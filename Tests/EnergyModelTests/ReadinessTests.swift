import EnergyModel
import FoundationEssentials
import JSONText
import Testing

/// Friday 23 October 2026, 20:00 in Stockholm; the deadline is 07:00 the next day.
private let now = at(1_792_778_400)
private let deadline = at(1_792_818_000)

private let car =
    "\"plugged_in\":true,\"soc_source\":\"inferred\",\"current_soc\":0.4,\"vehicle_capacity_wh\":75000,"
    + "\"capacity_source\":\"configured\",\"soc_retention\":\"session\",\"target_soc\":0.8,"
    + "\"target_time\":\"2026-10-24T05:00:00Z\","
    + "\"schedule\":{\"soc\":0.8,\"time_of_day_min_utc\":300,\"recurring\":true}"

/// A plan of hours from 20:00 to the end, with these extra members.
private func plan(
    _ members: String, madeAgo: Int = 60, hours: Int = 24, socAtDeadline: Double? = nil, meta: String = "{}",
    enabled: Bool = true
) -> String {
    let start = 1_792_778_400_000
    let actions = (0..<hours).map { hour in
        let end = hour < 11 ? ",\"loadpoint_soc_by_id\":{\"garage\":\(socAtDeadline ?? 0)}" : ""
        let begin = "{\"slot_start_ms\":\(start + hour * 3_600_000),\"slot_len_min\":60"
        return begin + (socAtDeadline == nil ? "" : end) + "}"
    }
    let made = start - madeAgo * 1_000
    let extra = members.isEmpty ? "" : ",\(members)"
    return
        "{\"enabled\":\(enabled),\"meta\":\(meta),\"plan\":{\"generated_at_ms\":\(made)\(extra),\"actions\":["
        + actions.joined(separator: ",") + "]}}"
}

private func missing(_ wattHours: Double) -> String { "\"loadpoint_shortfall_wh\":{\"garage\":\(wattHours)}" }

struct ReadyRow: Sendable, CustomTestStringConvertible {
    let name: String
    let fields: String
    let plan: String?
    var isReachable = true
    var level: CarLevel.Origin = .estimated
    let state: Readiness.State
    let reason: Readiness.Reason?
    var percent: Double?
    let en: String

    var testDescription: String { name }

    init(
        _ name: String, _ fields: String, _ plan: String?, reachable: Bool = true,
        level: CarLevel.Origin = .estimated, _ state: Readiness.State, _ reason: Readiness.Reason? = nil,
        percent: Double? = nil, _ en: String
    ) {
        (self.name, self.fields, self.plan, self.isReachable, self.level) = (
            name, fields, plan, reachable, level
        )
        (self.state, self.reason, self.percent, self.en) = (state, reason, percent, en)
    }
}

private let makes = "It will make 80 % by tomorrow 07:00."
private let noGoal = "No charging goal is set."
private let planning = "A new plan is being made."
private let prices = "Tomorrow's prices are not out yet; sun may charge the car meanwhile."
private func short(_ percent: Int) -> String {
    "It falls short: about \(percent) % by tomorrow 07:00 instead of 80 %."
}
private let noGoalCar =
    "\"plugged_in\":true,\"soc_source\":\"inferred\",\"current_soc\":0.4,\"schedule\":{},\"target_soc\":0,"
    + "\"target_time\":\"0001-01-01T00:00:00Z\""
private let once = car.replacing("\"recurring\":true", with: "\"recurring\":false")
    .replacing("2026-10-24T05", with: "2026-10-23T05")
private let guessed = car.replacing("configured", with: "default")
private let limited = car + ",\"vehicle_charge_limit\":0.6"
private let carDecides = car.replacing("\"soc\":0.8,", with: "\"finish_at_vehicle_limit\":true,")

private let silent: [ReadyRow] = [
    ReadyRow(
        "unplugged", car.replacing("\"plugged_in\":true", with: "\"plugged_in\":false"), plan(missing(0)),
        .unknown, .unplugged, ""),
    ReadyRow(
        "unplugged comes before stale", "\"plugged_in\":false", nil, reachable: false, .unknown, .unplugged,
        ""),
    ReadyRow("box or charger away", car, plan(missing(0)), reachable: false, .unknown, .stale, ""),
    ReadyRow(
        "charger unavailable", car + ",\"charger\":{\"available\":false}", plan(missing(0)), .unknown, .stale,
        ""),
    ReadyRow("plug not told", "\"current_soc\":0.4", plan(missing(0)), .unknown, .stale, ""),
    ReadyRow(
        "plan exactly 30 minutes old", car, plan(missing(0), madeAgo: 1_800), .onTrack, percent: 80, makes),
    ReadyRow("plan a second older", car, plan(missing(0), madeAgo: 1_801), .unknown, .stale, ""),
    ReadyRow(
        "old plan and a hold: stale first", car + ",\"manual_active\":true", plan(missing(0), madeAgo: 1_801),
        .unknown, .stale, ""),
    ReadyRow("no goal", noGoalCar, plan(missing(0)), .noGoal, .noGoal, noGoal),
    ReadyRow("no goal and no plan was read", noGoalCar, nil, .noGoal, .noGoal, noGoal),
    ReadyRow(
        "no goal and an old plan", noGoalCar, plan(missing(0), madeAgo: 90_000), .noGoal, .noGoal, noGoal),
    ReadyRow("goal for once that has passed", once, plan(missing(0)), .noGoal, .noGoal, noGoal),
    ReadyRow(
        "no goal comes before a hold", noGoalCar + ",\"manual_active\":true", nil, .noGoal, .noGoal, noGoal),
    ReadyRow(
        "charge now", car + ",\"manual_active\":true,\"manual_charge_w\":11000", plan(missing(9_000)),
        .onHold,
        .hold, ""),
    ReadyRow("paused", car + ",\"manual_active\":true", plan(missing(9_000)), .onHold, .hold, ""),
    ReadyRow(
        "waiting for a choice", car + ",\"manual_restore_unconfirmed\":true", plan(missing(9_000)), .onHold,
        .hold, ""),
    ReadyRow(
        "a hold comes before planning", car + ",\"manual_active\":true,\"plan_pending\":true", nil, .onHold,
        .hold, ""),
    ReadyRow(
        "plan pending", car + ",\"plan_pending\":true", plan(missing(9_000)), .replanning, .planning, planning
    ),
    ReadyRow(
        "replanning", car, plan(missing(9_000), meta: "{\"replanning\":true}"), .replanning, .planning,
        planning),
    ReadyRow(
        "planning comes before no plan", car + ",\"plan_pending\":true,\"plan_outdated\":true", nil,
        .replanning,
        .planning, planning),
    ReadyRow("plan outdated", car + ",\"plan_outdated\":true", plan(missing(0)), .unknown, .noPlan, ""),
    ReadyRow(
        "plan outdated by its account", car, plan(missing(0), meta: "{\"outdated\":true}"), .unknown, .noPlan,
        ""),
    ReadyRow("no plan read yet", car, nil, .unknown, .noPlan, ""),
    ReadyRow("plan null", car, "{\"enabled\":true,\"plan\":null,\"meta\":{}}", .unknown, .noPlan, ""),
    ReadyRow(
        "planner off", car, "{\"enabled\":false,\"reason\":\"no-price-provider\"}", .unknown, .noPlan, ""),
    ReadyRow("plan without slots", car, plan(missing(0), hours: 0), .unknown, .noPlan, ""),
    ReadyRow("goal complete", car + ",\"goal_complete\":true", plan(missing(0)), .unknown, .done, ""),
    ReadyRow(
        "done comes before declined", car + ",\"goal_complete\":true,\"charging_declined\":true",
        plan(missing(0)), .unknown, .done, ""),
    ReadyRow("declined", car + ",\"charging_declined\":true", plan(missing(0)), .unknown, .declined, ""),
    ReadyRow(
        "waits for prices", car + ",\"grid_deferred\":true", plan(missing(9_000)), .unknown, .prices, prices),
    ReadyRow("deadline past the plan", car, plan(missing(9_000), hours: 10), .unknown, .prices, prices),
    ReadyRow("deadline at the plan's end", car, plan(missing(0), hours: 11), .onTrack, percent: 80, makes),
]

private let spoken: [ReadyRow] = [
    ReadyRow("nothing missing", car, plan(missing(0)), .onTrack, percent: 80, makes),
    ReadyRow("13.5 kWh of 75 missing", car, plan(missing(13_500)), .late, percent: 62, short(62)),
    ReadyRow("within the tolerance", car, plan(missing(375)), .onTrack, percent: 79.5, makes),
    ReadyRow(
        "just over it, and rounding shows the goal", car, plan(missing(375.1)), .late, percent: 79.499_866,
        short(79)),
    ReadyRow(
        "over the tolerance, rounded to the goal",
        car.replacing("\"target_soc\":0.8", with: "\"target_soc\":0.804"), plan(missing(450)), .onTrack,
        percent: 79.8, makes),
    ReadyRow("more missing than there is", car, plan(missing(90_000)), .late, percent: 0, short(0)),
    ReadyRow(
        "counted from a guess", car, plan(missing(0)), level: .assumed, .onTrack, percent: 80,
        makes + " This builds on FTW's guess of 40 %."),
    ReadyRow(
        "late, from a guess, size guessed", guessed, plan(missing(13_500)), level: .assumed, .late,
        percent: 62,
        short(62) + " This builds on FTW's guess of 40 %. The battery size is a guess."),
    ReadyRow(
        "size guessed", guessed, plan(missing(0)), .onTrack, percent: 80,
        makes + " The battery size is a guess."),
    ReadyRow(
        "the car's own limit caps the goal", limited, plan(missing(0)), .onTrack, percent: 60,
        "It will make 60 % by tomorrow 07:00."),
    ReadyRow(
        "until the car stops", carDecides, plan(missing(0)), .onTrack, percent: 100,
        "It will make 100 % by tomorrow 07:00."),
    ReadyRow(
        "a word of nobody: map without the car, level reached", car,
        plan("\"loadpoint_shortfall_wh\":{}", socAtDeadline: 0.8), .onTrack, percent: 80, makes),
    ReadyRow("no map, level reached", car, plan("", socAtDeadline: 0.795), .onTrack, percent: 79.5, makes),
    ReadyRow(
        "no map, level far below", car, plan("", socAtDeadline: 0.7399), .late, percent: 73.99, short(74)),
    ReadyRow("no map, in between", car, plan("", socAtDeadline: 0.74), .unknown, .unsupported, ""),
    ReadyRow("no map, just under the goal", car, plan("", socAtDeadline: 0.794), .unknown, .unsupported, ""),
    ReadyRow(
        "no map, coarse planner", car, plan("\"solver\":{\"fallback\":true}", socAtDeadline: 0.8), .unknown,
        .unsupported, ""),
    ReadyRow("no map, size guessed", guessed, plan("", socAtDeadline: 0.8), .unknown, .unsupported, ""),
    ReadyRow("no map and no level", car, plan(""), .unknown, .unsupported, ""),
    ReadyRow(
        "map of another car", car, plan("\"loadpoint_shortfall_wh\":{\"other\":0}"), .unknown, .unsupported,
        ""),
    ReadyRow(
        "shortfall unreadable", car, plan("\"loadpoint_shortfall_wh\":{\"garage\":\"9\"}"), .unknown,
        .unsupported, ""),
]

@Suite struct ReadinessTests {
    @Test func theTablesAreLongEnough() { #expect(silent.count + spoken.count >= 40) }

    private func readiness(_ row: ReadyRow) throws -> Readiness {
        let lp = try loadpoint(row.fields)
        var level = CarLevel(soc: lp.currentSoc, origin: row.level, planCountsFrom: lp.currentSoc)
        level.needsRealLevel = row.level == .assumed
        let answer = try row.plan.map { try #require(PlanAnswer(JSONValue(parsing: $0))) }
        return Readiness(
            ReadinessInput(
                loadpoint: lp, level: level, goal: Goal(of: lp, zone: try home(), now: now), plan: answer,
                isReachable: row.isReachable, now: now))
    }

    @Test(arguments: silent + spoken)
    func fieldsAndPlanBecomeAnAnswer(row: ReadyRow) throws {
        let ready = try readiness(row)
        #expect(ready.state == row.state)
        #expect(ready.reason == row.reason)
        if let percent = row.percent {
            let expected = try #require(ready.expectedSoc)
            #expect(abs(expected * 100 - percent) < 1e-3)
            #expect(ready.by == deadline)
        } else {
            #expect(ready.expectedSoc == nil)
            #expect(ready.shortfallWh == nil)
        }
        #expect(Sentence.readiness(ready).text(.en, zone: try stockholm(), now: now) == row.en)
    }

    @Test(arguments: silent)
    func silenceInOneLanguageIsSilenceInTheOther(row: ReadyRow) throws {
        let sentence = Sentence.readiness(try readiness(row))
        #expect(sentence.text(.sv, zone: try stockholm(), now: now).isEmpty == row.en.isEmpty)
    }

    @Test func swedishSaysWhatEnglishSays() throws {
        let row = try #require(spoken.first { $0.name == "late, from a guess, size guessed" })
        #expect(
            Sentence.readiness(try readiness(row)).text(.sv, zone: try stockholm(), now: now)
                == "Den hinner inte: ungefär 62 % till i morgon 07:00 i stället för 80 %. "
                + "Det bygger på FTW:s gissning 40 %. Batteristorleken är en gissning.")
    }

    @Test func windowsComeFromTheBoxOrFromThePlan() throws {
        let listed = try loadpoint(
            car + ",\"plan_windows\":[{\"start_ms\":1792760000000,\"end_ms\":1792770000000,\"wh\":1},"
                + "{\"start_ms\":1792800000000,\"end_ms\":1792803600000,\"wh\":7000}]")
        let answer = try #require(
            PlanAnswer(
                JSONValue(
                    parsing: """
                        {"enabled":true,"plan":{"generated_at_ms":1792778340000,"actions":[
                        {"slot_start_ms":1792777500000,"slot_len_min":15,"execution_start_ms":1792777900000,
                         "loadpoint_power_w":{"garage":4000}},
                        {"slot_start_ms":1792778400000,"slot_len_min":15,"loadpoint_power_w":{"garage":4000}},
                        {"slot_start_ms":1792779300000,"slot_len_min":60,"loadpoint_power_w":{"garage":100}},
                        {"slot_start_ms":1792782900000,"slot_len_min":15,"loadpoint_power_w":{"garage":99.9}},
                        {"slot_start_ms":1792783800000,"slot_len_min":15,"loadpoint_power_w":{"other":4000}},
                        {"slot_start_ms":1792784700000,"slot_len_min":15,"loadpoint_power_w":{"garage":8000}}]}}
                        """)))
        #expect(
            chargingWindows(of: listed, plan: answer.plan, isOnlyCar: true, now: now)
                == [ChargingWindow(start: at(1_792_800_000), end: at(1_792_803_600), energyWh: 7_000)])
        #expect(
            chargingWindows(of: try loadpoint(car), plan: answer.plan, isOnlyCar: false, now: now)
                == [
                    ChargingWindow(start: now, end: at(1_792_782_900), energyWh: 1_100),
                    ChargingWindow(start: at(1_792_784_700), end: at(1_792_785_600), energyWh: 2_000),
                ])
        let outdated = try loadpoint(car + ",\"plan_outdated\":true")
        #expect(chargingWindows(of: outdated, plan: answer.plan, isOnlyCar: true, now: now).isEmpty)
    }

    @Test func thePlainCarPowerBelongsToTheOnlyCar() throws {
        let answer = try #require(
            PlanAnswer(
                JSONValue(
                    parsing: """
                        {"enabled":true,"plan":{"actions":[{"slot_start_ms":1792778400000,"slot_len_min":60,
                        "loadpoint_w":7000}]}}
                        """)))
        let lp = try loadpoint(car)
        #expect(chargingWindows(of: lp, plan: answer.plan, isOnlyCar: true, now: now).count == 1)
        #expect(chargingWindows(of: lp, plan: answer.plan, isOnlyCar: false, now: now).isEmpty)
    }

    @Test func neverIsNoTimeOfAPlan() throws {
        let json = try JSONValue(
            parsing: "{\"enabled\":true,\"plan\":null,\"meta\":{\"last_replan_ms\":-62135596800000}}")
        let answer = try #require(PlanAnswer(json))
        #expect(answer.plannedAt == nil)
        #expect(answer.faults.isEmpty)
    }

    @Test func hostilePlansNeverTrap() throws {
        let text = plan(missing(100), socAtDeadline: 0.5)
        let bytes = Array(text.utf8)
        var random = Seeded(state: 3)
        let lp = try loadpoint(car)
        let goal = Goal(of: lp, zone: try home(), now: now)
        for _ in 0..<5_000 {
            var hostile = bytes
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let index = Int.random(in: 0..<hostile.count, using: &random)
                hostile[index] = Array("0123456789-e.,{}[]\"tn".utf8).randomElement(using: &random) ?? 0
            }
            guard let json = try? JSONValue(parsing: hostile), let answer = PlanAnswer(json) else { continue }
            let ready = Readiness(
                ReadinessInput(loadpoint: lp, level: CarLevel(), goal: goal, plan: answer, now: now))
            #expect(ready.expectedSoc.map { (0...1).contains($0) } ?? true)
        }
    }
}
