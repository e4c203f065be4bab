import BoxLink

/// `tick`: a control frame in which nothing changed (FTW wire §6.5).
struct TickMessage: Equatable {
    static let type = Contract.MessageType.tick.rawValue
    /// Shared with `delta`, from 1.
    var seq: UInt64
    var uptimeMs: Int64

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        seq = try body.count("seq")
        uptimeMs = try body.int("uptimeMs")
    }

    var body: CBORValue { ["seq": CBORValue(count: seq), "uptimeMs": .int(uptimeMs)] }
}
