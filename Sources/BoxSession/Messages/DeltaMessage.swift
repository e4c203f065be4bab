import BoxLink

/// `delta`: what changed since the last control frame (FTW wire §6.5).
struct DeltaMessage: Equatable {
    static let type = Contract.MessageType.delta.rawValue
    var seq: UInt64
    var uptimeMs: Int64
    var fields: [UInt32: Int64]
    /// The whole table when present; `nil` leaves table and blocked list as they are.
    var sources: [String: SourceEntry]?
    /// Belongs to `sources`: absent beside a table it means that nothing blocks
    /// any more, because the box's encoder drops an empty list.
    var blockedBy: [String]?

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        seq = try body.count("seq")
        uptimeMs = try body.int("uptimeMs")
        fields = FieldMap.read(try body.optionalMap("fields") ?? [:])
        if let table = try body.optionalMap("sources") { sources = try SourceEntry.table(table) }
        blockedBy = try body.optionalTexts("dispatchBlockedBy")
    }

    var body: CBORValue {
        var builder = BodyBuilder()
        builder.add("seq", CBORValue(count: seq))
        builder.add("uptimeMs", .int(uptimeMs))
        builder.add("fields", FieldMap.value(of: fields))
        builder.add("sources", sources.map { SourceEntry.value(of: $0) })
        builder.add("dispatchBlockedBy", blockedBy.map { CBORValue(texts: $0) })
        return builder.value
    }
}
