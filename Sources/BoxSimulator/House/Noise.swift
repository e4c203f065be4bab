/// Chance that depends on nothing but a seed and a place, so that the same
/// house has the same weather in every run, asked in whatever order.
struct HouseNoise: Sendable {
    /// What a roll is for; rolls of different kinds do not follow each other.
    enum Kind: UInt64 {
        case cloud = 1
        case cloudiness, load, appliance, price, priceDay, negativeNoon, leaving, coming, trip, identifier
    }
    let seed: UInt64

    /// A number from 0 up to but not including 1.
    func roll(_ kind: Kind, _ index: Int64) -> Double {
        Double(bits(kind, index) >> 11) / Double(1 << 53)
    }

    /// 64 bits (SplitMix64 over seed, kind and index).
    func bits(_ kind: Kind, _ index: Int64) -> UInt64 {
        var z = seed &+ kind.rawValue &* 0xD1B5_4A32_D192_ED03
        z = z &+ UInt64(bitPattern: index) &* 0x9E37_79B9_7F4A_7C15
        for _ in 0..<2 {
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            z ^= z >> 31
        }
        return z
    }

    /// A number from 0 to 1 that changes smoothly, with a new direction every `period` seconds.
    func drift(_ kind: Kind, at second: Double, period: Double) -> Double {
        let place = (second / period).rounded(.down)
        guard let index = Int64(exactly: place), index < .max else { return 0.5 }
        let part = second / period - place
        let ease = part * part * (3 - 2 * part)
        return roll(kind, index) * (1 - ease) + roll(kind, index + 1) * ease
    }
}
