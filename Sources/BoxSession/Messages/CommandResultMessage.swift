import BoxLink

/// `cmd.result`: how a command ended. May come without any ack (FTW wire §7.3).
public struct CommandResultMessage: Sendable, Equatable {
    static let type = Contract.MessageType.cmdResult.rawValue

    /// The ends a box of today knows.
    public enum State: String, Sendable, CaseIterable {
        /// The box read back what was asked.
        case applied
        /// Accepted, but `observed` differs and is the truth.
        case superseded
        /// Accepted, nothing to read back.
        case unconfirmed
        case rejected
        case expired
    }
    /// What the box read back: the state the box holds, no proof from a device.
    public struct Observed: Sendable, Equatable {
        /// Always a float on the wire, often a half.
        public var value: Double
        /// `core` on every box of today.
        public var source: String
        /// When it was read, in uptime.
        public var uptimeMs: Int64
    }

    /// The command it belongs to.
    public var commandID: String
    /// `nil` for a word of a later box.
    public var state: State?
    /// The box's own word for ``state``.
    public var stateText: String
    /// `nil` when there was nothing to read back.
    public var observed: Observed?
    /// Why it was not done; `nil` when it was.
    public var refusal: BoxRefusal?

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        commandID = try body.text("cmdId")
        stateText = try body.text("state")
        state = State(rawValue: stateText)
        if let value = body.optional("observed") {
            let observed = try MessageBody(value)
            guard let number = try observed.required("value").doubleValue else { throw .wrongType("value") }
            self.observed = Observed(
                value: number, source: try observed.optionalText("src") ?? "",
                uptimeMs: try observed.optionalInt("uptimeMs") ?? 0)
        }
        if let error = body.optional("error") { refusal = try BoxRefusal(body: error) }
    }

    var body: CBORValue {
        var builder = BodyBuilder()
        builder.add("cmdId", .text(commandID))
        builder.add("state", .text(stateText))
        builder.add(
            "observed",
            observed.map {
                ["value": .float($0.value), "src": .text($0.source), "uptimeMs": .int($0.uptimeMs)]
            })
        builder.add("error", refusal?.body)
        return builder.value
    }
}
