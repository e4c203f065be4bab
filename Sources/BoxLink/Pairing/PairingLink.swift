import TextForms

/// What a box shows as a QR code: its key, a code that works once, and where to
/// meet it (FTW wire §9.1).
///
/// `https://app.ftw.energy/p#v2.<boxKey>.<code>.<hint>.<secret>`
public struct PairingLink: Sendable {
    /// The box's public key, 32 bytes. It is what the client trusts from here on.
    public let boxKey: [UInt8]
    /// 16 bytes, good for one pairing within ten minutes. Delete it once paired.
    public let code: SecretBytes
    /// `host:port` on the local network, or empty. Nothing uses it.
    public let hint: String
    /// 32 bytes from which the room's name is computed.
    public let rendezvousSecret: SecretBytes

    static let host = "app.ftw.energy"
    static let path = "/p"
    static let codeLength = 16
    static let secretLength = 32
    static let maxHint = 64
    /// Far above the 267 characters of the longest link.
    static let maxText = 1024

    /// Reads the whole link, or only what follows its `#`, with or without the
    /// `#` itself; white space around it does not matter.
    ///
    /// - Throws: One case for each thing that can be wrong. None of them repeats
    ///   the code or the secret.
    public init(parsing text: String) throws(PairingLinkError) {
        let text = text.trimmingEdges
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= Self.maxText else { throw .tooLong }
        let fragment = try Self.fragment(of: text)
        let segments = fragment.split(separator: ".", omittingEmptySubsequences: false)
        try Self.checkVersion(segments.first ?? "")
        guard segments.count == 5 else { throw .segmentCount(segments.count) }
        boxKey = try Self.bytes(segments[1], .boxKey, count: Primitives.keyLength)
        code = SecretBytes(try Self.bytes(segments[2], .code, count: Self.codeLength))
        hint = try Self.hint(segments[3])
        rendezvousSecret = SecretBytes(
            try Self.bytes(segments[4], .rendezvousSecret, count: Self.secretLength))
    }

    /// Puts a link together, as a box does.
    ///
    /// - Throws: `.length`, `.hintTooLong` or `.hintCharacter`.
    public init(
        boxKey: [UInt8], code: SecretBytes, hint: String = "", rendezvousSecret: SecretBytes
    ) throws(PairingLinkError) {
        try Self.check(boxKey.count, .boxKey, count: Primitives.keyLength)
        try Self.check(code.count, .code, count: Self.codeLength)
        try Self.check(rendezvousSecret.count, .rendezvousSecret, count: Self.secretLength)
        try Self.checkHint(Array(hint.utf8))
        self.boxKey = boxKey
        self.code = code
        self.hint = hint
        self.rendezvousSecret = rendezvousSecret
    }

    /// The link as text. It contains the code and the secret: show it to the
    /// person who asked, and put it nowhere else.
    public var url: String {
        let segments = [
            "v2", Base64URL.encode(boxKey), code.withBytes { Base64URL.encode($0) },
            Base64URL.encode(Array(hint.utf8)), rendezvousSecret.withBytes { Base64URL.encode($0) },
        ]
        return "https://\(Self.host)\(Self.path)#" + segments.joined(separator: ".")
    }

    /// What follows the `#`, once what stands before it has been found right.
    private static func fragment(of text: Substring) throws(PairingLinkError) -> Substring {
        let mark = text.firstIndex(of: "#")
        let address = mark.map { text[..<$0] } ?? text
        if address.isEmpty, let mark { return text[text.index(after: mark)...] }
        // The fragment's own alphabet has neither a colon nor a slash.
        if mark == nil, !address.contains(":"), !address.contains("/") { return address }
        try check(address: address)
        guard let mark else { throw .noFragment }
        return text[text.index(after: mark)...]
    }

    private static func check(address: Substring) throws(PairingLinkError) {
        guard let colon = address.firstIndex(of: ":"), address[colon...].hasPrefix("://"),
            address[..<colon].lowercased() == "https"
        else { throw .scheme }
        let rest = address[colon...].dropFirst(3)
        let slash = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<slash]
        // A name before an @ is how a link to another host is made to look like this one.
        guard !authority.contains("@") else { throw .host }
        let host = authority.prefix { $0 != ":" }
        guard host.lowercased() == Self.host else { throw .host }
        guard host.endIndex == authority.endIndex else { throw .port }
        guard rest[slash...] == Self.path else { throw .path }
    }

    /// The version decides before the shape: an older link has fewer segments,
    /// and "too old" is the more useful thing to say.
    private static func checkVersion(_ version: Substring) throws(PairingLinkError) {
        guard version != "v2" else { return }
        let digits = version.dropFirst()
        guard version.first == "v", (1...6).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(digits), digits.first != "0"
        else { throw .noVersion }
        throw number < 2 ? .olderBox : .newerBox(version: number)
    }

    private static func bytes(
        _ segment: Substring, _ part: PairingLinkError.Part, count: Int
    ) throws(PairingLinkError) -> [UInt8] {
        guard !segment.isEmpty else { throw .emptySegment(part) }
        guard let bytes = Base64URL.decode(segment) else { throw .notBase64URL(part) }
        try check(bytes.count, part, count: count)
        return bytes
    }

    private static func check(
        _ found: Int, _ part: PairingLinkError.Part, count: Int
    ) throws(PairingLinkError) {
        guard found == count else { throw .length(part, bytes: found, expected: count) }
    }

    private static func hint(_ segment: Substring) throws(PairingLinkError) -> String {
        guard let bytes = Base64URL.decode(segment) else { throw .notBase64URL(.hint) }
        try checkHint(bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func checkHint(_ bytes: [UInt8]) throws(PairingLinkError) {
        guard bytes.count <= maxHint else { throw .hintTooLong(bytes: bytes.count) }
        guard bytes.allSatisfy({ (0x21...0x7e).contains($0) }) else { throw .hintCharacter }
    }
}
