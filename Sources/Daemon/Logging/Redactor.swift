import FoundationEssentials
import Synchronization

/// The last line of defence for secrets: replaces each known one, in every
/// form it usually takes, with `***`.
///
/// Nothing should ever rely on it. It is there for the line that somebody adds
/// next year, and for what a library puts into its own messages.
final class Redactor: Sendable {
    private let forms = Mutex<[[UInt8]]>([])

    init() {}

    /// Remembers a secret. One of less than 4 bytes is only replaced where it
    /// stands alone, or every `1` in the log would vanish.
    func add(_ secret: [UInt8]) {
        guard !secret.isEmpty else { return }
        let new = Self.forms(of: secret)
        forms.withLock { forms in
            for form in new where !forms.contains(form) { forms.append(form) }
            // The longest first, so that no rest of a longer form stays behind.
            forms.sort { $0.count > $1.count }
        }
    }

    func redact(_ line: String) -> String {
        let forms = forms.withLock { $0 }
        guard !forms.isEmpty else { return line }
        let bytes = Array(line.utf8)
        var out: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if let form = forms.first(where: { Self.matches($0, bytes, at: index) }) {
                out += Array("***".utf8)
                index += form.count
            } else {
                out.append(bytes[index])
                index += 1
            }
        }
        return out == bytes ? line : String(decoding: out, as: UTF8.self)
    }

    private static func matches(_ form: [UInt8], _ bytes: [UInt8], at index: Int) -> Bool {
        guard bytes.count - index >= form.count, bytes[index..<index + form.count].elementsEqual(form) else {
            return false
        }
        if form.count >= 4 { return true }
        let before = index > 0 ? bytes[index - 1] : UInt8(ascii: " ")
        let after = index + form.count < bytes.count ? bytes[index + form.count] : UInt8(ascii: " ")
        return !isWordByte(before) && !isWordByte(after)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (byte >= 0x30 && byte <= 0x39) || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A) || byte >= 0x80
            || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    private static func forms(of secret: [UInt8]) -> [[UInt8]] {
        var forms = [secret]
        let text = String(decoding: secret, as: UTF8.self)
        for form in [text.debugDescription, json(text)] {
            forms.append(Array(form.utf8.dropFirst().dropLast()))
        }
        forms.append(Array(percent(secret).utf8))
        for digits in ["0123456789abcdef", "0123456789ABCDEF"] {
            forms.append(hex(secret, Array(digits.utf8)))
        }
        forms += base64(secret)
        return forms.filter { !$0.isEmpty && ($0 == secret || $0.count >= 4) }
    }

    private static func json(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }

    private static func hex(_ bytes: [UInt8], _ digits: [UInt8]) -> [UInt8] {
        bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    private static func percent(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let plain =
                (byte >= 0x30 && byte <= 0x39) || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A && byte < 0x80)
            return plain || "-._~".utf8.contains(byte)
                ? String(UnicodeScalar(byte))
                : "%" + String(decoding: hex([byte], Array("0123456789ABCDEF".utf8)), as: UTF8.self)
        }.joined()
    }

    /// Both alphabets, alone and inside something longer, such as `user:password`:
    /// then the characters that depend on the secret alone, for each of the
    /// three places in a group of bytes where it can start.
    private static func base64(_ secret: [UInt8]) -> [[UInt8]] {
        let whole = Array(Data(secret).base64EncodedString().utf8)
        var forms = [whole, Array(whole.prefix { $0 != UInt8(ascii: "=") })]
        for shift in 0..<3 {
            let encoded = Array(Data([UInt8](repeating: 0, count: shift) + secret).base64EncodedString().utf8)
            let first = (shift * 8 + 5) / 6
            let last = (shift + secret.count) * 8 / 6
            if last - first >= 4 { forms.append(Array(encoded[first..<last])) }
        }
        return forms + forms.map { $0.map(urlSafe) }
    }

    private static func urlSafe(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: byte
        }
    }
}
