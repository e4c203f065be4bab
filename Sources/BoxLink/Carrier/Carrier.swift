/// What a carrier tells the conversation on top of it, in order (wire.md §1).
public enum CarrierEvent: Sendable, Equatable {
    /// In the room. The box may or may not be there; `ready` says when it is.
    case joined
    /// The box is in the room: start a fresh Noise handshake.
    case ready
    /// The box left the room; the socket stays.
    case gone
    /// One binary message, somebody's ciphertext.
    case message([UInt8])
    /// The socket is gone or could not be made. The carrier dials again by itself.
    case lost(CarrierLoss)
}

/// Why a carrier has no socket.
public struct CarrierLoss: Sendable, Equatable {
    public enum Cause: Sendable, Equatable {
        /// No network, refused, or no such name.
        case unreachable
        /// The server's certificate was signed by nobody we trust.
        case unknownAuthority
        /// The server's certificate names another host.
        case wrongHost
        /// Any other failure of TLS.
        case tlsFailed
        /// The relay closed with 4429 or 4400, or the message was too big.
        case refused(code: UInt16)
        /// The room was closed because the hour turned (4410), or our hour was corrected (4409).
        case rotated
        /// The relay's hour is more than one away from ours: the clock is wrong.
        case clockWrong
        /// Nothing was heard on the socket for too long, not even the answer to a ping.
        case silent
        /// Whoever uses the carrier had it dial again, because the box could not be reached
        /// over a socket that was well for all we know.
        case redialled
        /// The socket ended otherwise (1006, relay restart).
        case closed
    }
    public var cause: Cause
    /// One English sentence without secrets, handles included.
    public var sentence: String
    /// How long until the next dial.
    public var retryIn: Duration

    public init(cause: Cause, sentence: String, retryIn: Duration) {
        self.cause = cause
        self.sentence = sentence
        self.retryIn = retryIn
    }
}

/// Moves opaque bytes to and from the box, and knows nothing else.
public protocol Carrier: Sendable {
    /// Every event, for one consumer. A slow consumer makes the carrier stop
    /// reading, or lose the oldest messages; it never grows without bound.
    var events: AsyncStream<CarrierEvent> { get }
    /// Sends one binary message; dropped when there is no socket (wire.md §1.8).
    func send(_ bytes: [UInt8])
    /// Drops the socket, if any, and dials again: the path was found dead.
    func redial()
    /// Tells the carrier that the session above is established and well, so that
    /// the backoff starts from its beginning at the next loss.
    func pathProven()
    /// Dials and redials until the task is cancelled, then closes and returns.
    func run() async
}
