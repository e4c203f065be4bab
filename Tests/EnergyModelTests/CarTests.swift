import EnergyModel
import FoundationEssentials
import JSONText
import Testing

@Suite struct CarTests {
    private let now = at(1_792_825_500)
    private let fields =
        "\"plugged_in\":true,\"soc_source\":\"vehicle\",\"vehicle_driver\":\"t\",\"vehicle_soc\":0.62,"
        + "\"current_soc\":0.62,\"current_power_w\":7360,\"delivered_wh_session\":1200,\"max_charge_w\":11000,"
        + "\"phases\":3,\"voltage_v\":230,\"manual_active\":false,\"surplus_only\":true,\"vehicle_name\":\"Blå\","
        + "\"schedule\":{\"soc\":0.8,\"time_of_day_min\":420,\"recurring\":true}"

    private func input(_ change: (inout CarInput) -> Void = { _ in }) throws -> CarInput {
        var input = CarInput(loadpoint: try loadpoint(fields), readAt: now, zone: try home(), now: now)
        change(&input)
        return input
    }

    @Test func everythingAboutACarComesFromOneAnswer() throws {
        var tracker = CarLevelTracker()
        let car = tracker.car(try input())
        #expect(car.isCurrent)
        #expect(car.isPluggedIn == true)
        #expect(car.isCharging == true)
        #expect(car.powerW == 7_360)
        #expect(car.level.origin == .car)
        #expect(car.goal?.soc == 0.8)
        #expect(car.readiness.reason == .noPlan)
        #expect(car.charging == .charging(powerW: 7_360))
        #expect(car.intention == .plan)
        #expect(car.fullPowerW == 11_000)
        #expect(car.vehicleName == "Blå")
    }

    @Test func nothingOldLooksLive() throws {
        let changes: [(inout CarInput) -> Void] = [
            { $0.isTrusted = false }, { $0.isChargerHealthy = false },
            { $0.loadpoint.charger = Loadpoint.ChargerReading(known: true, available: false) },
        ]
        for change in changes {
            var tracker = CarLevelTracker()
            _ = tracker.car(try input())
            let car = tracker.car(
                try input {
                    change(&$0)
                    $0.now = now.addingTimeInterval(30)
                })
            #expect(!car.isCurrent)
            #expect(car.isPluggedIn == nil)
            #expect(car.isCharging == nil)
            #expect(car.powerW == nil)
            #expect(car.sessionWh == nil)
            #expect(car.level.outdated)
            #expect(car.level.soc == 0.62)
            #expect(car.level.at == now)
            #expect(car.readiness.reason == .stale)
            #expect(car.charging == .unknown)
        }
    }

    @Test func aRestartedBridgeStillKnowsThePerson() throws {
        var tracker = CarLevelTracker()
        tracker.personSet(PersonNote(soc: 0.6, at: now, sessionWh: 1_200, boxStartedAt: nil))
        var reborn = CarLevelTracker(json: try JSONValue(parsing: tracker.json.bytes))
        let car = reborn.car(
            try input {
                $0.loadpoint.socSource = .inferred
                $0.loadpoint.vehicleDriver = nil
                $0.loadpoint.currentSoc = 0.6
            })
        #expect(car.level.origin == .person)
    }

    @Test(
        arguments: [
            ("\"manual_active\":true,\"manual_charge_w\":11000", Sentence.Intention.chargeNow),
            ("\"manual_active\":true", .paused), ("\"manual_active\":false", .plan),
            ("\"manual_active\":true,\"manual_restore_unconfirmed\":true", .paused), ("\"id2\":1", nil),
        ] as [(String, Sentence.Intention?)])
    func theShownControlIsWhatTheBoxHolds(fields: String, intention: Sentence.Intention?) throws {
        var tracker = CarLevelTracker()
        let lp = try loadpoint(fields)
        #expect(tracker.car(try input { $0.loadpoint = lp }).intention == intention)
    }
}
