import Ambient
import BoxLink
import BoxSession
import BoxSimulator
import Configuration
import EnergyModel
import FoundationEssentials
import JSONText
import MQTTClient
import MQTTTypes
import Persistence
import Testing

/// Who the bridge is for others: ids that stay, and never two of it.
@Suite(.needsBroker, .timeLimit(.minutes(4))) struct IdentityTests {
    @Test func namesMayChangeAndIdsStay() async throws {
        let stage = try await Stage()
        let first = try stage.bridge()
        let old = try await stage.settled()
        #expect(old.uniqueIDs.count >= 20)
        #expect(!old.uniqueIDs.contains { $0.hasPrefix("forty_two_watts") })
        await first.stop()
        let second = try stage.bridge { settings in
            settings.mqtt.baseTopic = "haus/energie"
            settings.sites[0].name = "Sommarstugan på ön"
            settings.language = .sv
        }
        let new = try await stage.settled(root: "haus/energie/home")
        #expect(new.uniqueIDs == old.uniqueIDs)
        #expect(Set(new.discovery.keys) == Set(old.discovery.keys))
        #expect(new.discovery.values.contains { $0["device"]?["name"] == "Sommarstugan på ön" })
        #expect(entityIDs(new) == entityIDs(old))
        // Nothing of the old tree is left, and nothing points there.
        _ = try await stage.picture("the old tree to be gone") { picture in
            !picture.messages.keys.contains { $0.hasPrefix("ftw/") }
        }
        #expect(!new.discovery.values.contains { $0.text.contains("ftw/home/") })
        await second.stop()
        await stage.close()
    }

    @Test func withoutDiscoveryTheOldAnnouncementIsTakenBack() async throws {
        let stage = try await Stage()
        let first = try stage.bridge()
        let old = try await stage.settled()
        #expect(old.discovery.count == RetainedPicture.announcements)
        await first.stop()
        let second = try stage.bridge { $0.mqtt.discovery = false }
        let new = try await stage.picture("a house without discovery") {
            $0.isLive && !$0.messages.keys.contains { $0.hasPrefix("homeassistant/") }
        }
        #expect(new.paths == old.paths)
        await second.stop()
        let third = try stage.bridge { $0.mqtt.discoveryPrefix = "ha" }
        let moved = try await stage.picture("discovery elsewhere") {
            $0.isLive
                && $0.messages.keys.filter { $0.hasPrefix("ha/") }.count == RetainedPicture.announcements
        }
        #expect(moved.discovery.isEmpty)
        await third.stop()
        await stage.close()
    }

    @Test func anotherSiteIdIsAnotherTreeWithTheSameEntities() async throws {
        let stage = try await Stage()
        let first = try stage.bridge()
        let old = try await stage.settled()
        await first.stop()
        // Whoever renames a site moves its files too; here the memory goes with it.
        let folder = FileManager.default
        let state = "\(stage.folder.path)/state"
        for name in try folder.contentsOfDirectory(atPath: state) where name.hasPrefix("memory-home") {
            try folder.copyItem(
                atPath: "\(state)/\(name)",
                toPath: "\(state)/\(name.replacing("memory-home", with: "memory-cabin"))")
        }
        let second = try stage.bridge { $0.sites[0].id = "cabin" }
        let new = try await stage.settled(root: "ftw/cabin")
        #expect(new.uniqueIDs == old.uniqueIDs)
        #expect(Set(new.discovery.keys) == Set(old.discovery.keys))
        await second.stop()
        await stage.close()
    }

    @Test func aSecondCopyWithTheSameConfigurationGivesWay() async throws {
        let stage = try await Stage()
        let first = try stage.bridge()
        let cold = try await stage.settled()
        // Under a client id of its own, or the broker would throw the first one out.
        let second = try stage.bridge(state: "copy") { $0.mqtt.clientID = "copy" }
        try await stage.line("was here first; this one stands by")
        try await stage.line("was started; it is told to stand by")
        try await stage.becomes(cold, after: "a second copy came")
        let instance = cold.document("bridge/info")?["instance"]
        #expect(try await stage.picture().document("bridge/info")?["instance"] == instance)
        let said = second.client.counters().publishes
        // It says nothing more while the first one works.
        let frames = await first.session.counters().frames
        _ = try await stage.eventually("some beats") {
            await first.session.counters().frames > frames + 5 ? true : nil
        }
        #expect(second.client.counters().publishes == said)
        #expect(stage.lines.containing("was here first").count == 1)
        // When the first one leaves, it takes over.
        await first.stop()
        let taken = try await stage.picture("the second one at work") {
            $0.isLive && $0.document("bridge/info")?["instance"] != instance
        }
        #expect(taken.differences(from: cold).isEmpty, "\(taken.differences(from: cold))")
        await second.stop()
        await stage.close()
    }

    @Test func twoCopiesWithOneClientIdDoNotThrowEachOtherOutForEver() async throws {
        let stage = try await Stage()
        let first = try stage.bridge()
        _ = try await stage.settled()
        let second = try stage.bridge(state: "copy")
        let lines = try await stage.line("client id")
        #expect(lines.count <= 2)
        let connects = { first.client.counters().connects + second.client.counters().connects }
        let before = connects()
        let frames = await first.session.counters().frames
        _ = try await stage.eventually("some beats") {
            await first.session.counters().frames > frames + 6 ? true : nil
        }
        #expect(connects() - before <= 4)
        await second.stop()
        _ = try await stage.picture("the first one to work alone again") { $0.isLive }
        await first.stop()
        await stage.close()
    }

    private func entityIDs(_ picture: RetainedPicture) -> Set<String> {
        Set(
            picture.discovery.values.flatMap { document in
                (document["components"]?.objectValue ?? [:]).values.compactMap {
                    $0["default_entity_id"]?.stringValue
                }
            })
    }
}
