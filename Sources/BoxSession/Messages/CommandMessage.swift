public import BoxLink

/// `cmd`: asks the box to change something (FTW wire §7.1).
public struct CommandMessage: Sendable, Equatable {
    static let type = Contract.MessageType.cmd.rawValue

    /// A condition on telemetry; a guard on a field that is absent always fails.
    public struct Guard: Sendable, Equatable {
        /// How the field must stand to the value.
        public enum Relation: String, Sendable, CaseIterable { case lt, lte, gt, gte }
        /// A telemetry field (FTW wire §6.4).
        public var field: UInt32
        /// Field on the left, value on the right.
        public var relation: Relation
        /// Compared with the integers of the telemetry: watts, state of charge in permille.
        public var value: Double

        /// A condition; whether the field exists at this site is for the caller to know.
        public init(field: UInt32, relation: Relation, value: Double) {
            self.field = field
            self.relation = relation
            self.value = value
        }
    }

    /// A UUID of version 7, lower case; see ``CommandID``.
    public var commandID: String
    /// Such as `loadpoint.hold`.
    public var operation: String
    /// Keep texts well under 200 bytes: a refusal echoes them, and a reply that
    /// does not fit the control bucket kills the session (FTW wire §11.9).
    public var args: CBORMap
    /// In the box's **uptime**; must lie ahead of it on arrival.
    public var notValidAfterMs: Int64
    /// The last `controlRev` seen.
    public var rev: UInt64
    /// All must hold; empty for none.
    public var guards: [Guard]

    /// Nothing is checked; the box judges (FTW wire §7.2).
    public init(
        commandID: String, operation: String, args: CBORMap, notValidAfterMs: Int64, rev: UInt64,
        guards: [Guard] = []
    ) {
        self.commandID = commandID
        self.operation = operation
        self.args = args
        self.notValidAfterMs = notValidAfterMs
        self.rev = rev
        self.guards = guards
    }

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        commandID = try body.text("cmdId")
        operation = try body.text("op")
        args = try body.optionalMap("args") ?? [:]
        notValidAfterMs = try body.int("notValidAfterMs")
        let expect = try MessageBody(body.required("expect"))
        rev = try expect.count("rev")
        guards = []
        guard expect.optional("guards") != nil else { return }
        for item in try expect.array("guards") {
            let condition = try MessageBody(item)
            guard let field = UInt32(exactly: try condition.count("fid")) else { throw .outOfRange("fid") }
            guard let relation = Guard.Relation(rawValue: try condition.text("op")) else {
                throw .outOfRange("op")
            }
            guard let value = try condition.required("value").doubleValue else { throw .wrongType("value") }
            guards.append(Guard(field: field, relation: relation, value: value))
        }
    }

    /// The body as the box accepts it: revision, field ids and the deadline are
    /// whole numbers, because a float in any of them gets no answer (FTW wire §11.7).
    public var body: CBORValue {
        [
            "cmdId": .text(commandID), "op": .text(operation), "args": .map(args),
            "notValidAfterMs": .int(notValidAfterMs),
            "expect": [
                "rev": CBORValue(count: rev),
                "guards": .array(
                    guards.map {
                        [
                            "fid": .int(Int64($0.field)), "op": .text($0.relation.rawValue),
                            "value": Int64(exactly: $0.value).map { .int($0) } ?? .float($0.value),
                        ]
                    }),
            ],
        ]
    }
}
