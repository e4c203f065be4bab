import FoundationEssentials

/// base64url without padding, canonical both ways (RFC 4648 §5).
public enum Base64URL {
    /// `-` and `_` instead of `+` and `/`, and no `=` at the end.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let padded = Data(bytes).base64EncodedString()
        return String(
            padded.compactMap { character -> Character? in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }

    /// `nil` unless this is what ``encode(_:)`` would have written: one text for
    /// one value, with unused bits zero.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var standard = String()
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"): standard.append("+")
            case UInt8(ascii: "_"): standard.append("/")
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                standard.unicodeScalars.append(Unicode.Scalar(byte))
            default: return nil
            }
        }
        standard += String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        guard let bytes = Data(base64Encoded: standard), encode(bytes) == text else { return nil }
        return Array(bytes)
    }
}
