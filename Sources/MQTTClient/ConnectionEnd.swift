import Glibc
import MQTTTypes

/// How an attempt or a connection ended, as the network thread saw it.
enum ConnectionEnd: Equatable {
    case nameUnknown
    /// The network refused; the machine's error number.
    case connectFailed(errno: Int32)
    /// No answer to the SYN, or to all of TLS and CONNECT, in time.
    case timedOut(reached: Bool)
    case tls(TLSFailure)
    /// CONNACK with a reason other than 0, in the numbers of MQTT 5.0 §3.2.2.2.
    case refused(reason: UInt8)
    /// DISCONNECT from the broker (MQTT 5.0 §3.14.2.1).
    case dismissed(reason: UInt8)
    case closed
    case keepAlive
    case protocolError(String)
    /// A file that TLS needs cannot be read.
    case unreadable(file: String)
    case stopped
}

/// What went wrong in the TLS handshake.
enum TLSFailure: Equatable {
    case unknownAuthority
    case wrongHost
    /// The broker wants a certificate, or does not take the one it got.
    case clientCertificate
    case notTLS
    /// Closed without a reason before CONNACK. A broker that misses our certificate
    /// may be gone before its reason is read.
    case closedEarly
    case other(String)

    /// Reads the library's complaints; it has no other way of telling.
    ///
    /// The words are OpenSSL's and libmosquitto's; those this looks for have not
    /// changed from OpenSSL 1.1.1 to 3. What is not recognised stays `other`,
    /// with the words.
    init?(complaints: [String]) {
        let words = complaints.map { $0.lowercased() }
        func said(_ phrases: String...) -> Bool {
            words.contains { line in phrases.contains { line.contains($0) } }
        }
        if said("host name verification failed") {
            self = .wrongHost
        } else if said("certificate verify failed") {
            self = .unknownAuthority
        } else if said(
            "certificate required", "alert bad certificate", "alert unknown ca", "alert certificate",
            "alert handshake failure", "alert unsupported certificate")
        {
            self = .clientCertificate
        } else if said("wrong version number", "packet length too long", "record layer failure") {
            self = .notTLS
        } else if let line = complaints.first(where: { $0.contains("OpenSSL") || $0.contains("TLS") }) {
            self = .other(line.split(separator: ":").last.map(String.init) ?? line)
        } else {
            return nil
        }
    }
}

extension ConnectionEnd {
    var code: BrokerLoss.Code {
        switch self {
        case .nameUnknown: .nameUnknown
        case .connectFailed, .timedOut: .unreachable
        case .tls(.unknownAuthority): .tlsUnknownAuthority
        case .tls(.wrongHost): .tlsWrongHost
        case .tls(.clientCertificate): .tlsClientCertificate
        case .tls, .unreadable: .tlsFailed
        case .refused(Reason.badCredentials): .badCredentials
        case .refused(Reason.notAuthorized), .dismissed(Reason.notAuthorized): .notAuthorized
        case .refused: .refused
        case .dismissed(Reason.takenOver): .takenOver
        case .dismissed(Reason.keepAlive), .keepAlive: .keepAlive
        case .dismissed(0x81), .dismissed(0x82), .protocolError: .protocolError
        case .dismissed, .closed: .closed
        case .stopped: .stopped
        }
    }

    /// One sentence for a person; what to look at rather than what failed inside.
    func sentence(for settings: MQTTSettings) -> String {
        let broker = "\(settings.host):\(settings.port)"
        switch self {
        case .nameUnknown:
            return "The name \(settings.host) is not known to the resolver; check mqtt.host and the DNS."
        case .connectFailed(let number):
            return "The broker \(broker) cannot be reached: \(Self.text(number))."
        case .timedOut(reached: false):
            return "The broker \(broker) cannot be reached: no answer."
        case .timedOut(reached: true):
            return "Something at \(broker) takes connections but does not answer like an MQTT broker."
        case .tls(let failure): return failure.sentence(for: settings)
        case .unreadable(let file): return "The file \(file) cannot be read; TLS needs it."
        case .refused(let reason): return Self.refusal(reason, broker)
        case .dismissed(Reason.takenOver):
            return "Another client connected with the client id \(settings.clientID);"
                + " if that is a second copy of this program, stop one or give it another id."
        case .dismissed(let reason):
            return "The broker \(broker) ended the connection: \(Reason.words(reason))."
        case .closed: return "The broker \(broker) closed the connection."
        case .keepAlive:
            return "The broker \(broker) has not answered for \(settings.keepAliveSeconds) s."
        case .protocolError(let detail):
            return "The broker \(broker) and the MQTT library disagree: \(detail)."
        case .stopped: return "The connection was ended by us."
        }
    }

    private static func refusal(_ reason: UInt8, _ broker: String) -> String {
        switch reason {
        case Reason.badCredentials:
            "The broker \(broker) does not accept this user name and password."
        case Reason.notAuthorized:
            "The broker \(broker) does not let us in; mosquitto says this also when the user name"
                + " or password is wrong or missing."
        default: "The broker \(broker) refused the connection: \(Reason.words(reason))."
        }
    }

    static func text(_ number: Int32) -> String {
        switch number {
        case ECONNREFUSED: "nothing listens on that port"
        case EHOSTUNREACH, ENETUNREACH: "there is no route to it"
        case ETIMEDOUT: "no answer"
        default: strerror(number).map { String(cString: $0) } ?? "error \(number)"
        }
    }
}

extension TLSFailure {
    fileprivate func sentence(for settings: MQTTSettings) -> String {
        let broker = "\(settings.host):\(settings.port)"
        switch self {
        case .unknownAuthority:
            let trusted = settings.tls?.caFile ?? "the system's authorities"
            return "The certificate of \(broker) is not signed by an authority in \(trusted),"
                + " or has run out."
        case .wrongHost:
            return "The certificate of \(broker) is for another host name; use the name it was made for."
        case .clientCertificate:
            return settings.tls?.certificate == nil
                ? "The broker \(broker) wants a client certificate and none is configured."
                : "The broker \(broker) does not accept our client certificate."
        case .notTLS:
            return "What answers at \(broker) does not speak TLS; check the port."
        case .closedEarly:
            let hint =
                settings.tls?.certificate == nil
                ? "it may want a client certificate" : "it may not accept ours"
            return "The broker \(broker) closed the encrypted connection before it answered;"
                + " \(hint)."
        case .other(let words):
            return "The TLS handshake with \(broker) failed: \(words)."
        }
    }
}

/// Reason codes this program tells apart (MQTT 5.0 §2.4).
enum Reason {
    static let unsupportedVersion: UInt8 = 0x84
    static let badCredentials: UInt8 = 0x86
    static let notAuthorized: UInt8 = 0x87
    static let keepAlive: UInt8 = 0x8D
    static let takenOver: UInt8 = 0x8E

    /// The numbers of MQTT 3.1.1 §3.2.2.3 in those of MQTT 5.
    static func from311(_ code: UInt8) -> UInt8 {
        switch code {
        case 1: unsupportedVersion
        case 2: 0x85
        case 3: 0x88
        case 4: badCredentials
        case 5: notAuthorized
        default: 0x80
        }
    }

    static func words(_ reason: UInt8) -> String {
        switch reason {
        case 0x00: "normal disconnection"
        case 0x81: "malformed packet"
        case 0x82: "protocol error"
        case unsupportedVersion: "it does not speak this version of MQTT"
        case 0x85: "it does not take this client id"
        case badCredentials: "wrong user name or password"
        case notAuthorized: "not authorized"
        case 0x88: "it is not available"
        case 0x89: "it is busy"
        case 0x8A: "this client is banned"
        case 0x8B: "it is shutting down"
        case keepAlive: "it heard nothing from us in time"
        case takenOver: "another client took over the session"
        case 0x90: "invalid topic name"
        case 0x93: "too many messages at once"
        case 0x95: "a packet was too large"
        case 0x97: "a quota is used up"
        case 0x98: "an administrator ended it"
        case 0x99: "invalid payload"
        case 0x9A: "it keeps no retained messages"
        case 0x9B: "it does not support this QoS"
        case 0x9C, 0x9D: "it asks to use another server"
        case 0x9F: "too many connections in a short time"
        default: "reason \(reason)"
        }
    }
}
