public import FoundationEssentials

/// A time zone of the system's zone database, with its past and future changes.
///
/// FoundationEssentials knows only GMT, and the C library knows only the one
/// zone of the process, so the compiled zone files are read here (RFC 9636).
/// Nothing in this type depends on the zone of the machine it runs on.
public struct Zone: Sendable, Equatable {
    /// The IANA name, such as `Europe/Stockholm`.
    public let name: String
    /// Instants, in seconds since 1970, at which the offset changes; ascending.
    let transitions: [Int64]
    /// The offset in force from the transition with the same index on.
    let offsets: [Int]
    /// The offset before the first transition.
    let firstOffset: Int
    /// The rule for everything after the last transition.
    let rule: ZoneRule?

    public static let utc = Zone(name: "UTC", transitions: [], offsets: [], firstOffset: 0, rule: nil)

    init(name: String, transitions: [Int64], offsets: [Int], firstOffset: Int, rule: ZoneRule?) {
        self.name = name
        self.transitions = transitions
        self.offsets = offsets
        self.firstOffset = firstOffset
        self.rule = rule
    }

    /// The zone of that name in the system's database.
    ///
    /// `nil` for a name that is not in it. The name may come from outside, so
    /// it is only ever looked up below the database's folder.
    ///
    /// - Parameter directory: Where the compiled zone files lie.
    public init?(named name: String, directory: String = "/usr/share/zoneinfo") {
        guard Self.isPlausible(name) else { return nil }
        guard let bytes = FileManager.default.contents(atPath: directory + "/" + name),
            bytes.count <= 1 << 20
        else { return nil }
        self.init(name: name, compiled: Array(bytes))
    }

    /// Seconds east of Greenwich at that instant.
    public func offset(at instant: Date) -> Int { offset(atSecond: instant.wholeSeconds) }

    func offset(atSecond second: Int64) -> Int {
        guard let first = transitions.first, let last = transitions.last else {
            return rule?.offset(atSecond: second) ?? firstOffset
        }
        if second < first { return firstOffset }
        if second >= last, let rule { return rule.offset(atSecond: second) }
        var low = 0
        var high = transitions.count
        while low + 1 < high {
            let middle = (low + high) / 2
            if transitions[middle] <= second { low = middle } else { high = middle }
        }
        return offsets[low]
    }

    private static func isPlausible(_ name: String) -> Bool {
        guard !name.isEmpty, name.utf8.count <= 64 else { return false }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, first != "right", first != "posix" else { return false }
        return parts.allSatisfy { part in
            guard let initial = part.utf8.first, isLetter(initial) else { return false }
            return part.utf8.allSatisfy {
                isLetter($0) || isDigit($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x5F
            }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

extension Date {
    /// Whole seconds since 1970, rounded down; dates beyond some ten thousand
    /// years are moved to that limit, so that arithmetic on them is safe.
    var wholeSeconds: Int64 {
        let limit = 400_000_000_000.0
        let seconds = timeIntervalSince1970
        guard seconds.isFinite else { return seconds > 0 ? Int64(limit) : -Int64(limit) }
        return Int64(min(limit, max(-limit, seconds.rounded(.down))))
    }
}

extension Zone {
    /// Reads one compiled zone file (RFC 9636 §3), any version.
    ///
    /// `nil` for anything that is not one, whatever its bytes are.
    public init?(name: String, compiled bytes: [UInt8]) {
        guard let head = Header(bytes, at: 0) else { return nil }
        var header = head
        var width = 4
        if head.version >= UInt8(ascii: "2") {
            guard let second = Header(bytes, at: head.end(width: 4)) else { return nil }
            header = second
            width = 8
        }
        guard header.typeCount > 0, header.end(width: width) <= bytes.count else { return nil }

        var position = header.start
        var transitions: [Int64] = []
        for _ in 0..<header.timeCount {
            transitions.append(Self.signed(bytes[position..<position + width]))
            position += width
        }
        let kinds = bytes[position..<position + header.timeCount].map(Int.init)
        position += header.timeCount
        var typeOffsets: [Int] = []
        for _ in 0..<header.typeCount {
            let offset = Int(Self.signed(bytes[position..<position + 4]))
            guard abs(offset) < 93_600 else { return nil }
            typeOffsets.append(offset)
            position += 6
        }
        guard kinds.allSatisfy(typeOffsets.indices.contains),
            zip(transitions, transitions.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }

        var rule: ZoneRule?
        let footer = header.end(width: width)
        if width == 8, footer < bytes.count, bytes[footer] == 0x0A,
            let end = bytes[(footer + 1)...].firstIndex(of: 0x0A), end > footer + 1
        {
            rule = ZoneRule(parsing: bytes[(footer + 1)..<end])
            if rule == nil { return nil }
        }
        self.init(
            name: name, transitions: transitions, offsets: kinds.map { typeOffsets[$0] },
            firstOffset: typeOffsets[0], rule: rule)
    }

    private static func signed(_ bytes: ArraySlice<UInt8>) -> Int64 {
        let raw = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return bytes.count == 8 ? Int64(bitPattern: raw) : Int64(Int32(truncatingIfNeeded: raw))
    }

    /// ```
    /// 0  "TZif"   4  version   5  15 reserved
    /// 20 isutcnt  24 isstdcnt  28 leapcnt  32 timecnt  36 typecnt  40 charcnt   (32 bits each)
    /// 44 times, kinds, types (6 bytes), characters, leap seconds, standard flags, UT flags
    /// ```
    private struct Header {
        let version: UInt8
        let start: Int
        let counts: [Int]

        init?(_ bytes: [UInt8], at begin: Int) {
            guard begin >= 0, begin + 44 <= bytes.count,
                bytes[begin..<begin + 4].elementsEqual("TZif".utf8)
            else { return nil }
            version = bytes[begin + 4]
            start = begin + 44
            counts = (0..<6).map { field in
                let at = begin + 20 + field * 4
                return bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
            }
            guard counts.allSatisfy({ $0 <= 100_000 }) else { return nil }
        }

        var leapCount: Int { counts[2] }
        var timeCount: Int { counts[3] }
        var typeCount: Int { counts[4] }

        func end(width: Int) -> Int {
            start + timeCount * (width + 1) + typeCount * 6 + counts[5] + leapCount * (width + 4)
                + counts[1] + counts[0]
        }
    }
}
