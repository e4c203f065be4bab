import BoxLink

/// `session.terminate`: the last frame of a session (FTW wire §6.12).
struct TerminateMessage: Equatable {
    static let type = Contract.MessageType.sessionTerminate.rawValue
    /// `revoked` means that our key no longer opens anything; every other word
    /// means: come back.
    var reason: String

    var isRevoked: Bool { reason == "revoked" }

    init(body: CBORValue?) throws(MessageError) {
        reason = try MessageBody(body).text("reason")
    }

    var body: CBORValue { ["reason": .text(reason)] }
}
