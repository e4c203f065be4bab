public import BoxLink
public import JSONText
import TextForms

/// A client that a box lets in.
public struct BoxClient: Sendable, Equatable {
    /// Its public key, 32 bytes.
    public var key: [UInt8]
    public var role: BoxRole

    public init(key: [UInt8], role: BoxRole) {
        self.key = key
        self.role = role
    }
}

/// What a box keeps over a restart of its machine: who it is and whom it lets in.
///
/// Holds the box's private key; belongs in a file that only its owner can read.
public struct BoxRecord: Sendable {
    public var identity: X25519KeyPair
    public var rendezvousSecret: SecretBytes
    public var clients: [BoxClient]

    /// More would only come from a demo that was started hundreds of times; the newest stay.
    static let clientLimit = 256

    public init(identity: X25519KeyPair, rendezvousSecret: SecretBytes, clients: [BoxClient]) {
        self.identity = identity
        self.rendezvousSecret = rendezvousSecret
        self.clients = clients
    }

    /// - Returns: `nil` for a document that is none of these.
    public init?(_ document: JSONValue) {
        guard document["format"] == "ftw-mqtt-simulated-box-1",
            let secret = document["identity"]?.stringValue.flatMap({ Base64URL.decode($0) }),
            let identity = try? X25519KeyPair(secret: secret),
            let room = document["rendezvous_secret"]?.stringValue.flatMap({ Base64URL.decode($0) }),
            room.count == 32, let rows = document["clients"]?.arrayValue
        else { return nil }
        var clients: [BoxClient] = []
        for row in rows {
            guard let key = row["key"]?.stringValue.flatMap({ Base64URL.decode($0) }), key.count == 32,
                let role = row["role"]?.stringValue.flatMap(BoxRole.init(rawValue:))
            else { return nil }
            clients.append(BoxClient(key: key, role: role))
        }
        self.init(identity: identity, rendezvousSecret: SecretBytes(room), clients: clients)
    }

    public var document: JSONValue {
        [
            "format": "ftw-mqtt-simulated-box-1",
            "identity": .string(Base64URL.encode(identity.exportSecret())),
            "rendezvous_secret": .string(rendezvousSecret.withBytes { Base64URL.encode($0) }),
            "clients": .array(
                clients.suffix(Self.clientLimit).map {
                    ["key": .string(Base64URL.encode($0.key)), "role": .string($0.role.rawValue)]
                }),
        ]
    }
}

extension SimulatedBox {
    /// Everybody the box lets in, the longest known first.
    public var clients: [BoxClient] {
        enrolment.devices.sorted { a, b in
            a.value.addedAt != b.value.addedAt
                ? a.value.addedAt < b.value.addedAt : a.key.lexicographicallyPrecedes(b.key)
        }
        .map { BoxClient(key: $0.key, role: $0.value.role) }
    }

    /// What is to be kept over a restart of the machine.
    public var record: BoxRecord {
        BoxRecord(
            identity: settings.identity, rendezvousSecret: settings.rendezvousSecret, clients: clients)
    }
}
