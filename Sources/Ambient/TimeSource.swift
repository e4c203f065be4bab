public import FoundationEssentials

/// The clocks that a part of the bridge may look at.
///
/// Two clocks on purpose: `monotonic` measures our own intervals and never goes
/// back, `wall` dates what other people read. A test hands in a clock that
/// moves only when the test moves it.
public protocol TimeSource: Sendable {
    /// Time since an arbitrary start. Never goes back, and goes on while the machine sleeps:
    /// how long a link was down is measured with it.
    var monotonic: Duration { get }
    /// The wall clock. May jump in either direction when somebody sets it.
    var wall: Date { get }
    /// Returns once `monotonic` has reached `deadline`, at once if it already has.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while waiting.
    func sleep(until deadline: Duration) async throws
}

extension TimeSource {
    /// Waits for `duration` of monotonic time; a negative one is no wait.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while waiting.
    public func sleep(for duration: Duration) async throws {
        try await sleep(until: monotonic + duration)
    }
}

/// The machine's own clocks; `monotonic` is Linux' `CLOCK_BOOTTIME`.
public struct SystemTime: TimeSource {
    private static let start = ContinuousClock.now

    public init() {}

    public var monotonic: Duration { Self.start.duration(to: ContinuousClock.now) }
    public var wall: Date { Date() }

    public func sleep(until deadline: Duration) async throws {
        try await Task.sleep(until: Self.start.advanced(by: deadline), clock: ContinuousClock())
    }
}
