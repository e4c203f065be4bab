public import BoxLink

/// What one simulated box is.
public struct SimulatedBoxSettings: Sendable {
    /// The box's identity, which a pairing link carries.
    public var identity: X25519KeyPair
    /// What the box and its clients find each other's room by, 32 bytes.
    public var rendezvousSecret: SecretBytes
    public var vintage = BoxVintage.soc
    /// The version text in the greeting; `nil` takes the vintage's.
    public var build: String?
    /// The opaque name in the greeting; may be empty, as on real boxes.
    public var boxID = "5a1d0b0c5a1d0b0c"
    /// The zone's name in the greeting. Real boxes also say `Local`. `nil` says the house's.
    public var zoneName: String?
    /// How long the process has been running when the simulation starts. At zero the
    /// first snapshot is all zeros, as after a real start.
    public var uptimeAtStart = Duration.seconds(600)
    /// How long a source may be silent before its state changes.
    public var staleAfter = Duration.seconds(15)
    /// Makes codes, leases and handshakes repeatable; `nil` draws them by chance.
    public var seed: UInt64?
    /// Whom the box lets in when it starts, as if they had paired long ago.
    public var clients: [BoxClient] = []
    /// Told whenever whom it lets in has changed; for a file.
    public var onClientsChanged: (@Sendable (BoxRecord) -> Void)?

    public init(identity: X25519KeyPair, rendezvousSecret: SecretBytes) {
        self.identity = identity
        self.rendezvousSecret = rendezvousSecret
    }

    /// The box that was there before.
    public init(_ record: BoxRecord) {
        self.init(identity: record.identity, rendezvousSecret: record.rendezvousSecret)
        clients = record.clients
        // Two boxes that are kept are two boxes to whoever tells them by their name.
        boxID = record.identity.publicKey.prefix(8).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count < 2 ? "0" + digits : digits
        }.joined()
    }

    /// A new box.
    ///
    /// - Parameter seed: The same keys again for the same seed, for tests and
    ///   demonstrations; `nil` draws them by chance, as a real box does.
    /// - Throws: `NoiseError` when the machine has no X25519.
    public init(seed: UInt64? = nil) throws(NoiseError) {
        guard let seed else {
            self.init(
                identity: try X25519KeyPair(), rendezvousSecret: SecretBytes(Primitives.random(32)))
            return
        }
        var dice = BoxDice(seed: seed)
        self.init(
            identity: try X25519KeyPair(secret: dice.bytes(32)),
            rendezvousSecret: SecretBytes(dice.bytes(32)))
        self.seed = seed
    }
}

/// Where a box takes its random bytes from.
struct BoxDice: Sendable {
    private var noise: HouseNoise?
    private var next: Int64 = 0

    init(seed: UInt64?) { noise = seed.map(HouseNoise.init(seed:)) }

    mutating func bytes(_ count: Int) -> [UInt8] {
        guard let noise else { return Primitives.random(count) }
        var drawn: [UInt8] = []
        while drawn.count < count {
            next += 1
            let word = noise.bits(.identifier, next)
            drawn += (0..<8).map { UInt8(truncatingIfNeeded: word >> (UInt64($0) * 8)) }
        }
        return Array(drawn.prefix(count))
    }

    mutating func uuid() -> String {
        let drawn = bytes(16)
        let word = { (part: ArraySlice<UInt8>) in part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        return UUIDText.text(high: word(drawn[..<8]), low: word(drawn[8...]))
    }
}
