import BoxLink
import FoundationEssentials
import JSONText
import TestSupport
import Testing

@testable import BoxSimulator

/// Every situation of the car, as the box's documents tell it.
@Suite struct SituationTests {
    private func look(
        _ situation: CarSituation, _ vintage: BoxVintage = .late
    ) async throws -> (lp: JSONValue, plan: JSONValue, list: JSONValue) {
        let bench = try BoxBench(vintage)
        let phone = try await bench.join()
        await bench.box.setCar(situation)
        let list = try await bench.get(phone, "/api/loadpoints").json
        let plan = try await bench.get(phone, "/api/mpc/plan").json
        return (try #require(list["loadpoints"]?[0]), plan, list)
    }

    @Test func unpluggedHasNoLevelAndNoOrigin() async throws {
        let lp = try await look(.unplugged).lp
        #expect(lp["plugged_in"] == false && lp["current_soc"] == 0 && lp["soc_source"] == nil)
        #expect(lp["vehicle_soc"] == nil && lp["vehicle_driver"] == nil)
    }

    @Test(arguments: [(BoxVintage.base, "inferred"), (.soc, "assumed"), (.late, "assumed")])
    func anUnreadCarIsAssumedAtTwentyPercent(vintage: BoxVintage, source: String) async throws {
        let lp = try await look(.assumed, vintage).lp
        #expect(lp["current_soc"] == 0.2 && lp["soc_source"] == .string(source))
        #expect(lp["plugged_in"] == true && lp["delivered_wh_session"] == 0)
    }

    @Test(arguments: [CarSituation.estimated(0.55), .personSet(0.55)])
    func aConfirmedLevelIsAnEstimate(situation: CarSituation) async throws {
        let lp = try await look(situation).lp
        #expect(lp["current_soc"] == 0.55 && lp["soc_source"] == "inferred")
        #expect(lp["soc_retention"] == "session")
    }

    @Test func aLiveCarSaysItself() async throws {
        let lp = try await look(.carLive(0.62)).lp
        #expect(lp["soc_source"] == "vehicle" && lp["vehicle_soc"] == 0.62 && lp["current_soc"] == 0.62)
        #expect(lp["vehicle_stale"] == nil && lp["vehicle_soc_age_s"]?.doubleValue ?? 999 <= 300)
    }

    @Test func aCarAtZeroHasNoVehicleLevel() async throws {
        let lp = try await look(.carLive(0)).lp
        #expect(lp["soc_source"] == "vehicle" && lp["vehicle_soc"] == nil)
    }

    @Test(arguments: [(300.0, "vehicle", false), (301, "inferred", true), (7_200, "inferred", true)])
    func anOldCarIsOldByItsAge(age: Double, source: String, isStale: Bool) async throws {
        let lp = try await look(.carOld(0.7, ageSeconds: age)).lp
        #expect(lp["soc_source"] == .string(source))
        #expect(lp["vehicle_soc"] == 0.7)
        #expect((lp["vehicle_stale"] == true) == isStale)
        #expect(abs((lp["vehicle_soc_age_s"]?.doubleValue ?? 0) - age) < 1)
    }

    @Test func anOldCarVanishesFromOlderBoxes() async throws {
        for vintage in [BoxVintage.base, .soc] {
            let lp = try await look(.carOld(0.7, ageSeconds: 900), vintage).lp
            #expect(lp["vehicle_soc"] == nil && lp["soc_source"] == "inferred")
        }
    }

    @Test func aFlaggedCarIsOldWhateverItsAge() async throws {
        let lp = try await look(.carFlaggedOld(0.7)).lp
        #expect(lp["vehicle_stale"] == true && lp["soc_source"] == "inferred")
        #expect(lp["vehicle_soc_age_s"]?.doubleValue ?? 999 < 300)
    }

    @Test func aLateCarMissesEnergyInThePlan() async throws {
        let seen = try await look(.late(shortfallWh: 10_800))
        let plan = try #require(seen.plan["plan"])
        let missing = try #require(plan["loadpoint_shortfall_wh"]?["garage"]?.doubleValue)
        #expect(abs(missing - 10_800) < 1)
        let end = try #require(
            plan["actions"]?.arrayValue?.last?["loadpoint_soc_by_id"]?["garage"]?.doubleValue)
        #expect(abs(end - (0.8 - 10_800 / 60_000)) < 0.01)
        #expect(seen.lp["target_soc"] == 0.8)
    }

    @Test func withoutAGoalNothingIsPlanned() async throws {
        let seen = try await look(.noGoal)
        #expect(seen.lp["target_soc"] == 0 && seen.lp["target_time"] == "0001-01-01T00:00:00Z")
        #expect(seen.lp["schedule"]?["soc"] == 0 && seen.lp["plan_windows"] == nil)
        #expect(seen.plan["plan"]?["actions"]?[0]?["loadpoint_soc_by_id"] == nil)
    }

    @Test func aHoldIsSeen() async throws {
        let lp = try await look(.holding(7_000)).lp
        #expect(lp["manual_active"] == true && lp["current_power_w"] == 7_000)
        let paused = try await look(.holding(0)).lp
        #expect(paused["manual"]?["state"] == "paused" && paused["current_power_w"] == 0)
    }

    @Test func aPlanInTheMakingAndNoPlanAreTold() async throws {
        let making = try await look(.replanning)
        #expect(making.lp["plan_pending"] == true && making.plan["meta"]?["replanning"] == true)
        let none = try await look(.noPlan)
        #expect(none.lp["plan_outdated"] == true && none.lp["plan_windows"] == nil)
        #expect(none.plan["plan"] == .null && none.plan["meta"]?["outdated"] == true)
    }

    @Test func twoChargersAreTwoLoadpoints() async throws {
        let seen = try await look(.twoChargers)
        #expect(seen.list["loadpoints"]?.arrayValue?.map { $0["id"] } == ["garage", "carport"])
        #expect(seen.list["loadpoints"]?[1]?["current_soc"] == 0.66)
        let powers = seen.plan["plan"]?["actions"]?[0]?["loadpoint_soc_by_id"]?.objectValue
        #expect(powers?.keys.sorted() == ["carport", "garage"])
    }

    @Test func anOldBoxLacksEveryNewerField() async throws {
        let lp = try await look(.oldBox).lp
        for key in ["charger", "manual", "vehicle_capacity_wh", "capacity_source", "plan_windows"] {
            #expect(lp[key] == nil, "\(key)")
        }
        #expect(lp["soc_source"] == "inferred" && lp["current_soc"] == 0.2)
    }

    @Test func anUnreachableChargerKeepsItsLastWords() async throws {
        let bench = try BoxBench(.late)
        let phone = try await bench.join()
        await bench.box.setCar(.holding(7_000))
        _ = try await bench.loadpoint(phone)
        await bench.beat(2, phone)
        await bench.box.setSource("garage-charger", .offline)
        let lp = try await bench.loadpoint(phone)
        #expect(lp["charger"]?["available"] == false && lp["power_unavailable"] == true)
        #expect(lp["plugged_in"] == true)
    }

    @Test func aRestartForgetsTheLevelOnOldBoxesOnly() async throws {
        for (vintage, level) in [(BoxVintage.base, 0.2), (.soc, 0.6)] {
            let bench = try BoxBench(vintage)
            await bench.box.setCar(.estimated(0.6))
            await bench.box.restart()
            bench.time.advance(by: .seconds(2))
            let lp = try await bench.loadpoint(try await bench.join())
            #expect(abs((lp["current_soc"]?.doubleValue ?? 0) - level) < 0.01)
        }
    }

    @Test func theCarCanLeaveAndComeBackUnread() async throws {
        let bench = try BoxBench(.late)
        let phone = try await bench.join()
        await bench.box.setCar(.estimated(0.6))
        bench.house.plug(false)
        #expect(try await bench.loadpoint(phone)["plugged_in"] == false)
        bench.house.plug(true)
        #expect(try await bench.loadpoint(phone)["soc_source"] == "assumed")
        bench.house.hold(4_200)
        #expect(try await bench.loadpoint(phone)["manual_charge_w"] == 4_200)
        bench.house.hold(nil)
        bench.house.plug(true, loadpoint: "nowhere")
        #expect(try await bench.loadpoint(phone)["manual_active"] == false)
    }

    @Test func theOldSpellingComesOnRequest() async throws {
        let bench = try BoxBench(.base)
        let phone = try await bench.join()
        await bench.box.setCar(.carLive(0.5))
        await bench.box.setOldSpelling(true)
        let lp = try await bench.loadpoint(phone)
        #expect(lp["current_soc_pct"] == 50 && lp["vehicle_soc_pct"] == 50)
    }
}
