/// Why a question to the box has no answer.
public enum BoxRequestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no session; ask again when the link is up.
    case notConnected
    /// The session ended while the question was under way. Whether the box acted is not known.
    case linkLost
    /// The box said nothing for too long.
    case timedOut
    /// It waited for the slot past its time and was not sent.
    case tooLate
    /// Whoever asked gave up.
    case cancelled
    /// Too many questions wait already.
    case queueFull
    /// The box would not understand it; names the member.
    case invalid(field: String)
    /// This box does not offer it; names the capability.
    case unsupported(capability: String)
    /// The answer is larger than `limit` bytes.
    case tooLarge(limit: Int)
    /// The answer is not what its type says.
    case malformedAnswer
    /// The box's own no.
    case refused(BoxRefusal)

    /// One English clause without secrets.
    public var description: String {
        switch self {
        case .notConnected: "there is no session with the box"
        case .linkLost: "the session ended before the box answered"
        case .timedOut: "the box did not answer in time"
        case .tooLate: "the question waited too long and was not sent"
        case .cancelled: "the question was withdrawn"
        case .queueFull: "too many questions wait for the box"
        case .invalid(let field): "the box would not understand the request: \(field)"
        case .unsupported(let capability): "this box does not offer \(capability)"
        case .tooLarge(let limit): "the answer is larger than \(limit) bytes"
        case .malformedAnswer: "the box's answer could not be read"
        case .refused(let refusal): "the box refused: \(refusal.code)"
        }
    }
}

/// What an HTTP handler of the box answered; 4xx and 5xx are answers too.
public struct APIAnswer: Sendable, Equatable {
    /// The HTTP status, 100 to 999.
    public var status: Int
    /// At most `Content-Type`, `ETag` and `Last-Modified`.
    public var headers: [String: String]
    /// The content, JSON or text; empty when there is none.
    public var body: [UInt8]

    /// An answer as it would come from a box, for tests and simulators.
    public init(status: Int, headers: [String: String], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
