public import BoxLink

/// The box's own no, with its code (FTW wire §6.11, §8.3).
public struct BoxRefusal: Error, Sendable, Equatable {
    /// `E_…`; an unknown code is possible and never retryable.
    public var code: String
    /// Whether the box says that the same question may succeed later.
    public var retryable: Bool
    /// How long the box asks to wait; no box of today sends it.
    public var retryAfter: Duration?
    /// What the code speaks about. Numbers may be floats of any width.
    public var args: CBORMap

    /// A refusal as it would come from a box, for tests and simulators.
    public init(
        code: String, retryable: Bool = false, retryAfter: Duration? = nil, args: CBORMap = [:]
    ) {
        self.code = code
        self.retryable = retryable
        self.retryAfter = retryAfter
        self.args = args
    }

    /// The box's one API slot is taken; it frees it only after its last frame.
    public var isBusy: Bool {
        code == Contract.ErrorCode.unavailable.rawValue && args["reason"] == .text("busy")
    }
    /// This box lacks the operation altogether: no argument is named (FTW wire §7.6).
    public var isUnknownOperation: Bool {
        code == Contract.ErrorCode.unknownOp.rawValue && args["arg"] == nil && args["op"] != nil
    }

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        code = try body.text("code")
        retryable = try body.optionalBool("retryable") ?? false
        if let ms = try body.optionalInt("retryAfterMs") {
            guard (0...86_400_000).contains(ms) else { throw .outOfRange("retryAfterMs") }
            retryAfter = .milliseconds(ms)
        }
        args = try body.optionalMap("args") ?? [:]
    }

    var body: CBORValue {
        var builder = BodyBuilder()
        builder.add("code", .text(code))
        builder.add("retryable", .bool(retryable))
        builder.add("retryAfterMs", retryAfter.map { .int($0.wholeMilliseconds) })
        if !args.members.isEmpty { builder.add("args", .map(args)) }
        return builder.value
    }
}

/// `error`: with an id it answers that request alone, without one it speaks
/// about the session.
enum ErrorMessage {
    static let type = Contract.MessageType.error.rawValue
}

extension Duration {
    /// Whole milliseconds, rounded towards zero and held within 64 bits.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return seconds < 0 ? .min : .max }
        return product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000).partialValue
    }
}
