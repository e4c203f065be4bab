public import Ambient
public import FoundationEssentials

/// The date and time in the simulated house.
///
/// Either the wall clock of the process, or a clock of its own that starts at
/// a given moment and may run faster, so that a day fits into some minutes.
public struct HouseClock: Sendable {
    private let time: any TimeSource
    private let own: (start: Date, since: Duration, factor: Double)?

    /// A house that lives now.
    public init(following time: any TimeSource) {
        self.time = time
        own = nil
    }

    /// A house with a time of its own.
    ///
    /// - Parameters:
    ///   - start: The house's date and time at this moment.
    ///   - factor: Seconds in the house per second of `time.monotonic`; 1 is real
    ///     time, 60 a minute per second. Values that are not above 0 count as 1.
    public init(time: any TimeSource, startingAt start: Date, factor: Double = 1) {
        self.time = time
        let speed = factor.isFinite && factor > 0 ? factor : 1
        own = (start, time.monotonic, speed)
    }

    /// The date and time in the house.
    public var now: Date {
        guard let own else { return time.wall }
        let elapsed = (time.monotonic - own.since) / .seconds(1)
        return own.start.addingTimeInterval(elapsed * own.factor)
    }
}

/// A time source whose wall clock is the house's.
///
/// Hand it to everything that dates prices and plans when the house runs faster
/// than the world, so that both sides agree on what "now" is.
public struct HouseTime: TimeSource {
    private let base: any TimeSource
    private let clock: HouseClock

    public init(base: any TimeSource, clock: HouseClock) {
        self.base = base
        self.clock = clock
    }

    public var monotonic: Duration { base.monotonic }
    public var wall: Date { clock.now }
    public func sleep(until deadline: Duration) async throws { try await base.sleep(until: deadline) }
}
