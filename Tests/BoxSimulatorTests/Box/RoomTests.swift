import Ambient
import BoxLink
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSimulator

/// The whole box, run in a room with two phones, on a clock moved by hand.
@Suite struct RoomTests {
    /// Lets tasks run, and a little time pass, until something is true.
    private func eventually(_ time: ManualTime, _ isTrue: () async -> Bool) async -> Bool {
        for _ in 0..<3_000 {
            if await isTrue() { return true }
            time.advance(by: .milliseconds(20))
            for _ in 0..<20 { await Task.yield() }
        }
        return false
    }

    @Test func twoPhonesShareARoomAndSurviveARestart() async throws {
        let time = ManualTime()
        let ambient = Ambient(time: time, chance: { 0.5 })
        let relay = InMemoryRelay(ambient: ambient)
        let box = SimulatedBox(
            settings: try SimulatedBoxSettings(seed: 3), carrier: relay.carrier(room: "home", end: .box),
            ambient: ambient)
        let link = try PairingLink(parsing: await box.pairingLink())
        let phone = { (key: UInt8, code: [UInt8]) throws in
            SimulatedPhone(
                identity: try BoxBench.keys(key), boxKey: link.boxKey, code: code,
                carrier: relay.carrier(room: "home", end: .app))
        }
        let first = try phone(1, link.code.exported())
        let second = try phone(2, [])
        await box.enrol(clientKey: try BoxBench.keys(2).publicKey, role: .viewer)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await relay.run() }
            group.addTask { await box.run() }
            group.addTask { await first.run() }
            #expect(await eventually(time) { await first.frames["snap"] == 1 })
            group.addTask { await second.run() }
            #expect(await eventually(time) { await second.frames["snap"] == 1 })
            #expect(
                await eventually(time) {
                    let beats = await second.frames
                    let foreign = await first.foreignMessages
                    return (beats["tick"] ?? 0) + (beats["delta"] ?? 0) > 3 && foreign > 3
                })
            await box.restart()
            #expect(await eventually(time) { await first.frames["snap"] == 2 })
            #expect(await eventually(time) { await second.frames["snap"] == 2 })
            #expect(await box.uptimeMs < 600_000)
            await second.read("/api/mode", id: 1)
            #expect(await eventually(time) { await second.frames["api.end"] == 1 })
            #expect(await box.requestLog.count("/api/mode") == 1)
            group.cancelAll()
        }
        #expect(await box.liveSessionCount == 0)
        #expect(!(await first.isUp))
    }
}
