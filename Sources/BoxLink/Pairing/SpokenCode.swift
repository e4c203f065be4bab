/// Why something typed is no spoken code. Such a text must not be sent: five
/// wrong codes burn the live one, whoever sent them (FTW wire §9.2).
public enum SpokenCodeError: Error, Equatable, CustomStringConvertible {
    /// A character that no code has, at that place among the letters and digits, from 1.
    case foreignCharacter(position: Int)
    /// Not eight letters and digits.
    case length(Int)

    public var description: String {
        switch self {
        case .foreignCharacter(let position):
            "character \(position) of the spoken code is not one a box uses;"
                + " a code has digits and letters without U, like ABCD-1234"
        case .length(let count):
            "a spoken code has eight characters, like ABCD-1234; this has \(count)"
        }
    }
}

/// The pairing code that is read aloud, `XXXX-XXXX` in Crockford base32 (FTW wire §9.2).
///
/// It carries no key and no secret: it only lets in again a client that has both.
public enum SpokenCode {
    /// How many bytes a code is.
    public static let byteCount = 5
    private static let characterCount = 8
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// Reads a code as people type it: any case, with spaces or hyphens, I and L
    /// for 1, O for 0.
    public static func decode(_ typed: String) throws(SpokenCodeError) -> SecretBytes {
        var bits: UInt64 = 0
        var count = 0
        for character in typed.trimmingEdges {
            if character == " " || character == "-" || character == "\t" { continue }
            count += 1
            guard let ascii = character.asciiValue, let digit = alphabet.firstIndex(of: folded(ascii)) else {
                throw .foreignCharacter(position: count)
            }
            bits = bits << 5 | UInt64(digit)
        }
        guard count == characterCount else { throw .length(count) }
        return SecretBytes(
            (0..<byteCount).map { UInt8(truncatingIfNeeded: bits >> (8 * (byteCount - 1 - $0))) })
    }

    /// How a box shows the code; `nil` unless there are five bytes.
    public static func text(_ bytes: [UInt8]) -> String? {
        guard bytes.count == byteCount else { return nil }
        let bits = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let characters = (0..<characterCount).map { place in
            alphabet[Int(bits >> UInt64(5 * (characterCount - 1 - place))) & 31]
        }
        return String(decoding: characters[..<4], as: UTF8.self) + "-"
            + String(decoding: characters[4...], as: UTF8.self)
    }

    private static func folded(_ ascii: UInt8) -> UInt8 {
        let upper = ascii >= UInt8(ascii: "a") && ascii <= UInt8(ascii: "z") ? ascii - 32 : ascii
        return switch upper {
        case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
        case UInt8(ascii: "O"): UInt8(ascii: "0")
        default: upper
        }
    }
}
