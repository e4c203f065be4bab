/// Where a relay is: scheme, host and port, nothing else (FTW wire §1.1).
public struct WebSocketURL: Sendable, Equatable, CustomStringConvertible {
    /// With TLS (`wss`) or without (`ws`).
    public let isSecure: Bool
    /// A host name in lower case or an address; an IPv6 address without brackets.
    public let host: String
    /// From 1 to 65535.
    public let port: Int

    /// The origin of the relay that every box has compiled in.
    public static let production = WebSocketURL(isSecure: true, host: "relay.ftw.energy", port: 443)

    init(isSecure: Bool, host: String, port: Int) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    /// Reads `wss://host` or `wss://host:port`; a trailing `/` is allowed.
    ///
    /// Plain `ws` would show an eavesdropper which room is ours and how busy it
    /// is, so it is only for this machine unless `allowPlain` is set.
    ///
    /// - Parameters:
    ///   - text: The text from the configuration.
    ///   - allowPlain: Accept `ws` for any host.
    /// - Throws: What is wrong, each with a sentence that can be shown.
    public init(parsing text: String, allowPlain: Bool = false) throws(WebSocketURLError) {
        let rest: Substring
        if text.hasPrefix("wss://") {
            isSecure = true
            rest = text.dropFirst(6)
        } else if text.hasPrefix("ws://") {
            isSecure = false
            rest = text.dropFirst(5)
        } else {
            throw .scheme(text)
        }
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let tail = rest[end...]
        guard tail.isEmpty || tail == "/" else { throw .pathNotAllowed(text) }
        let authority = rest[..<end]
        guard !authority.contains("@") else { throw .userNotAllowed }
        var name = authority
        var portText: Substring?
        if authority.hasPrefix("[") {
            guard let close = authority.firstIndex(of: "]") else { throw .host(String(authority)) }
            name = authority[authority.index(after: authority.startIndex)..<close]
            let after = authority[authority.index(after: close)...]
            guard after.isEmpty || after.hasPrefix(":") else { throw .host(String(authority)) }
            portText = after.isEmpty ? nil : after.dropFirst()
            guard !name.isEmpty, name.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
                throw .host(String(authority))
            }
        } else {
            if let colon = authority.firstIndex(of: ":") {
                name = authority[..<colon]
                portText = authority[authority.index(after: colon)...]
            }
            let isNameByte = { (c: Character) in c.isASCII && (c.isLetter || c.isNumber || "-._".contains(c))
            }
            guard !name.isEmpty, name.utf8.count <= 253, name.allSatisfy(isNameByte) else {
                throw .host(String(name))
            }
        }
        if let portText {
            guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(portText),
                (1...65_535).contains(number)
            else { throw .port(String(portText)) }
            port = number
        } else {
            port = isSecure ? 443 : 80
        }
        host = name.lowercased()
        if !isSecure, !allowPlain, !Self.isLoopback(host) { throw .plainNotAllowed(host) }
    }

    /// Whether the host can only be this machine.
    public static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Host and port as the `Host` header has them.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// The address as it can be written in the configuration.
    public var description: String { "\(isSecure ? "wss" : "ws")://\(authority)" }
}

/// Why a text is not the address of a relay.
public enum WebSocketURLError: Error, Equatable, CustomStringConvertible {
    case scheme(String)
    case host(String)
    case port(String)
    case pathNotAllowed(String)
    case userNotAllowed
    case plainNotAllowed(String)

    /// One sentence for the person who wrote the configuration.
    public var description: String {
        switch self {
        case .scheme(let text):
            "\"\(text)\" is not a relay address; it begins with wss:// (or ws:// on this machine)"
        case .host(let text): "\"\(text)\" is not a host name or address"
        case .port(let text): "the port is \"\(text)\"; a port is a number from 1 to 65535"
        case .pathNotAllowed(let text):
            "\"\(text)\" has a path or query; a relay address ends after host and port"
        case .userNotAllowed: "a relay address has no user name or password"
        case .plainNotAllowed(let host):
            "ws:// to \(host) is not encrypted; use wss://, or allow plain ws for this relay"
        }
    }
}
