import BoxLink

/// Repeatable disorder (SplitMix64).
struct Disorder: RandomNumberGenerator {
    var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// A damaged copy: some bytes changed, dropped, put in, or the tail cut off.
    mutating func damage(_ bytes: [UInt8]) -> [UInt8] {
        var copy = bytes
        for _ in 0..<Int.random(in: 1...3, using: &self) {
            guard !copy.isEmpty else { return copy }
            let place = Int.random(in: 0..<copy.count, using: &self)
            switch Int.random(in: 0..<5, using: &self) {
            case 0: copy[place] = UInt8.random(in: 0...255, using: &self)
            case 1: copy[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 2: copy.remove(at: place)
            case 3: copy.insert(UInt8.random(in: 0...255, using: &self), at: place)
            default: copy.removeSubrange(place...)
            }
        }
        return copy
    }

    private static let oddities: [CBORValue] = [
        .int(.min), .int(.max), .int(-1), .int(0), .unsigned(.max), .float(.nan), .float(.infinity),
        .float(0.5), .text(""), .text("-1"), .text("99999999999999999999"), .bytes([]), .array([]),
        .map([:]), .null, .bool(true),
    ]

    /// A copy in which one member, however deep, holds something it should not,
    /// is missing, or is there under another name.
    mutating func distort(_ value: CBORValue) -> CBORValue {
        if Int.random(in: 0..<4, using: &self) == 0 { return oddity() }
        switch value {
        case .map(let map) where !map.isEmpty:
            var members = map.members.map { ($0.key, $0.value) }
            let place = Int.random(in: 0..<members.count, using: &self)
            switch Int.random(in: 0..<8, using: &self) {
            case 0: members.remove(at: place)
            case 1: members[place].0 = "x"
            case 2: members[place].0 = "18446744073709551616"
            default: members[place].1 = distort(members[place].1)
            }
            return .map(CBORMap(members))
        case .array(var items) where !items.isEmpty:
            let place = Int.random(in: 0..<items.count, using: &self)
            items[place] = distort(items[place])
            return .array(items)
        default: return oddity()
        }
    }

    private mutating func oddity() -> CBORValue {
        Self.oddities[Int.random(in: 0..<Self.oddities.count, using: &self)]
    }
}
