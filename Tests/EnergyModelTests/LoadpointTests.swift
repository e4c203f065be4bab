import EnergyModel
import FoundationEssentials
import JSONText
import Testing

private let full = """
    {"enabled":true,"loadpoints":[{"id":"Gästplats, 1","driver_name":"easee","plugged_in":true,
    "current_power_w":7360.5,"delivered_wh_session":1234.5,"updated_at_ms":1792825500000,"min_charge_w":1380,
    "max_charge_w":11000,"allowed_steps_w":[11000,0,4140],"phases":3,"voltage_v":230,
    "charger":{"known":true,"available":true,"updated_at_ms":1792825499000,"reason":"ok","limit_a":16},
    "current_soc":0.62,"soc_source":"vehicle","vehicle_soc":0.62,"vehicle_charge_limit":0.9,
    "vehicle_charging_state":"Charging","vehicle_driver":"tesla","vehicle_soc_age_s":12.5,"vehicle_name":"Blå",
    "vehicle_capacity_wh":75000,"capacity_source":"configured","soc_retention":"session",
    "charging_declined":false,"manual_active":true,"manual_charge_w":11000,"manual":{"active":true,
    "state":"limited","started_at_ms":1792825000000,"since_ms":1792825100000,"requested_w":11000,"requested_a":16,
    "commanded_w":7360,"commanded_a":10.7,"charger_limit_a":16,"charger_limit_known":true,
    "limit_reason":"fuse_limit","charger_updated_at_ms":1792825499000},
    "schedule":{"soc":0.8,"time_of_day_min_utc":300,"recurring":true,"days":31,"surplus_unlock_bat_soc":0.7},
    "target_soc":0.8,"target_time":"2026-10-25T05:00:00Z","surplus_only":false,
    "battery_boost":{"state":"active","active":true,"started_at_ms":1792825000000,"min_battery_soc":0.3},
    "commanded_known":true,"commanded_w":7360,"commanded_reason":"manual_hold","commanded_since_ms":1792825100000,
    "plan_windows":[{"start_ms":1792879200000,"end_ms":1792882800000,"wh":11000}],
    "plan_next_start_ms":1792879200000,"plan_next_end_ms":1792882800000,"plan_next_wh":11000,"plan_total_wh":11000,
    "a key of tomorrow":{"x":[1]}}]}
    """

@Suite struct LoadpointTests {
    private func list(_ text: String) throws -> LoadpointList? { LoadpointList(try JSONValue(parsing: text)) }

    @Test func everyFieldIsRead() throws {
        let answer = try #require(try list(full))
        #expect(answer.enabled == true)
        #expect(answer.faults.isEmpty)
        let lp = try #require(answer.loadpoints.first)
        #expect(lp.id == "Gästplats, 1")
        #expect(lp.stepsW == [0, 4_140, 11_000])
        #expect(lp.charger?.limitA == 16)
        #expect(lp.socSource == .vehicle)
        #expect(lp.vehicleSocAgeS == 12.5)
        #expect(lp.capacity == (75_000, false))
        #expect(lp.manual?.state == .limited)
        #expect(lp.hold == .chargeNow(powerW: 11_000))
        #expect(lp.targetTime == at(1_792_904_400))
        #expect(lp.schedule?.days == .weekdays)
        #expect(lp.boost?.minBatterySoc == 0.3)
        #expect(
            lp.planWindows == [
                ChargingWindow(start: at(1_792_879_200), end: at(1_792_882_800), energyWh: 11_000)
            ])
        #expect(lp.isDelivering == true)
        #expect(lp.commandedW == 7_360)
    }

    @Test func anAbsentKeyIsNotTold() throws {
        let lp = try loadpoint("")
        var bare = Loadpoint(id: "garage")
        #expect(lp == bare)
        bare.pluggedIn = false
        #expect(try loadpoint("\"plugged_in\":false,\"current_soc\":null") == bare)
        #expect(lp.hold == nil)
        #expect(lp.isDelivering == nil)
    }

    @Test(
        arguments: [
            ("\"manual_active\":false", Loadpoint.Hold.none),
            ("\"manual_active\":true", .paused),
            ("\"manual_active\":true,\"manual_charge_w\":0", .paused),
            (
                "\"manual_active\":true,\"manual\":{\"active\":true,\"requested_w\":0,\"requested_a\":0}",
                .paused
            ),
            (
                "\"manual_active\":true,\"manual\":{\"active\":true,\"requested_w\":7360}",
                .chargeNow(powerW: 7_360)
            ),
            ("\"manual_active\":true,\"manual_charge_w\":4140", .chargeNow(powerW: 4_140)),
            (
                "\"manual_active\":true,\"manual_charge_w\":11000,\"manual\":{\"requested_w\":11000}",
                .chargeNow(powerW: 11_000)
            ),
            ("\"manual_active\":true,\"manual_restore_unconfirmed\":true", .needsChoice),
            ("\"manual_restore_unconfirmed\":true", .needsChoice),
            ("\"manual_active\":\"yes\"", nil),
        ] as [(String, Loadpoint.Hold?)])
    func aHoldIsReadFromWhatTheBoxLeavesOut(fields: String, hold: Loadpoint.Hold?) throws {
        #expect(try loadpoint(fields).hold == hold)
    }

    @Test(arguments: [
        ("\"max_charge_w\":11000,\"phases\":3,\"voltage_v\":230", 11_000.0, "3p"),
        ("\"max_charge_w\":7400,\"phases\":1,\"voltage_v\":230", 7_360, "1p"),
        ("\"max_charge_w\":0,\"phases\":3,\"voltage_v\":230", 11_040, "3p"),
        ("\"max_charge_w\":7400", 7_400, nil), ("", 11_040, nil),
        ("\"phases\":1,\"voltage_v\":0", 3_680, "1p"),
        ("\"max_charge_w\":100,\"phases\":1", 100, "1p"),
    ])
    func fullPowerIsTheChargersFullCurrent(fields: String, powerW: Double, mode: String?) throws {
        #expect(try loadpoint(fields).fullPower == (powerW, mode))
    }

    @Test(arguments: [
        "\"current_soc\":1.2", "\"current_power_w\":-5", "\"plugged_in\":1", "\"phases\":2", "\"phases\":9",
        "\"vehicle_capacity_wh\":\"75\"", "\"target_time\":\"soon\"", "\"vehicle_soc_age_s\":-1",
        "\"schedule\":[]",
        "\"plan_windows\":{}", "\"updated_at_ms\":1e300", "\"current_power_w\":1e300", "\"soc_source\":7",
    ])
    func anUnusableValueIsUnknownAndNamedOnce(fields: String) throws {
        let lp = try loadpoint(fields)
        let key = try #require(fields.split(separator: "\"").first)
        #expect(lp.faults == [String(key)])
        var clean = lp
        clean.faults = []
        #expect(clean == Loadpoint(id: "garage"))
    }

    @Test func theYearOneIsNoDeadline() throws {
        #expect(try loadpoint("\"target_time\":\"0001-01-01T00:00:00Z\"").targetTime == nil)
        #expect(try loadpoint("\"target_time\":\"0001-01-01T00:00:00Z\"").faults.isEmpty)
    }

    @Test func loadpointsWithoutAnIdOrWithOneTwiceAreLeftOut() throws {
        let answer = try #require(
            try list(
                "{\"loadpoints\":[{\"id\":\"a\"},{\"id\":\"a\"},{},{\"id\":\"\"},7,null,{\"id\":\"b\"}]}"))
        #expect(answer.loadpoints.map(\.id) == ["a", "b"])
        #expect(!answer.faults.isEmpty)
    }

    @Test(arguments: ["null", "7", "[]", "{}", "{\"error\":\"starting\"}"])
    func anotherDocumentIsNoAnswer(text: String) throws { #expect(try list(text) == nil) }

    @Test func noChargerIsAnAnswer() throws {
        let answer = try #require(try list("{\"enabled\":false,\"loadpoints\":[]}"))
        #expect(answer.enabled == false)
        #expect(answer.loadpoints.isEmpty)
    }

    @Test func everyPrefixIsRefusedOrRead() throws {
        let bytes = Array(full.utf8)
        for length in 0..<bytes.count {
            guard let json = try? JSONValue(parsing: bytes[..<length]) else { continue }
            _ = LoadpointList(json)
        }
    }

    /// Any value in any place: whatever is read from it can be evaluated and spoken.
    @Test func hostileDocumentsNeverTrap() throws {
        let good = try JSONValue(parsing: full)
        var random = Seeded(state: 20_261_130)
        let zone = try home()
        for _ in 0..<100_000 {
            var hostile = good
            for _ in 0..<Int.random(in: 1...4, using: &random) { hostile = mutated(hostile, &random) }
            guard let lp = LoadpointList(hostile)?.loadpoints.first else { continue }
            let now = at(Int.random(in: 1_792_000_000...1_793_000_000, using: &random))
            var tracker = CarLevelTracker()
            let level = tracker.level(CarLevelInput(loadpoint: lp, readAt: now, now: now))
            let goal = Goal(of: lp, zone: zone, now: now)
            let ready = Readiness(
                ReadinessInput(loadpoint: lp, level: level, goal: goal, plan: nil, now: now))
            #expect(level.soc.map { (0...1).contains($0) } ?? true)
            if Int.random(in: 0..<50, using: &random) == 0 {
                for sentence in [
                    Sentence.level(level), .goal(goal), .readiness(ready),
                    .charging(ChargingState(lp, isReachable: true, windows: ready.windows, now: now)),
                ] {
                    #expect(sentence.text(.sv, zone: zone.zone, now: now).unicodeScalars.count <= 255)
                }
            }
        }
    }

    private func mutated(_ value: JSONValue, _ random: inout Seeded) -> JSONValue {
        let isLeaf = Int.random(in: 0..<5, using: &random) == 0
        switch value {
        case .object(var members) where !members.isEmpty && !isLeaf:
            guard let key = members.keys.sorted().randomElement(using: &random), let inner = members[key]
            else {
                return value
            }
            members[key] = mutated(inner, &random)
            return .object(members)
        case .array(var items) where !items.isEmpty && !isLeaf:
            let index = Int.random(in: 0..<items.count, using: &random)
            items[index] = mutated(items[index], &random)
            return .array(items)
        default:
            let values: [JSONValue] = [
                nil, true, false, 0, 1, -1, 2, 0.5, 1.5, -0.0, 1e18, -1e18, 1e300, "", "vehicle", "NaN", [],
                .object([:]),
                .int(.max), .int(.min), .double(.infinity), .double(.nan),
                .string(String(repeating: "å", count: 2_000)),
                [[[]]], ["id": 7], 1_792_825_500_000, "9999-12-31T23:59:59Z", "2026-10-24T05:00:00Z",
            ]
            return values.randomElement(using: &random) ?? .null
        }
    }

}
