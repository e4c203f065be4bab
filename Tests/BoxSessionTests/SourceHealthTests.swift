import EnergyModel
import Testing

@testable import BoxSession

@Suite struct SourceHealthTests {
    private var health = SourceHealth()

    private mutating func observe(_ state: Source.State, at second: Double, blocked: [String] = []) {
        health.observed(states: ["roof": state], blockedBy: blocked, at: .seconds(second))
    }
    private func isWell(at second: Double) -> Bool { health.isHealthy("roof", at: .seconds(second)) }

    @Test mutating func aLiveSourceIsWellFromTheStart() {
        observe(.live, at: 0)
        #expect(isWell(at: 0))
        #expect(health.nextChange(after: .zero) == nil)
    }

    @Test mutating func aLaggingSourceWithoutAFaultStillReports() {
        observe(.lagging, at: 0)
        #expect(isWell(at: 0))
    }

    @Test(arguments: [Source.State.stale, .down, .never, .unknown])
    mutating func aFaultCountsAtOnceAndIsHeldForTenSteadySeconds(state: Source.State) {
        observe(.live, at: 0)
        observe(state, at: 1)
        #expect(!isWell(at: 1))
        observe(.live, at: 5)
        #expect(!isWell(at: 14.9))
        #expect(health.nextChange(after: .seconds(6)) == .seconds(15))
        #expect(isWell(at: 15))
    }

    /// A failing driver alternates between `down` and `lagging` on every beat.
    @Test mutating func trap14AFlappingSourceStaysIll() {
        observe(.live, at: 0)
        for beat in 1...60 {
            observe(beat.isMultiple(of: 2) ? .lagging : .down, at: Double(beat))
            #expect(!isWell(at: Double(beat)))
            #expect(!isWell(at: Double(beat) + 0.9))
        }
        observe(.live, at: 61)
        #expect(!isWell(at: 70.9))
        #expect(isWell(at: 71))
    }

    @Test mutating func afterAFaultLaggingIsNotWellHoweverLong() {
        observe(.down, at: 0)
        observe(.lagging, at: 1)
        #expect(!isWell(at: 600))
        #expect(health.nextChange(after: .seconds(600)) == nil)
        observe(.live, at: 601)
        #expect(!isWell(at: 610))
        #expect(isWell(at: 611))
    }

    @Test mutating func aSourceThatLeftTheTableIsNotWell() {
        observe(.live, at: 0)
        health.observed(states: [:], blockedBy: [], at: .seconds(1))
        #expect(!isWell(at: 1))
        #expect(!health.isHealthy("nobody", at: .zero))
    }

    @Test mutating func theBlockedListIsHeldLikewise() {
        observe(.live, at: 0, blocked: ["meter"])
        observe(.live, at: 1)
        #expect(health.blockedBy(at: .seconds(2)) == ["meter"])
        observe(.live, at: 3, blocked: ["meter"])
        observe(.live, at: 4)
        #expect(health.blockedBy(at: .seconds(13.9)) == ["meter"])
        #expect(health.nextChange(after: .seconds(5)) == .seconds(14))
        #expect(health.blockedBy(at: .seconds(14)) == [])
    }

    @Test mutating func whileItStandsTheBlockedListNeedsNoHold() {
        observe(.live, at: 0, blocked: ["meter"])
        #expect(health.blockedBy(at: .seconds(5_000)) == ["meter"])
    }

    @Test mutating func heldBlockersAreBounded() {
        for round in 0..<1_000 {
            health.observed(states: [:], blockedBy: ["b\(round)"], at: .milliseconds(round))
        }
        #expect(health.blockedBy(at: .seconds(1)).count <= SourceHealth.maxBlockers + 1)
    }
}
