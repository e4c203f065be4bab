/// Decides how long to stand back when sessions keep dying of silence.
///
/// A box holds four sessions and evicts the oldest without a word when a fifth
/// arrives (FTW wire §11.5). Coming back at once heals a single eviction, but
/// with more clients than places it only throws out the next phone, whose owner
/// is looking at it. So the first silence is answered at once, and each one that
/// follows soon after is answered later and later.
struct EvictionGuard: Equatable {
    /// The wait before the next handshake, by how many sessions died so before.
    static let waits: [Duration] = [
        .zero, .seconds(30), .seconds(60), .seconds(120), .seconds(300), .seconds(600),
    ]
    /// A session that lived this long was not crowded out soon after it began.
    static let steady = Duration.seconds(600)

    private(set) var strikes = 0

    /// A session of that age went silent.
    ///
    /// - Returns: How long to wait before the next handshake.
    mutating func sessionSilent(age: Duration) -> Duration {
        if age >= Self.steady { strikes = 0 }
        let wait = Self.waits[min(strikes, Self.waits.count - 1)]
        strikes = min(strikes + 1, Self.waits.count)
        return wait
    }

    /// The silence was the path's, not the box's: nobody took our place.
    mutating func pathWasDead() { strikes = max(0, strikes - 1) }

    /// The box forgot every session; all four places are free.
    mutating func placesFreed() { strikes = 0 }
}
