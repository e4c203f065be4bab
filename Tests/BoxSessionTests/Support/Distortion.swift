import BoxLink
import TestSupport

extension SeededDice {
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
        Self.oddities.randomElement(using: &self) ?? .null
    }
}
