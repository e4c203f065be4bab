import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

/// Whose clock is meant when the box does not say where it is: that of the settings, for what
/// a person writes and for what a person reads.
@Suite struct ZoneOfTheHouseTests {
    /// What a session tells of a box that says "" or "Local", and of one that says "UTC".
    static let words: [String?] = [nil, "UTC"]

    private func bench(box: String?) throws -> Bench {
        var settings = settings()
        settings.zone = try #require(Zone(named: "Europe/Helsinki"))
        var bench = Bench(settings)
        let state = houseWithCars().changed { $0.box?.zone = box }
        bench.see(state)
        bench.connect()
        return bench
    }

    /// It is 11:00 in Helsinki, 10:00 in Stockholm and 09:00 UTC.
    @Test(arguments: words) func aTimeOfDayIsOnTheSettingsClock(box: String?) throws {
        var bench = try bench(box: box)
        bench.feed(
            .message(
                Message("ftw/home/car/garage/control/set", #"{"value":"charge_now","until":"13:00"}"#)))
        #expect(
            bench.orders.map(\.intent) == [.control(.chargeNow(powerW: nil, until: morning + 2 * 3_600))])
    }

    @Test(arguments: words) func documentsAreInTheSettingsZone(box: String?) throws {
        let bench = try bench(box: box)
        #expect(bench.json("bridge/info")?["zone"] == "Europe/Helsinki")
        #expect(bench.json("power")?["at"] == "2026-11-30T11:00:00+02:00")
        #expect(bench.json("battery")?["at"] == "2026-11-30T11:00:00+02:00")
        #expect(bench.json("car/garage/level")?["at"] == "2026-11-30T11:00:00+02:00")
    }

    @Test(arguments: words) func sentencesAreOnTheSettingsClock(box: String?) throws {
        var bench = try bench(box: box)
        bench.see(
            houseWithCars().changed { state in
                state.box?.zone = box
                state.cars?[0].charging = .waiting(
                    ChargingWindow(start: morning + 3_600, end: morning + 7_200))
            })
        bench.pass(.seconds(30))
        let text = try #require(bench.json("car/garage/text/en")?["charging"]?.stringValue)
        #expect(text.contains("12:00"), "\(text)")
    }

    @Test func aBoxThatSaysWhereItIsHasTheLastWord() throws {
        let bench = try bench(box: "Europe/Stockholm")
        #expect(bench.json("power")?["at"] == "2026-11-30T10:00:00+01:00")
    }
}
