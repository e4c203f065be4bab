/// How hard the broker tries to deliver (MQTT 5.0 §4.3). Level 2 is not used here.
public enum QoS: UInt8, Sendable, Comparable {
    case atMostOnce = 0
    case atLeastOnce = 1

    public static func < (a: QoS, b: QoS) -> Bool { a.rawValue < b.rawValue }
}

/// One MQTT application message, on its way out or as it came in.
public struct Message: Sendable, Equatable {
    /// A topic name: not empty, no wildcard, at most 65,535 bytes (MQTT 5.0 §4.7).
    public var topic: String
    public var payload: [UInt8]
    public var qos: QoS
    /// Outgoing: the broker shall keep it. Incoming: the broker had kept it
    /// (MQTT 5.0 §3.3.1.3), or, where Retain As Published was asked for, was told to
    /// keep it just now.
    public var retained: Bool
    /// Message expiry interval in seconds (MQTT 5.0 §3.3.2.3.3). `nil`: never
    /// expires. Not sent on a 3.1.1 connection.
    public var expirySeconds: UInt32?
    /// Where an answer is wanted (MQTT 5.0 §3.3.2.3.5); `nil` when none is.
    public var responseTopic: String?
    /// Opaque bytes that go back with the answer (MQTT 5.0 §3.3.2.3.6).
    public var correlationData: [UInt8]?
    /// Incoming: how long it may have lain unread because this program or its machine
    /// stood still; zero when nothing stood still. The broker counts an expiry
    /// (MQTT 5.0 §3.3.2.3.3) only until it hands the message over.
    public var waited: Duration = .zero

    public init(
        _ topic: String, _ payload: [UInt8], qos: QoS = .atLeastOnce, retained: Bool = false,
        expirySeconds: UInt32? = nil, responseTopic: String? = nil, correlationData: [UInt8]? = nil
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.retained = retained
        self.expirySeconds = expirySeconds
        self.responseTopic = responseTopic
        self.correlationData = correlationData
    }

    public init(
        _ topic: String, _ text: String, qos: QoS = .atLeastOnce, retained: Bool = false,
        expirySeconds: UInt32? = nil
    ) {
        self.init(topic, Array(text.utf8), qos: qos, retained: retained, expirySeconds: expirySeconds)
    }

    /// The payload as text; `nil` when it is not valid UTF-8.
    public var text: String? { String(validating: payload, as: UTF8.self) }
}

/// What the broker publishes for us when the connection dies without a goodbye
/// (MQTT 5.0 §3.1.2.5).
public struct Will: Sendable, Equatable {
    public var message: Message

    public init(_ message: Message) { self.message = message }
}
