import TextForms

/// Rules for texts, each saying what is wrong in the words of the person's mistake.
enum Checks {
    static func host(_ text: String) -> TextVerdict {
        if text.contains("://") {
            return .because("give the host alone, without mqtt:// (TLS is switched on with mqtt.tls)")
        }
        if text.hasPrefix("[") { return .because("write an IPv6 address without brackets") }
        if text.contains("/") { return .because("give the host alone, without a path") }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 2 { return .because("give the host alone; the port goes into mqtt.port") }
        return .fineIf(isHost(text))
    }

    /// A name or an address, IPv6 without brackets.
    static func isHost(_ text: String) -> Bool {
        let bytes = text.utf8
        guard (1...253).contains(bytes.count) else { return false }
        if bytes.contains(UInt8(ascii: ":")) {
            return bytes.allSatisfy { isHexDigit($0) || ":.%".utf8.contains($0) || isNameByte($0) }
        }
        return text.split(separator: ".", omittingEmptySubsequences: false).enumerated().allSatisfy {
            _, label in
            (1...63).contains(label.utf8.count) && label.utf8.allSatisfy(isNameByte) && !label.hasPrefix("-")
                && !label.hasSuffix("-")
        } || (text.hasSuffix(".") && isHost(String(text.dropLast())) && !text.hasSuffix(".."))
    }

    /// A topic that is put before other levels (MQTT 5.0 §4.7).
    static func topic(_ text: String) -> TextVerdict {
        if text.contains("#") || text.contains("+") {
            return .because("the wildcards # and + are not allowed in it")
        }
        if text.hasPrefix("/") || text.hasSuffix("/") { return .because("it neither starts nor ends with /") }
        if text.hasPrefix("$") { return .because("topics that start with $ belong to the broker") }
        if text.contains("//") { return .because("it has an empty level") }
        return .fineIf((1...100).contains(text.utf8.count) && isPrintable(text))
    }

    /// What stands at the beginning of an intent's name.
    static func intentPrefix(_ text: String) -> TextVerdict {
        .fineIf(
            (1...32).contains(text.utf8.count)
                && text.utf8.allSatisfy {
                    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                        || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || isDigit($0)
                        || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                })
    }

    static func siteID(_ text: String) -> TextVerdict { .fineIf(SiteID.isValid(text)) }

    static func shortText(_ most: Int) -> @Sendable (String) -> TextVerdict {
        { .fineIf((1...most).contains($0.utf8.count) && isPrintable($0) && !$0.allSatisfy(\.isWhitespace)) }
    }

    static func absolutePath(_ text: String) -> TextVerdict {
        .fineIf(text.hasPrefix("/") && text.utf8.count < 1_024 && isPrintable(text) && text != "/")
    }

    static func path(_ text: String) -> TextVerdict {
        .fineIf((1..<1_024).contains(text.utf8.count) && isPrintable(text))
    }

    /// `wss://host[:port]`; whether `ws` is permitted is decided with `relay.allow_plain`.
    static func relayURL(_ text: String) -> TextVerdict {
        guard let relay = RelayAddress(text) else {
            return text.hasPrefix("http")
                ? .because("the relay is spoken to with wss://, not http") : .not
        }
        return .fineIf(isHost(relay.host))
    }

    /// Shape only; whether the machine knows the zone is looked up in its files.
    static func zone(_ text: String) -> TextVerdict {
        let levels = text.split(separator: "/", omittingEmptySubsequences: false)
        let fine =
            (1...3).contains(levels.count) && text.utf8.count <= 64
            && levels.allSatisfy { level in
                guard let first = level.utf8.first else { return false }
                return isLetter(first) && level.utf8.allSatisfy { isNameByte($0) || $0 == UInt8(ascii: "+") }
            }
        return .fineIf(fine)
    }

    static func isPrintable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && $0.value != 0x7F && !(0x80..<0xA0).contains($0.value)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
    private static func isNameByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || isLetter(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}

/// The parts of `relay.url`.
struct RelayAddress {
    var isPlain: Bool
    var host: String
    var port: Int?

    /// `nil` for anything but `ws[s]://host[:port]` with perhaps one `/` after it.
    init?(_ text: String) {
        guard let scheme = ["wss://", "ws://"].first(where: { text.hasPrefix($0) }) else { return nil }
        isPlain = scheme == "ws://"
        var rest = text.dropFirst(scheme.count)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.contains("/"), !rest.contains("?"), !rest.contains("#"), !rest.contains("@") else {
            return nil
        }
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            guard host.contains(":") else { return nil }
            rest = rest[rest.index(after: end)...]
        } else {
            host = String(rest.prefix { $0 != ":" })
            rest = rest.dropFirst(host.count)
        }
        if rest.isEmpty { return }
        guard rest.hasPrefix(":"), let port = try? Values.whole(String(rest.dropFirst()), 1...65_535) else {
            return nil
        }
        self.port = port
    }

    var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}
