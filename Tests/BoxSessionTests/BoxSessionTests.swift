import BoxLink
import EnergyModel
import Testing

@testable import BoxSession

@Suite struct BoxSessionTests {
    @Test func aReadyBoxBecomesALiveHouse() async throws {
        let stage = try Stage()
        try await stage.goLive()
        let site = await stage.site
        #expect(site.link.state == .live)
        #expect(site.box?.zone == "Europe/Stockholm")
        #expect(site.power?.gridW == 1_200)
        #expect(site.power?.solarW == -3_000)
        #expect(site.power?.batteryW == 500)
        #expect(site.power?.carW == 4_000)
        #expect(site.power?.houseW == 700)
        #expect(site.battery?.soc == 0.613)
        #expect(site.mode?.current?.key == "planner_self")
        #expect(site.control.answer == .yes)
        #expect(site.sources.map(\.roles) == [[.charger], [.meter], [.solar], [.battery]])
        #expect(stage.carrier.proven == 1)
    }
}
