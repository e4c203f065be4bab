extension [UInt8] {
    /// A damaged copy, the same for the same dice: some bytes changed, dropped, cut off
    /// or put in. It may come out as it was.
    public func damaged(_ dice: inout SeededDice) -> [UInt8] {
        var copy = self
        for _ in 0..<Int.random(in: 1...4, using: &dice) {
            let place = Int.random(in: 0...copy.count, using: &dice)
            switch Int.random(in: 0..<8, using: &dice) {
            case 0 where place < copy.count: copy[place] = UInt8.random(in: 0...255, using: &dice)
            case 1 where place < copy.count: copy[place] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
            case 2, 3: if place < copy.count { copy.remove(at: place) }
            case 4: copy.insert(UInt8.random(in: 0...255, using: &dice), at: place)
            case 5: copy.removeSubrange(place...)
            // Heads that announce much, and strings, arrays and maps without end (RFC 8949 §3).
            default:
                let heads: [UInt8] = [0x1b, 0x3b, 0x5b, 0x7b, 0x9b, 0xbb, 0xdb, 0x5f, 0x7f, 0x9f, 0xbf, 0xff]
                let head = heads[Int.random(in: 0..<heads.count, using: &dice)]
                copy.insert(contentsOf: [head, 0x10, 0, 0, 0, 0, 0, 0, 0], at: place)
            }
        }
        return copy
    }
}
