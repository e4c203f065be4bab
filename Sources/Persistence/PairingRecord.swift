public import FoundationEssentials
import JSONText
import TextForms

/// What ties one site to one box: whoever holds this *is* the paired app.
///
/// Printing or dumping one shows neither keys nor code.
public struct PairingRecord: Sendable, Equatable {
    /// The site's id, see ``SiteID``.
    public var site: String
    /// Our own X25519 private key, 32 bytes.
    public var privateKey: [UInt8]
    /// The box's X25519 public key, 32 bytes.
    public var boxKey: [UInt8]
    /// From which the meeting places at the relay are made, 32 bytes.
    public var rendezvousSecret: [UInt8]
    /// The single-use code, 5 or 16 bytes; `nil` once it has been used.
    public var code: [UInt8]?
    /// The relay the pairing was made over; `nil`: the configured one.
    public var relayURL: String?
    /// What people call it.
    public var label: String
    /// When the box first accepted us; `nil`: not yet.
    public var pairedAt: Date?
    /// As the box lists us: the first 8 characters of our public key in base64url.
    public var deviceID: String
    /// `owner` or `viewer` as the box last said; `nil`: not said yet.
    public var role: String?

    public init(
        site: String, privateKey: [UInt8], boxKey: [UInt8], rendezvousSecret: [UInt8], code: [UInt8]?,
        relayURL: String? = nil, label: String, pairedAt: Date? = nil, deviceID: String, role: String? = nil
    ) {
        self.site = site
        self.privateKey = privateKey
        self.boxKey = boxKey
        self.rendezvousSecret = rendezvousSecret
        self.code = code
        self.relayURL = relayURL
        self.label = label
        self.pairedAt = pairedAt
        self.deviceID = deviceID
        self.role = role
    }

    /// Whether somebody has paired since `old` was read, so that a conversation by the old
    /// record has to begin again: other keys, another way, a fresh code, or accepted anew.
    ///
    /// That a code was spent, the first acceptance noted or a role learnt is the
    /// conversation's own doing and no reason.
    public func isAnotherPairing(than old: PairingRecord) -> Bool {
        privateKey != old.privateKey || boxKey != old.boxKey || rendezvousSecret != old.rendezvousSecret
            || relayURL != old.relayURL || (code != nil && code != old.code)
            || (old.pairedAt != nil && pairedAt != old.pairedAt)
    }
}

extension PairingRecord: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        "pairing of \(site) (device \(deviceID), \(role ?? "role unknown"), code \(code == nil ? "used" : "unused"))"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["site": site, "deviceID": deviceID, "label": label])
    }
}

extension PairingRecord {
    /// As written to its file. Keys are base64url without padding (RFC 4648 §5).
    var json: JSONValue {
        func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
        return [
            "site": .string(site), "private_key": .string(Base64URL.encode(privateKey)),
            "box_key": .string(Base64URL.encode(boxKey)),
            "rendezvous_secret": .string(Base64URL.encode(rendezvousSecret)),
            "code": text(code.map { Base64URL.encode($0) }), "relay_url": text(relayURL),
            "label": .string(label),
            "paired_at": text(pairedAt.map(UTCText.extended)), "device_id": .string(deviceID),
            "role": text(role),
        ]
    }

    /// `nil` unless every member is there, of its kind and length, and no other.
    init?(json: JSONValue) {
        guard let members = json.objectValue, members.count == 10, let site = json["site"]?.stringValue,
            SiteID.isValid(site),
            let privateKey = Self.bytes(json["private_key"]), privateKey.count == 32,
            let boxKey = Self.bytes(json["box_key"]), boxKey.count == 32,
            let secret = Self.bytes(json["rendezvous_secret"]), secret.count == 32,
            let label = json["label"]?.stringValue, let deviceID = json["device_id"]?.stringValue,
            let relayURL = Self.optional(json["relay_url"]), let role = Self.optional(json["role"]),
            let codeText = Self.optional(json["code"]), let timeText = Self.optional(json["paired_at"])
        else { return nil }
        let code = codeText.flatMap { Base64URL.decode($0) }
        let pairedAt = timeText.flatMap(UTCText.date)
        guard (code == nil) == (codeText == nil), code.map({ [5, 16].contains($0.count) }) ?? true,
            (pairedAt == nil) == (timeText == nil)
        else { return nil }
        self.init(
            site: site, privateKey: privateKey, boxKey: boxKey, rendezvousSecret: secret, code: code,
            relayURL: relayURL, label: label, pairedAt: pairedAt, deviceID: deviceID, role: role)
    }

    private static func bytes(_ value: JSONValue?) -> [UInt8]? {
        value?.stringValue.flatMap { Base64URL.decode($0) }
    }

    /// Outer `nil`: missing or no text. Inner `nil`: `null`.
    private static func optional(_ value: JSONValue?) -> String?? {
        switch value {
        case .null?: .some(nil)
        case .string(let text)?: .some(text)
        default: nil
        }
    }
}
