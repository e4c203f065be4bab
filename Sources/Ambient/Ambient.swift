/// What every part is handed from the process around it: clocks, a log, chance.
///
/// Passing these in is what lets a test stop time and repeat a dice roll.
public struct Ambient: Sendable {
    public var time: any TimeSource
    public var log: Log
    /// A number from 0 up to but not including 1; for jitter, never for keys.
    public var chance: @Sendable () -> Double

    public init(
        time: any TimeSource = SystemTime(), log: Log = .none,
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.time = time
        self.log = log
        self.chance = chance
    }
}
