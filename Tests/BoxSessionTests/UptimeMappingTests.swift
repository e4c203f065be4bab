import FoundationEssentials
import Testing

@testable import BoxSession

@Suite struct UptimeMappingTests {
    private let start = Date(timeIntervalSince1970: 1_796_000_000)

    @Test func beforeTheFirstFrameNothingIsKnown() {
        #expect(UptimeMapping().wall(uptimeMs: 5) == nil)
    }

    @Test func theSmallestGapWins() {
        var mapping = UptimeMapping()
        for (second, delay) in [(0, 0.4), (1, 0.1), (2, 0.9)] {
            mapping.observed(
                uptimeMs: Int64(second) * 1_000, wall: start + Double(second) + delay,
                monotonic: .seconds(Double(second) + delay))
        }
        #expect(abs((mapping.wall(uptimeMs: 2_000) ?? start).timeIntervalSince(start + 2.1)) < 0.001)
    }

    @Test(arguments: [-3_600.0, 3_600.0, 5.0])
    func aClockThatWasSetStartsAnew(by step: Double) {
        var mapping = UptimeMapping()
        mapping.observed(uptimeMs: 0, wall: start, monotonic: .zero)
        mapping.observed(uptimeMs: 1_000, wall: start + 1 + step, monotonic: .seconds(1))
        #expect(mapping.wall(uptimeMs: 1_000) == start + 1 + step)
    }

    @Test func anotherRunStartsAnew() {
        var mapping = UptimeMapping()
        mapping.observed(uptimeMs: 1_000_000, wall: start, monotonic: .zero)
        mapping.restarted()
        #expect(mapping.wall(uptimeMs: 0) == nil)
        mapping.observed(uptimeMs: 1_000, wall: start + 10, monotonic: .seconds(10))
        #expect(mapping.wall(uptimeMs: 1_000) == start + 10)
    }

    @Test(arguments: [Int64.min, .max])
    func absurdUptimesDoNotTrap(uptimeMs: Int64) {
        var mapping = UptimeMapping()
        mapping.observed(uptimeMs: uptimeMs, wall: start, monotonic: .zero)
        #expect(mapping.wall(uptimeMs: .max) != nil)
    }
}
