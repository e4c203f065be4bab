import EnergyModel
import FoundationEssentials
import JSONText
import Testing

@testable import Bridge

/// A car in one situation, as a box would tell it at ten in the morning.
struct Situation: CustomTestStringConvertible, Sendable {
    var name: String
    /// Members of the box's answer beside ``Situation/plain``.
    var fields: String
    var id = "garage"
    var isHealthy = true
    /// Energy that the plan says is missing; `nil`: there is no plan.
    var shortfallWh: Double?
    /// A level that a person entered an hour ago.
    var personSoc: Double?
    /// Seconds between the answer and now.
    var age = 20.0

    var testDescription: String { name }

    /// Plugged in, 80 % by seven every weekday, counted from the box's guess.
    static let plain = """
        "driver_name":"charger","plugged_in":true,"current_power_w":0,"delivered_wh_session":0,\
        "min_charge_w":1380,"max_charge_w":11000,"phases":3,"voltage_v":230,"current_soc":0.2,\
        "soc_source":"assumed","vehicle_capacity_wh":75000,"capacity_source":"configured",\
        "soc_retention":"session","manual_active":false,"surplus_only":false,"target_soc":0.8,\
        "target_time":"2026-12-01T06:00:00Z",\
        "schedule":{"soc":0.8,"time_of_day_min":420,"time_of_day_min_utc":360,"recurring":true,"days":31}
        """

    static let live =
        #""soc_source":"vehicle","vehicle_driver":"tesla","vehicle_soc":0.62,"current_soc":0.62"#

    static let all = [
        Situation(name: "assumed", fields: ""),
        Situation(
            name: "unplugged",
            fields: #""plugged_in":false,"soc_source":"","current_soc":0,"target_soc":0,"#
                + #""target_time":"0001-01-01T00:00:00Z""#),
        Situation(
            name: "estimated",
            fields: #""soc_source":"inferred","current_soc":0.47,"delivered_wh_session":3210"#,
            shortfallWh: 0),
        Situation(
            name: "car live and charging",
            fields: live
                + #","vehicle_soc_age_s":30,"current_power_w":7360,"delivered_wh_session":4129,"#
                + #""vehicle_charging_state":"Charging","vehicle_charge_limit":0.9,"vehicle_name":"Blå bilen""#,
            shortfallWh: 0),
        Situation(name: "car old by age", fields: live + #","vehicle_soc_age_s":2100"#, shortfallWh: 0),
        Situation(name: "car old by time", fields: live, shortfallWh: 0, age: 301),
        Situation(
            name: "car old by flag",
            fields: #""soc_source":"inferred","vehicle_driver":"tesla","vehicle_soc":0.62,"#
                + #""vehicle_stale":true,"current_soc":0.64,"vehicle_soc_age_s":2400"#, shortfallWh: 0),
        Situation(
            name: "person",
            fields: #""soc_source":"inferred","current_soc":0.64,"delivered_wh_session":3000"#,
            shortfallWh: 0, personSoc: 0.6),
        Situation(
            name: "late", fields: #""soc_source":"inferred","current_soc":0.31"#, shortfallWh: 13_500),
        Situation(name: "late, from a guess", fields: "", shortfallWh: 13_500),
        Situation(
            name: "no goal",
            fields: #""target_soc":0,"target_time":"0001-01-01T00:00:00Z","schedule":null"#),
        Situation(
            name: "charge now",
            fields: live
                + #","manual_active":true,"manual_charge_w":11000,"current_power_w":10900,"manual":"#
                + #"{"active":true,"state":"charging","requested_w":11000,"since_ms":1796028300000}"#,
            shortfallWh: 0),
        Situation(name: "paused", fields: live + #","manual_active":true"#, shortfallWh: 0),
        Situation(name: "replanning", fields: live + #","plan_pending":true"#, shortfallWh: 0),
        Situation(name: "no plan", fields: live),
        Situation(name: "charger silent", fields: live, isHealthy: false, shortfallWh: 0),
    ]

    static var base: Situation {
        var old = Situation(name: "old box", fields: "")
        old.fields = #""soc_source":"inferred","capacity_source":null,"soc_retention":null"#
        return old
    }

    func loadpoint() throws -> Loadpoint {
        var members = try JSONValue(parsing: "{\(Self.plain)}".utf8).objectValue ?? [:]
        for (name, value) in try JSONValue(parsing: "{\(fields)}".utf8).objectValue ?? [:] {
            members[name] = value == .null ? nil : value
        }
        members["id"] = .string(id)
        return try #require(Loadpoint(.object(members)))
    }

    /// The car as the session would tell it.
    func car(now: Date = morning, isOnly: Bool = true) throws -> CarState {
        let zone = HouseholdZone(boxZone: "Europe/Stockholm", configured: .utc)
        let loadpoint = try loadpoint()
        var tracker = CarLevelTracker()
        if let personSoc {
            tracker.personSet(
                PersonNote(soc: personSoc, at: now - 3_600, sessionWh: 0, boxStartedAt: nil))
        }
        var input = CarInput(
            loadpoint: loadpoint, readAt: now - age, isChargerHealthy: true,
            plan: try shortfallWh.map { try plan($0, now: now) }, zone: zone, isOnlyCar: isOnly, now: now)
        guard !isHealthy else { return tracker.car(input) }
        _ = tracker.car(input)
        input.isChargerHealthy = false
        return tracker.car(input)
    }

    private func plan(_ shortfall: Double, now: Date) throws -> PlanAnswer {
        let ms = { (date: Date) in Int64(date.timeIntervalSince1970) * 1_000 }
        let actions = (0..<24).map { hour in
            let power = hour == 12 || hour == 13 ? 9_000 : 0
            return #"{"slot_start_ms":\#(ms(now + Double(hour) * 3_600)),"slot_len_min":60,"#
                + #""loadpoint_power_w":{"\#(id)":\#(power)},"loadpoint_w":\#(power)}"#
        }
        let text =
            #"{"enabled":true,"plan":{"generated_at_ms":\#(ms(now - 120)),"actions":["#
            + actions.joined(separator: ",")
            + #"],"loadpoint_shortfall_wh":{"\#(id)":\#(shortfall)}},"meta":{"last_replan_ms":1}}"#
        return try #require(PlanAnswer(JSONValue(parsing: text.utf8)))
    }
}

extension SiteState {
    /// The same house with these cars.
    func with(_ cars: CarState...) -> SiteState {
        changed {
            $0.link.since = morning - 3_600
            $0.cars = cars
        }
    }
}
