/// What a broker connection tells whoever uses it, in order.
public enum BrokerEvent: Sendable, Equatable {
    /// The broker accepted us (CONNACK with reason 0). Nothing is subscribed yet.
    case connected(BrokerSession)
    /// The connection is gone or an attempt failed; the client dials again by itself.
    case disconnected(BrokerLoss)
    case message(Message)
}

/// What holds for one accepted connection.
public struct BrokerSession: Sendable, Equatable {
    public enum Version: String, Sendable { case v5 = "5.0", v311 = "3.1.1" }
    public var version: Version
    /// The largest packet the broker takes, in bytes (MQTT 5.0 §3.2.2.3.6); `nil` when it names none.
    public var maximumPacketBytes: Int?

    public init(version: Version, maximumPacketBytes: Int? = nil) {
        self.version = version
        self.maximumPacketBytes = maximumPacketBytes
    }
}

/// Why there is no connection, for a person: a stable token and a sentence.
public struct BrokerLoss: Sendable, Equatable {
    public enum Code: String, Sendable, CaseIterable {
        case unreachable
        case nameUnknown = "name_unknown"
        case tlsUnknownAuthority = "tls_unknown_authority"
        case tlsWrongHost = "tls_wrong_host"
        case tlsClientCertificate = "tls_client_certificate"
        case tlsFailed = "tls_failed"
        case badCredentials = "bad_credentials"
        case notAuthorized = "not_authorized"
        case refused
        /// Somebody else connected with our client id (MQTT 5.0 §3.1.4-3).
        case takenOver = "taken_over"
        case closed
        case keepAlive = "keep_alive"
        case protocolError = "protocol_error"
        case stopped
    }
    public var code: Code
    /// One English sentence without secrets.
    public var sentence: String
    /// How long until the next attempt; `nil` when none is planned.
    public var retryIn: Duration?

    public init(code: Code, sentence: String, retryIn: Duration? = nil) {
        self.code = code
        self.sentence = sentence
        self.retryIn = retryIn
    }
}
