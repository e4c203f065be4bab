import BoxLink

/// `plan.get`: has no body; the id is the envelope's (FTW wire §6.8).
enum PlanGetMessage {
    static let type = Contract.MessageType.planGet.rawValue
}

/// `plan`: what the box's planner intends (FTW wire §6.8).
public struct PlanMessage: Sendable, Equatable {
    static let type = Contract.MessageType.plan.rawValue

    /// One stretch of the plan.
    public struct Slot: Sendable, Equatable {
        /// Wall clock, milliseconds since 1970.
        public var startMs: Int64
        /// Not always a quarter of an hour.
        public var durationMs: Int64
        /// Charging positive.
        public var batteryW: Int64
        /// Import positive.
        public var gridW: Int64
        /// Minor currency units per kWh; `nil` when unknown.
        public var priceMinor: Int64?
        /// A word such as `cheap_import`; treat an unknown one as `idle`.
        public var reason: String
    }

    /// Counts replans of one box process; 0 = there is no plan.
    public var rev: UInt64
    /// Uptime when the message was *sent*, not when the plan was made.
    public var uptimeMs: Int64
    /// May be cut at its end without a mark.
    public var slots: [Slot]
    /// No plan, or one made more than 30 minutes ago.
    public var isStale: Bool
    /// Import ceiling defended, in watts; `nil` when there is none.
    public var ceilingW: Int64?

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        rev = try body.count("rev")
        uptimeMs = try body.int("uptimeMs")
        slots = []
        for item in try body.array("slots") {
            let slot = try MessageBody(item)
            slots.append(
                Slot(
                    startMs: try slot.int("startMs"), durationMs: try slot.int("durationMs"),
                    batteryW: try slot.int("batteryW"), gridW: try slot.int("gridW"),
                    priceMinor: try slot.optionalInt("priceMinor"),
                    reason: try slot.optionalText("reason") ?? "idle"))
        }
        isStale = try body.bool("stale")
        ceilingW = try body.optionalInt("ceilingW")
    }

    var body: CBORValue {
        [
            "rev": CBORValue(count: rev), "uptimeMs": .int(uptimeMs),
            "slots": .array(
                slots.map {
                    [
                        "startMs": .int($0.startMs), "durationMs": .int($0.durationMs),
                        "batteryW": .int($0.batteryW), "gridW": .int($0.gridW),
                        "priceMinor": $0.priceMinor.map { .int($0) } ?? .null, "reason": .text($0.reason),
                    ]
                }),
            "stale": .bool(isStale), "ceilingW": ceilingW.map { .int($0) } ?? .null,
        ]
    }
}
