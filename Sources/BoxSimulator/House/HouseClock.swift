public import Ambient
public import FoundationEssentials
import Synchronization

/// The date and time in the simulated house.
///
/// Either the wall clock of the process, or a clock of its own that starts at
/// a given moment and may run faster, so that a day fits into some minutes.
public struct HouseClock: Sendable {
    private let time: any TimeSource
    private let own: Hand?

    /// Where a clock of the house's own stands, shared by everybody who looks at it.
    private final class Hand: Sendable {
        let state: Mutex<(start: Date, since: Duration, factor: Double)>

        init(start: Date, since: Duration, factor: Double) { state = Mutex((start, since, factor)) }

        func date(at moment: Duration) -> Date {
            state.withLock { $0.start.addingTimeInterval((moment - $0.since) / .seconds(1) * $0.factor) }
        }
    }

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
        own = Hand(start: start, since: time.monotonic, factor: Self.sound(factor))
    }

    private static func sound(_ factor: Double) -> Double { factor.isFinite && factor > 0 ? factor : 1 }

    /// Lets the day pass faster or slower from now on.
    ///
    /// - Parameter factor: As in ``init(time:startingAt:factor:)``.
    /// - Returns: False for a house that lives now, whose clock is not its own.
    @discardableResult
    public func setSpeed(_ factor: Double) -> Bool {
        guard let own else { return false }
        let (now, moment) = (self.now, time.monotonic)
        own.state.withLock { $0 = (now, moment, Self.sound(factor)) }
        return true
    }

    /// Sets the clock, as a person or a time server does; it goes on at its speed.
    ///
    /// - Returns: False for a house that lives now.
    @discardableResult
    public func set(_ date: Date) -> Bool {
        guard let own else { return false }
        let moment = time.monotonic
        own.state.withLock { $0 = (date, moment, $0.factor) }
        return true
    }

    /// The date and time in the house.
    public var now: Date {
        own?.date(at: time.monotonic) ?? time.wall
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
