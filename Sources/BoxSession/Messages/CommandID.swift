import BoxLink
public import FoundationEssentials

/// Names commands: UUIDs of version 7 (RFC 9562 §5.7), so that they sort by time.
public enum CommandID {
    /// A fresh id.
    ///
    /// | bytes | 0–5 | 6–7 | 8–15 |
    /// |---|---|---|---|
    /// | | wall clock, ms | `7` ‖ 12 random bits | `10` ‖ 62 random bits |
    ///
    /// - Parameters:
    ///   - wall: The wall clock. Times that 48 bits cannot hold are pinned to the nearest that fits.
    ///   - random: Ten bytes, fewer are filled up with zeros; `nil` draws fresh ones.
    public static func make(at wall: Date, random: [UInt8]? = nil) -> String {
        let random = random ?? Primitives.random(10)
        let seconds = wall.timeIntervalSince1970
        let most = Double((Int64(1) << 48) - 1)
        let ms = Int64(max(0, min(most, (seconds * 1_000).rounded())))
        var bytes = (0..<6).map { UInt8(truncatingIfNeeded: ms >> (40 - 8 * $0)) }
        bytes += (0..<10).map { $0 < random.count ? random[$0] : 0 }
        bytes[6] = 0x70 | (bytes[6] & 0x0f)
        bytes[8] = 0x80 | (bytes[8] & 0x3f)
        let digits = Array("0123456789abcdef")
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append("-") }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return text
    }
}
