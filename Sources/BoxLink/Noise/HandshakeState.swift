/// What a finished handshake leaves.
public struct HandshakeResult: Sendable {
    /// 32 bytes that both ends share and nobody can steer.
    public let handshakeHash: [UInt8]
    /// The other side's payload. The box sends none in message 2 (FTW wire §2.3).
    public let payload: [UInt8]
    public let sendKey: SecretBytes
    public let receiveKey: SecretBytes
}

/// The client's half of Noise_IK_25519_ChaChaPoly_SHA256 (FTW wire §2).
///
/// One value per attempt: it makes message 1 once and gives keys once, because
/// a second use would repeat key and nonce. Prologue and payload are the
/// caller's, so that published vectors with others can be checked.
public struct InitiatorHandshake: Sendable {
    /// Message 1 without its payload, in bytes.
    public static let message1Overhead = 96
    /// Message 2 without its payload, in bytes; the box's is exactly this long.
    public static let message2Overhead = 48
    /// The Noise protocol name, 32 ASCII bytes.
    public static let protocolName = "Noise_IK_25519_ChaChaPoly_SHA256"

    private enum Step { case unsent, waiting, done }
    private var step = Step.unsent
    private var symmetric: SymmetricState
    private let staticKey: X25519KeyPair
    private let ephemeral: X25519KeyPair
    private let remoteStatic: [UInt8]

    /// - Parameters:
    ///   - prologue: What both ends must agree on; ``prologue(boxKey:)`` for a box.
    ///   - staticKey: Who we are, for good.
    ///   - remoteStatic: The box's public key, 32 bytes, from the pairing link.
    ///   - ephemeral: `nil` for a new one, as it must be outside tests.
    public init(
        prologue: [UInt8], staticKey: X25519KeyPair, remoteStatic: [UInt8], ephemeral: X25519KeyPair? = nil
    ) throws(NoiseError) {
        guard remoteStatic.count == Primitives.keyLength else { throw .badLength }
        self.staticKey = staticKey
        self.remoteStatic = remoteStatic
        if let ephemeral { self.ephemeral = ephemeral } else { self.ephemeral = try X25519KeyPair() }
        symmetric = SymmetricState()
        symmetric.mixHash(prologue)
        symmetric.mixHash(remoteStatic)
    }

    /// `ftw.session.v1:` and the box's key: binds a session to this box and this use.
    public static func prologue(boxKey: [UInt8]) -> [UInt8] {
        Array("ftw.session.v1:".utf8) + boxKey
    }

    /// Message 1, `→ e, es, s, ss`: 96 bytes and the payload.
    ///
    /// - Parameter payload: The pairing code's 16 or 5 bytes, or nothing once paired.
    /// - Throws: `.outOfOrder` on a second call, `.badKey` for a box key of small order.
    public mutating func writeMessage1(payload: [UInt8]) throws(NoiseError) -> [UInt8] {
        guard step == .unsent else { throw .outOfOrder }
        var state = symmetric
        state.mixHash(ephemeral.publicKey)
        try state.mixKey(try ephemeral.sharedSecret(with: remoteStatic))
        var message = ephemeral.publicKey
        message += try state.encryptAndHash(staticKey.publicKey)
        try state.mixKey(try staticKey.sharedSecret(with: remoteStatic))
        message += try state.encryptAndHash(payload)
        symmetric = state
        step = .waiting
        return message
    }

    /// Reads message 2, `← e, ee, se`.
    ///
    /// In a shared room another client's reply looks the same, so this works on
    /// a copy: after an error nothing has changed and the next message can be
    /// tried (FTW wire §2.3).
    ///
    /// - Throws: `.badLength`, `.badKey`, `.authenticationFailed`: not ours, keep
    ///   waiting. `.outOfOrder`: nothing is awaited.
    public mutating func readMessage2(_ message: [UInt8]) throws(NoiseError) -> HandshakeResult {
        guard step == .waiting else { throw .outOfOrder }
        guard message.count >= Self.message2Overhead else { throw .badLength }
        var state = symmetric
        let remoteEphemeral = Array(message.prefix(Primitives.keyLength))
        state.mixHash(remoteEphemeral)
        try state.mixKey(try ephemeral.sharedSecret(with: remoteEphemeral))
        try state.mixKey(try staticKey.sharedSecret(with: remoteEphemeral))
        let payload = try state.decryptAndHash(message.dropFirst(Primitives.keyLength))
        step = .done
        let (ours, theirs) = state.split()
        return HandshakeResult(
            handshakeHash: state.hash, payload: payload, sendKey: ours, receiveKey: theirs)
    }
}

/// The box's half, for the simulated box and for tests.
public struct ResponderHandshake: Sendable {
    private enum Step { case unread, read, done }
    private var step = Step.unread
    private var symmetric: SymmetricState
    private let staticKey: X25519KeyPair
    private let ephemeral: X25519KeyPair
    private var remoteEphemeral: [UInt8] = []
    private var remoteStatic: [UInt8] = []

    /// - Parameter ephemeral: `nil` for a new one, as it must be outside tests.
    public init(
        prologue: [UInt8], staticKey: X25519KeyPair, ephemeral: X25519KeyPair? = nil
    ) throws(NoiseError) {
        self.staticKey = staticKey
        if let ephemeral { self.ephemeral = ephemeral } else { self.ephemeral = try X25519KeyPair() }
        symmetric = SymmetricState()
        symmetric.mixHash(prologue)
        symmetric.mixHash(staticKey.publicKey)
    }

    /// Reads message 1; after an error nothing has changed.
    ///
    /// - Returns: Who calls, which is proven, and the payload, which may be old:
    ///   message 1 can be replayed by anybody who saw it (Noise rev 34 §7.7).
    public mutating func readMessage1(
        _ message: [UInt8]
    ) throws(NoiseError) -> (remoteStatic: [UInt8], payload: [UInt8]) {
        guard step == .unread else { throw .outOfOrder }
        guard message.count >= InitiatorHandshake.message1Overhead else { throw .badLength }
        var state = symmetric
        let ephemeralEnd = Primitives.keyLength
        let staticEnd = ephemeralEnd + Primitives.keyLength + Primitives.tagLength
        let theirEphemeral = Array(message[..<ephemeralEnd])
        state.mixHash(theirEphemeral)
        try state.mixKey(try staticKey.sharedSecret(with: theirEphemeral))
        let theirStatic = try state.decryptAndHash(message[ephemeralEnd..<staticEnd])
        try state.mixKey(try staticKey.sharedSecret(with: theirStatic))
        let payload = try state.decryptAndHash(message[staticEnd...])
        symmetric = state
        remoteEphemeral = theirEphemeral
        remoteStatic = theirStatic
        step = .read
        return (theirStatic, payload)
    }

    /// Message 2: 48 bytes and the payload, which a box leaves empty.
    public mutating func writeMessage2(
        payload: [UInt8] = []
    ) throws(NoiseError) -> (message: [UInt8], result: HandshakeResult) {
        guard step == .read else { throw .outOfOrder }
        var state = symmetric
        state.mixHash(ephemeral.publicKey)
        try state.mixKey(try ephemeral.sharedSecret(with: remoteEphemeral))
        try state.mixKey(try ephemeral.sharedSecret(with: remoteStatic))
        let message = ephemeral.publicKey + (try state.encryptAndHash(payload))
        step = .done
        let (theirs, ours) = state.split()
        return (
            message,
            HandshakeResult(handshakeHash: state.hash, payload: [], sendKey: ours, receiveKey: theirs)
        )
    }
}
