import BoxLink

/// One row of the source table in `snap` and `delta` (FTW wire §6.3, §6.6).
struct SourceEntry: Equatable {
    var kind: String
    var name: String
    /// Uptime of the last answer; 0 when it never answered.
    var lastOkMs: Int64
    /// 0 or less when the box trusts it never.
    var staleAfterMs: Int64
    /// The box's word; trust it over any age of our own.
    var state: String

    init(id: String, value: CBORValue) throws(MessageError) {
        let body = try MessageBody(value)
        kind = try body.optionalText("kind") ?? ""
        name = try body.optionalText("name") ?? id
        lastOkMs = try body.optionalInt("lastOkMs") ?? 0
        staleAfterMs = try body.optionalInt("staleAfterMs") ?? 0
        state = try body.optionalText("state") ?? ""
    }

    var value: CBORValue {
        [
            "kind": .text(kind), "name": .text(name), "lastOkMs": .int(lastOkMs),
            "staleAfterMs": .int(staleAfterMs), "state": .text(state),
        ]
    }

    static func table(_ map: CBORMap) throws(MessageError) -> [String: SourceEntry] {
        var table: [String: SourceEntry] = [:]
        for (id, value) in map.members { table[id] = try SourceEntry(id: id, value: value) }
        return table
    }

    static func value(of table: [String: SourceEntry]) -> CBORValue {
        .map(CBORMap(table.sorted { $0.key < $1.key }.map { ($0.key, $0.value.value) }))
    }
}

/// The telemetry map: field id as decimal text to a whole number (FTW wire §6.4).
enum FieldMap {
    /// Reads the map. A key that is no id and a value that is no whole number
    /// are left out: a later box may send what this version cannot know.
    static func read(_ map: CBORMap) -> [UInt32: Int64] {
        var fields: [UInt32: Int64] = [:]
        for (key, value) in map.members {
            if let id = UInt32(key), case .int(let number) = value { fields[id] = number }
        }
        return fields
    }

    static func value(of fields: [UInt32: Int64]) -> CBORValue {
        .map(CBORMap(fields.sorted { $0.key < $1.key }.map { (String($0.key), .int($0.value)) }))
    }
}
