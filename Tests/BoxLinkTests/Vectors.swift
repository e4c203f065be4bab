import FoundationEssentials
import JSONText
import Testing

/// The published vectors, read from beside this file.
enum Vectors {
    private static let here = #filePath

    static func text(_ name: String) throws -> String {
        let folder = here.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let path = folder.joined(separator: "/") + "/Vectors/" + name
        let bytes = try #require(FileManager.default.contents(atPath: path), "no \(path)")
        return String(decoding: bytes, as: UTF8.self)
    }

    static func json(_ name: String) throws -> JSONValue {
        try JSONValue(parsing: text(name))
    }
}

extension JSONValue {
    /// The bytes of a member that is hex text.
    func hex(_ name: String) throws -> [UInt8] {
        try #require(Hex.bytes(try string(name)), "\(name) is not hex")
    }
    func string(_ name: String) throws -> String { try #require(self[name]?.stringValue, "no \(name)") }
    func int(_ name: String) throws -> Int64 { try #require(self[name]?.intValue, "no \(name)") }
    func list(_ name: String) throws -> [JSONValue] { try #require(self[name]?.arrayValue, "no \(name)") }
    func member(_ name: String) throws -> JSONValue { try #require(self[name], "no \(name)") }
}

enum Hex {
    /// `nil` for an odd count or something that is no hex digit.
    static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}

/// Repeatable disorder (SplitMix64).
struct SeededChance: RandomNumberGenerator {
    var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

extension Array where Element == UInt8 {
    /// A damaged copy: some bytes changed, cut, repeated or put in.
    func mutated(_ chance: inout SeededChance) -> [UInt8] {
        var copy = self
        for _ in 0..<Int.random(in: 1...4, using: &chance) {
            let place = Int.random(in: 0...copy.count, using: &chance)
            switch Int.random(in: 0..<6, using: &chance) {
            case 0 where place < copy.count: copy[place] = UInt8.random(in: 0...255, using: &chance)
            case 1 where place < copy.count: copy[place] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
            case 2 where place < copy.count: copy.remove(at: place)
            case 3: copy.insert(UInt8.random(in: 0...255, using: &chance), at: place)
            case 4: copy.removeSubrange(place...)
            // Heads that announce much, and strings, arrays and maps without end.
            default:
                let heads: [UInt8] = [0x1b, 0x3b, 0x5b, 0x7b, 0x9b, 0xbb, 0xdb, 0x5f, 0x7f, 0x9f, 0xbf, 0xff]
                let head = heads[Int.random(in: 0..<heads.count, using: &chance)]
                copy.insert(contentsOf: [head, 0x10, 0, 0, 0, 0, 0, 0, 0], at: place)
            }
        }
        return copy
    }
}
