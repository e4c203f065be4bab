/// One level of a topic, made from an id that others chose.
///
/// Only `[a-z0-9-]` survives, because that is what every broker, client and
/// Home Assistant's discovery take. Whatever was lost on the way is made up for
/// by a short hash of the original, so two ids never share a topic.
public struct TopicLevel: Sendable, Hashable, CustomStringConvertible {
    /// From 1 to ``longest`` characters of `[a-z0-9-]`.
    public let text: String
    public var description: String { text }

    /// The most characters in a level made here.
    public static let longest = 40

    /// Whether that is a level as one is made here.
    public static func isLevel(_ text: String) -> Bool {
        (1...longest).contains(text.utf8.count) && !text.hasPrefix("-") && !text.hasSuffix("-")
            && text.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
            }
    }

    /// The level for that id; the same id always gives the same level.
    public init(_ id: String) {
        if Self.isPlain(id) {
            text = id
            return
        }
        let hash = Self.hash(id)
        var stem = ""
        for scalar in id.unicodeScalars {
            let folded = Self.fold(scalar)
            if folded != "-" || !(stem.isEmpty || stem.hasSuffix("-")) { stem += folded }
        }
        stem = String(stem.prefix(Self.longest - 1 - hash.count))
        while stem.hasSuffix("-") { stem.removeLast() }
        text = stem.isEmpty ? "x-\(hash)" : "\(stem)-\(hash)"
    }

    /// True for an id that needs no folding. One that ends like our own hashes
    /// does need it, or it could name the level of another id.
    private static func isPlain(_ id: String) -> Bool {
        guard isLevel(id) else { return false }
        let tail = Array(id.utf8).suffix(9)
        let looksHashed =
            tail.count == 9 && tail.first == 0x2D
            && tail.dropFirst().allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        return !looksHashed
    }

    private static let letters: [Unicode.Scalar: String] = [
        "å": "a", "ä": "a", "ö": "o", "æ": "ae", "ø": "o", "é": "e", "è": "e", "ü": "u", "ß": "ss",
        "Å": "a", "Ä": "a", "Ö": "o", "Æ": "ae", "Ø": "o", "É": "e", "È": "e", "Ü": "u",
    ]

    private static func fold(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "a"..."z", "0"..."9": String(scalar)
        case "A"..."Z": scalar.properties.lowercaseMapping
        default: letters[scalar] ?? "-"
        }
    }

    /// FNV-1a, 32 bits, as eight hex digits: stable over releases and machines,
    /// and only meant to keep ids apart.
    private static func hash(_ id: String) -> String {
        var hash: UInt32 = 2_166_136_261
        for byte in id.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
