public import MQTTTypes

/// Everything a client needs to know about its broker, as a plain value.
public struct MQTTSettings: Sendable {
    /// A host name or address, without scheme or port.
    public var host: String
    /// From 1 to 65,535; 1883 without TLS and 8883 with it are the registered ones.
    public var port: Int
    /// Names this client to the broker. Two clients with one id throw each other
    /// out (MQTT 5.0 §3.1.4-3), so it must be ours alone.
    public var clientID: String
    /// After how many quiet seconds a ping goes out (MQTT 5.0 §3.1.2.10); a
    /// broker that leaves one unanswered for as long again is gone. From 5 to 65,535.
    public var keepAliveSeconds: Int
    public var credentials: MQTTCredentials?
    /// `nil`: plain TCP.
    public var tls: MQTTEncryption?
    public var will: Will?
    public var protocolPreference: ProtocolPreference
    /// How long one attempt may take, from the first SYN to CONNACK. Looking the
    /// name up comes on top and lasts as long as the machine's resolver lets it.
    public var connectTimeout: Duration
    /// Messages of ours are not sent back to us. MQTT 5 only (MQTT 5.0 §3.8.3.1);
    /// a 3.1.1 broker sends them regardless.
    public var ignoresOwnMessages: Bool
    /// Messages that arrive live keep the retain flag they were published with
    /// (MQTT 5.0 §3.8.3.1, Retain As Published), so ``Message/retained`` is what the
    /// sender set and no longer tells what the broker had kept from what comes now.
    /// MQTT 5 only: a 3.1.1 broker hides the flag of what comes now
    /// (MQTT 3.1.1 §3.3.1.3).
    public var seesRetainFlag: Bool
    /// A topic of ours, retained, that holds `instance` while we are connected.
    ///
    /// Brokers mostly close the older of two connections with one client id
    /// without a word. Whoever comes back and finds another instance's name here
    /// knows that it was thrown out, and does not take it for a bad network.
    /// `nil`: many closes in a row shortly after CONNACK are taken for it.
    public var claimTopic: String?
    /// Tells this process from any other; random, not secret.
    public var instance = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    public var bounds: Bounds

    /// How much may wait, and how large it may be.
    public struct Bounds: Sendable {
        /// Messages that are not retained and wait for a slow broker; the oldest
        /// gives way. Retained ones are bounded by their topics and `outboxBytes`.
        public var outboxMessages = 1_000
        /// Topics and payloads waiting, in bytes. What is over it drops the oldest
        /// message, those that are not retained first.
        public var outboxBytes = 4 << 20
        /// QoS 1 messages sent and not yet acknowledged. 20 is also where
        /// libmosquitto is fastest.
        public var inFlight = 20
        /// Received messages that were acknowledged and wait for the reader. At so many
        /// nothing more is read from the broker, until a quarter of them has gone.
        public var inboxMessages = 16_384
        /// The same, by their topics and payloads in bytes.
        public var inboxBytes = 16 << 20
        /// Received messages of QoS 0 that wait for the reader; the oldest gives way.
        public var inboxUnacknowledged = 1_024
        /// The largest packet the broker may send us, in bytes
        /// (MQTT 5.0 §3.1.2.11.4). A 3.1.1 broker is not told; there the message
        /// is received and dropped.
        public var inboundPacketBytes = 128 << 10

        public init() {}
    }

    public enum ProtocolPreference: String, Sendable, CaseIterable {
        /// MQTT 5, and 3.1.1 while the broker refuses it.
        case newest
        case v5 = "5.0"
        case v311 = "3.1.1"
    }

    public init(
        host: String, port: Int, clientID: String, keepAliveSeconds: Int = 30,
        credentials: MQTTCredentials? = nil, tls: MQTTEncryption? = nil, will: Will? = nil,
        protocolPreference: ProtocolPreference = .newest, connectTimeout: Duration = .seconds(15),
        ignoresOwnMessages: Bool = false, seesRetainFlag: Bool = false, claimTopic: String? = nil,
        bounds: Bounds = Bounds()
    ) {
        self.host = host
        self.port = port
        self.clientID = clientID
        self.keepAliveSeconds = keepAliveSeconds
        self.credentials = credentials
        self.tls = tls
        self.will = will
        self.protocolPreference = protocolPreference
        self.connectTimeout = connectTimeout
        self.ignoresOwnMessages = ignoresOwnMessages
        self.seesRetainFlag = seesRetainFlag
        self.claimTopic = claimTopic
        self.bounds = bounds
    }
}

/// User name and password, handed to the broker byte for byte.
///
/// Printing one, or a value that holds one, shows neither: a password that
/// reaches a log is a password that has to be changed.
public struct MQTTCredentials: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    public var user: String
    /// `nil` when the broker wants a name only.
    public var password: String?

    public init(user: String, password: String?) {
        self.user = user
        self.password = password
    }

    public var description: String { "MQTTCredentials(hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// How the connection is encrypted. The broker's certificate and its host name
/// are always checked; there is no switch for that.
public struct MQTTEncryption: Sendable, Equatable {
    /// A PEM file with the authorities to trust; `nil`: those of the system.
    public var caFile: String?
    /// Our own certificate and its unencrypted private key, for a broker that asks.
    public var certificate: ClientCertificate?

    public struct ClientCertificate: Sendable, Equatable {
        public var certificateFile: String
        public var keyFile: String

        public init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    public init(caFile: String? = nil, certificate: ClientCertificate? = nil) {
        self.caFile = caFile
        self.certificate = certificate
    }
}
