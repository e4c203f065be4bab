/// What happens to one socket, in order. After `closed` or `failed` nothing follows.
public enum WebSocketEvent: Sendable, Equatable {
    case opened
    case text(String)
    case message([UInt8])
    /// Our ping was answered.
    case pong
    /// An open socket ended. Without a close frame the code is 1006 (RFC 6455 §7.4.1).
    case closed(code: UInt16, reason: String)
    /// A dialled socket never opened.
    case failed(WebSocketFailure)
}

/// Why a socket could not be opened.
public struct WebSocketFailure: Error, Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        /// No such name, no route, refused, or no answer.
        case unreachable
        /// The certificate was signed by nobody we trust.
        case unknownAuthority
        /// The certificate names another host.
        case wrongHost
        /// Any other failure of TLS, an expired certificate among them.
        case tlsFailed
        /// Something answered, but not with a WebSocket.
        case notAWebSocket
    }
    public var kind: Kind
    /// What the library below said; English, without secrets.
    public var detail: String

    public init(kind: Kind, detail: String) {
        self.kind = kind
        self.detail = detail
    }
}

/// Bounds of one socket.
public struct WebSocketLimits: Sendable, Equatable {
    /// The longest message, in bytes, after its fragments were put together. A
    /// longer one closes the socket with 1009 (RFC 6455 §7.4.1).
    public var messageBytes = 65_536
    /// The most bytes that wait to be written. What does not fit is not sent.
    public var queuedBytes = 1_048_576
    /// The most messages that wait to be written.
    public var queuedMessages = 1_024

    public init() {}

    public init(messageBytes: Int, queuedBytes: Int, queuedMessages: Int) {
        self.messageBytes = messageBytes
        self.queuedBytes = queuedBytes
        self.queuedMessages = queuedMessages
    }
}
