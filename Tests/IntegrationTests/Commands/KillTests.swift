import BoxLink
import BoxSimulator
import FoundationEssentials
import Glibc
import JSONText
import Synchronization
import TestSupport
import Testing

/// `kill -9` of the real bridge between a command and its result: whatever the moment,
/// each id ends in one outcome, and that one is true.
@Suite(.needsBroker, .timeLimit(.minutes(6))) struct KillTests {
    /// Mostly they wait for a box that may still be at it.
    private static let houses = 10
    private static let livesPerHouse = 20
    private static let mixedRounds = 10

    /// Everything around the bridge dies too, now and then: broker, relay, the box's process.
    @Test(arguments: [20, 21]) func theSameHoldsWhenBrokerRelayAndBoxFailInBetween(number: Int) async throws {
        let broker = try TestBroker()
        let loop = WebSocketLoop()
        var settings = RelayServerSettings()
        settings.limits = .oneAddress
        let relay = RelayServer(loop: loop, settings: settings)
        try await relay.start()
        let tally = KillTally()
        let house = try await KilledHouse(number, broker: broker, relay: relay, loop: loop)
        var trial = KillTrial(house: house, tally: tally, seed: UInt64(2_000 + number))
        do {
            for round in 0..<Self.mixedRounds where !tally.hasSeenEnough {
                switch round % 4 {
                case 0: try await trial.live("bridge") { try await house.end(SIGKILL) }
                case 1: try await trial.live("relay") { relay.dropAll() }
                case 2: try await trial.live("box") { await house.box.restart() }
                default:
                    try await trial.live("broker") {
                        broker.kill()
                        try broker.start()
                    }
                }
            }
            try await trial.lastLife()
        } catch {
            await house.close()
            throw error
        }
        await house.close()
        await relay.stop()
        await loop.stop()
        broker.stop()
        print(tally.count)
        #expect(tally.faults == [])
        #expect(tally.count.kills == Self.mixedRounds)
        #expect(tally.count.ends.values.reduce(0, +) == tally.count.asked)
    }

    @Test func eachCommandEndsOnceAndTrulyHoweverOftenTheBridgeIsKilled() async throws {
        let broker = try TestBroker()
        let loop = WebSocketLoop()
        var settings = RelayServerSettings()
        settings.limits = .oneAddress
        let relay = RelayServer(loop: loop, settings: settings)
        try await relay.start()
        let tally = KillTally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<Self.houses {
                let house = try await KilledHouse(number, broker: broker, relay: relay, loop: loop)
                group.addTask {
                    var trial = KillTrial(house: house, tally: tally, seed: UInt64(number) &+ 26)
                    do {
                        for _ in 0..<Self.livesPerHouse where !tally.hasSeenEnough { try await trial.live() }
                        try await trial.lastLife()
                    } catch {
                        await house.close()
                        throw error
                    }
                    await house.close()
                }
            }
            try await group.waitForAll()
        }
        await relay.stop()
        await loop.stop()
        broker.stop()
        let result = tally.count
        print(result)
        #expect(tally.faults == [])
        #expect(result.kills == Self.houses * Self.livesPerHouse)
        #expect(result.ends.values.reduce(0, +) == result.asked)
        for stage in ["done", "refused", "not_delivered", "unconfirmed"] {
            #expect(result.ends[stage] ?? 0 > 0, "no command ended \(stage)")
        }
    }
}

/// What the trials counted and found wrong, all houses together.
final class KillTally: Sendable {
    struct Count: Sendable, CustomStringConvertible {
        var kills = 0
        var moments: [String: Int] = [:]
        var asked = 0
        /// Carried out at the box.
        var executed = 0
        /// Ended only after they were asked once more: the bridge died before it noted them, or
        /// nobody was there to hear.
        var unnoted = 0
        var ends: [String: Int] = [:]

        var description: String {
            func list(_ counts: [String: Int]) -> String {
                counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            }
            return """
                \(kills) kills (\(list(moments))): \(asked) commands, \(executed) carried out, \
                \(unnoted) were asked again since no end was heard; \(list(ends))
                """
        }
    }
    private let state = Mutex((count: Count(), faults: [String]()))

    var count: Count { state.withLock { $0.count } }
    var faults: [String] { state.withLock { $0.faults } }
    /// Further lives would only say the same.
    var hasSeenEnough: Bool { faults.count >= 5 }
    func add(_ body: (inout Count) -> Void) { state.withLock { body(&$0.count) } }
    func fault(_ text: String) {
        state.withLock { if $0.faults.count < 20 { $0.faults.append(text) } }
    }
}
