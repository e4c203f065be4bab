import BoxLink

/// `cmd.ack`: the box took the command and will answer (FTW wire §7.3).
public struct CommandAckMessage: Sendable, Equatable {
    static let type = Contract.MessageType.cmdAck.rawValue
    /// The command it belongs to.
    public var commandID: String
    /// A UUID; empty when the box names none.
    public var leaseID: String
    /// Uptime; the lease needs nothing from us.
    public var expiresAtMs: Int64

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        commandID = try body.text("cmdId")
        leaseID = try body.optionalText("leaseId") ?? ""
        expiresAtMs = try body.optionalInt("expiresAtMs") ?? 0
    }

    var body: CBORValue {
        ["cmdId": .text(commandID), "leaseId": .text(leaseID), "expiresAtMs": .int(expiresAtMs)]
    }
}
