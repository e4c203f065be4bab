import EnergyModel
import FoundationEssentials
import JSONText
import Testing

@Suite struct CarPictureTests {
    private let now = at(1_792_825_500)

    private func car() throws -> CarState {
        let fields =
            "\"plugged_in\":true,\"soc_source\":\"inferred\",\"current_soc\":0.4,\"current_power_w\":7360,"
            + "\"manual_active\":true,\"manual_charge_w\":11000,"
            + "\"schedule\":{\"soc\":0.8,\"time_of_day_min\":420,\"recurring\":true,\"days\":31}"
        var tracker = CarLevelTracker()
        return tracker.car(
            CarInput(loadpoint: try loadpoint(fields), readAt: now, zone: try home(), now: now))
    }

    @Test func aPictureComesBackDatedAndOld() throws {
        let car = try car()
        let json = try JSONValue(parsing: car.json.bytes)
        let restored = try #require(CarState(json: json, zone: try home(), now: now + 3_600)).asOld
        #expect(!restored.isCurrent)
        #expect(restored.readAt == now)
        #expect(restored.level.soc == 0.4)
        #expect(restored.level.outdated)
        #expect(restored.goal == car.goal)
        #expect(restored.loadpoint.hold == .chargeNow(powerW: 11_000))
        #expect(restored.powerW == nil)
        #expect(restored.readiness == Readiness(state: .unknown, reason: .stale))
        #expect(restored.charging == .unknown)
    }

    @Test func whatIsOldStaysDatedAsItWas() throws {
        let once = try car().asOld
        #expect(once.level.at == now)
        #expect(once.asOld == once)
    }

    @Test(arguments: [
        "null", "{}", "[]", #"{"loadpoint":{}}"#, #"{"loadpoint":{"id":"a"},"read_at_ms":-1}"#,
        #"{"loadpoint":{"id":"a"},"read_at_ms":1e300}"#, #"{"loadpoint":7,"read_at_ms":1}"#,
    ])
    func aForeignDocumentIsNoCar(text: String) throws {
        #expect(CarState(json: try JSONValue(parsing: text.utf8), zone: try home(), now: now) == nil)
    }
}
