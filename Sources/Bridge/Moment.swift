import Ambient
public import FoundationEssentials

/// One moment on both clocks: ours for intervals, the wall's for dates.
public struct Moment: Sendable, Equatable {
    public var monotonic: Duration
    public var wall: Date

    public init(monotonic: Duration, wall: Date) {
        self.monotonic = monotonic
        self.wall = wall
    }

    init(_ time: any TimeSource) { self.init(monotonic: time.monotonic, wall: time.wall) }
}
