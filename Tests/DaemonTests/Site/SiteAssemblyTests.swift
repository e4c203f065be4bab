import Ambient
import BoxLink
import Bridge
import Configuration
import EnergyModel
import FoundationEssentials
import Persistence
import Testing

@testable import BoxSession
@testable import Daemon

@Suite struct SiteAssemblyTests {
    /// Session and bridge of a site, on a machine in Helsinki.
    private func zones(configured: String?) async throws -> (session: Zone, bridge: Zone) {
        let key = try X25519KeyPair()
        let record = PairingRecord(
            site: "home", privateKey: key.exportSecret(), boxKey: try X25519KeyPair().publicKey,
            rendezvousSecret: Array(repeating: 7, count: 32), code: nil, label: "Home", deviceID: "d")
        var settings = Settings()
        settings.sites[0].zone = configured
        let loop = WebSocketLoop()
        var assembly = SiteAssembly(
            settings: settings, site: settings.sites[0], loop: loop, ambient: Ambient())
        assembly.machineZone = try #require(Zone(named: "Europe/Helsinki"))
        let session = try assembly.session(for: record, over: try assembly.carrier(for: record))
        let zones = (await session.zone.zone, assembly.bridge(for: record).zone)
        await loop.stop()
        return zones
    }

    @Test(arguments: [
        (nil, "Europe/Helsinki"), ("America/New_York", "America/New_York"), ("UTC", "UTC"),
        // The check refuses it; a program that runs goes on with what it has.
        ("Nowhere/Atlantis", "Europe/Helsinki"),
    ])
    func sessionAndBridgeHaveTheSameZone(configured: String?, expected: String) async throws {
        let zones = try await zones(configured: configured)
        #expect(zones.session.name == expected)
        #expect(zones.bridge == zones.session)
    }
}
