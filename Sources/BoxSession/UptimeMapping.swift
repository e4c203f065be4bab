import FoundationEssentials

/// Places the box's uptime on our wall clock (FTW wire §6.7).
///
/// A frame's gap is our wall clock at receipt minus the uptime in it: the
/// moment the box process started, plus the frame's way to us. The smallest gap
/// of a run is the one with the least network in it. The box's own wall clock is
/// never on the session.
struct UptimeMapping: Equatable {
    /// Wall clock at uptime zero; `nil` before the first frame of a run.
    private(set) var origin: Date?
    /// Wall minus monotonic clock at the last frame; moves only when somebody sets the clock.
    private var skew: TimeInterval?
    /// A wall clock that moved by more than this against the monotonic one was set.
    static let step: TimeInterval = 2

    /// Takes a frame's uptime into account.
    mutating func observed(uptimeMs: Int64, wall: Date, monotonic: Duration) {
        let skewNow = wall.timeIntervalSince1970 - monotonic / .seconds(1)
        if let skew, abs(skewNow - skew) > Self.step {
            // All gaps so far were measured with the other clock.
            origin = nil
            self.skew = skewNow
        } else if skew == nil {
            self.skew = skewNow
        }
        let sample = wall - Double(uptimeMs) / 1_000
        if let origin { self.origin = min(origin, sample) } else { origin = sample }
    }

    /// When that uptime was; `nil` before the first frame of a run.
    func wall(uptimeMs: Int64) -> Date? {
        origin.map { $0 + Double(uptimeMs) / 1_000 }
    }

    /// Forgets the run: the box process is another one.
    mutating func restarted() { origin = nil }
}
