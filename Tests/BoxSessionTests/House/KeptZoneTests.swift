import Ambient
import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import BoxSession

/// Where the household is, before its box was heard in this run.
@Suite struct KeptZoneTests {
    private final class Memory: SessionMemory {
        private let values = Mutex<[String: JSONValue]>([:])
        func load(_ name: String) -> JSONValue? { values.withLock { $0[name] } }
        @discardableResult func save(_ name: String, _ value: JSONValue) -> Bool {
            values.withLock { $0[name] = value }
            return true
        }
    }

    /// 01:30 in Stockholm, half past midnight UTC; the machine's zone is UTC.
    private func time() -> ManualTime { ManualTime(wall: Date(timeIntervalSince1970: 1_795_998_600)) }

    private func greet(_ stage: Stage, zone: String) async throws {
        await stage.session.handle(.ready)
        try await stage.shakeHands()
        _ = stage.carrier.taken()
        try await stage.say("hello_ok", stage.box.helloOK(zone: zone))
    }

    @Test func theBoxsZoneIsKnownBeforeItIsHeardAgain() async throws {
        let memory = Memory()
        let first = try Stage(memory: memory, time: time())
        #expect(await first.session.zone.zone.name == "UTC")
        await first.session.handle(.joined)
        try await greet(first, zone: "Europe/Stockholm")
        #expect(await first.session.zone.zone.name == "Europe/Stockholm")

        // Two household days of prices, and a start while the box is away.
        let midnight = Date(timeIntervalSince1970: 1_795_993_200)
        var tracker = PriceTracker(rules: PriceRules())
        tracker.read(
            Prices(
                currency: "SEK",
                slots: (0..<48).map { hour in
                    PriceSlot(
                        start: midnight + Double(hour) * 3_600, end: midnight + Double(hour + 1) * 3_600,
                        totalMinor: 100, spotMinor: nil)
                }))
        let name = await first.session.boxName
        memory.save(
            "prices", ["box": .string(name), "kept": try #require(tracker.json)])
        let second = try Stage(box: first.box, memory: memory, time: time())
        #expect(await second.session.zone.zone.name == "Europe/Stockholm")
        await second.session.handle(.joined)
        let prices = try #require(await second.session.published?.prices)
        #expect(prices.grid.start == midnight && prices.isTomorrowKnown)

        // Another box is somewhere else, and one that has forgotten where it is is believed.
        #expect(try await Stage(memory: memory).session.zone.zone.name == "UTC")
        try await greet(second, zone: "Local")
        #expect(await second.session.zone.zone.name == "UTC")
        #expect(try await Stage(box: first.box, memory: memory).session.zone.zone.name == "UTC")
    }
}
