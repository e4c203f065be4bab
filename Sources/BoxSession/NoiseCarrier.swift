import BoxLink

/// Handshake and transport over one carrier: tells our own messages from
/// everybody else's (FTW wire §2.3, §2.5).
///
/// The relay broadcasts what the box sends, so most messages may be another
/// client's. One that is not ours changes nothing but a counter.
struct NoiseCarrier {
    enum Received: Equatable {
        /// Another client's, a replay or a forgery: not told apart, on purpose.
        case foreign
        /// Message 2 verified; the session is up.
        case established
        /// The content of one transport message.
        case frame([UInt8])
    }
    /// The length of message 2, whose payload a box leaves empty.
    static let message2Length = 48

    private let identity: X25519KeyPair
    private let boxKey: [UInt8]
    /// Used by the next handshake only; set where a recorded one is repeated.
    var nextEphemeral: X25519KeyPair?
    private var handshake: InitiatorHandshake?
    private var transport: NoiseTransport?
    /// Messages that were not ours.
    private(set) var foreignCount: UInt64 = 0

    init(identity: X25519KeyPair, boxKey: [UInt8]) {
        self.identity = identity
        self.boxKey = boxKey
    }

    var isUp: Bool { transport != nil }

    /// Starts a new handshake; whatever was before is wiped.
    ///
    /// - Parameter payload: The raw pairing code, or nothing.
    /// - Returns: Message 1.
    mutating func begin(payload: [UInt8]) throws(NoiseError) -> [UInt8] {
        wipe()
        defer { nextEphemeral = nil }
        var fresh = try InitiatorHandshake(
            prologue: InitiatorHandshake.prologue(boxKey: boxKey), staticKey: identity, remoteStatic: boxKey,
            ephemeral: nextEphemeral)
        let message = try fresh.writeMessage1(payload: payload)
        handshake = fresh
        return message
    }

    /// Sorts one incoming message.
    mutating func received(_ message: [UInt8]) -> Received {
        if let transport {
            if let opened = transport.open(message) { return .frame(opened.frame) }
        } else if var candidate = handshake, message.count == Self.message2Length {
            // Another client's answer is just as long: only the copy is touched until the tag verifies.
            if let result = try? candidate.readMessage2(message),
                let fresh = try? NoiseTransport(sendKey: result.sendKey, receiveKey: result.receiveKey)
            {
                handshake = nil
                transport = fresh
                return .established
            }
        }
        foreignCount &+= 1
        return .foreign
    }

    /// - Returns: The transport message, or `nil` while there is no session.
    func seal(_ frame: [UInt8]) throws(NoiseError) -> [UInt8]? {
        guard let transport else { return nil }
        return try transport.seal(frame)
    }

    /// Forgets handshake and session; their keys leave memory.
    mutating func wipe() {
        transport?.close()
        transport = nil
        handshake = nil
    }
}
