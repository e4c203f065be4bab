import Ambient
import FoundationEssentials
import TestSupport
import Testing

/// The clock that every other test trusts.
@Suite struct ManualTimeTests {
    @Test func bothClocksMoveTogether() {
        let time = ManualTime(wall: Date(timeIntervalSince1970: 1_000))
        time.advance(by: .milliseconds(1_500))
        #expect(time.monotonic == .milliseconds(1_500))
        #expect(time.wall == Date(timeIntervalSince1970: 1_001.5))
    }

    @Test func settingTheWallClockLeavesIntervalsAlone() {
        let time = ManualTime()
        time.setWall(Date(timeIntervalSince1970: 0))
        #expect(time.monotonic == .zero)
        #expect(time.wall == Date(timeIntervalSince1970: 0))
    }

    @Test func aDeadlineThatHasPassedIsNoWait() async throws {
        let time = ManualTime()
        time.advance(by: .seconds(5))
        try await time.sleep(until: .seconds(5))
        try await time.sleep(for: .seconds(-1))
        #expect(time.sleeperCount == 0)
    }

    @Test func sleepersWakeWhenTheirTimeHasCome() async throws {
        let time = ManualTime()
        async let first: Void = time.sleep(for: .seconds(1))
        async let second: Void = time.sleep(for: .seconds(2))
        try #require(await time.hasSleepers(2), "two tasks never slept")
        time.advance(by: .seconds(1))
        try await first
        #expect(time.sleeperCount == 1)
        time.advance(by: .seconds(1))
        try await second
        #expect(time.sleeperCount == 0)
    }

    @Test func aCancelledSleeperThrowsAndIsGone() async throws {
        let time = ManualTime()
        let task = Task { try await time.sleep(for: .seconds(60)) }
        try #require(await time.hasSleepers(), "the task never slept")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(time.sleeperCount == 0)
    }

    @Test func whoIsCancelledBeforeSleepingDoesNotSleep() async {
        let time = ManualTime()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await time.sleep(for: .seconds(60))
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
