import BoxLink

/// `snap`: the telemetry as a whole; replaces everything held (FTW wire §6.3).
struct SnapMessage: Equatable {
    static let type = Contract.MessageType.snap.rawValue

    struct Entry: Equatable {
        var name: String
        var unit: String?
        /// The source whose state governs the field.
        var sourceID: String?
    }

    var uptimeMs: Int64
    /// Counts from 1 per box process.
    var controlRev: UInt64
    var dictionary: [UInt32: Entry]
    var fields: [UInt32: Int64]
    var sources: [String: SourceEntry]
    /// Ids of sources that stop the box from steering.
    var blockedBy: [String]

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        uptimeMs = try body.int("uptimeMs")
        controlRev = try body.count("controlRev")
        dictionary = [:]
        for (key, value) in try body.optionalMap("dict")?.members ?? [] {
            guard let id = UInt32(key) else { continue }
            let entry = try MessageBody(value)
            dictionary[id] = Entry(
                name: try entry.optionalText("name") ?? key, unit: try entry.optionalText("unit"),
                sourceID: try entry.optionalText("srcId"))
        }
        fields = FieldMap.read(try body.optionalMap("fields") ?? [:])
        sources = try SourceEntry.table(try body.optionalMap("sources") ?? [:])
        blockedBy = try body.optionalTexts("dispatchBlockedBy") ?? []
    }

    var body: CBORValue {
        [
            "uptimeMs": .int(uptimeMs),
            "controlRev": CBORValue(count: controlRev),
            "dict": .map(
                CBORMap(
                    dictionary.sorted { $0.key < $1.key }.map { id, entry in
                        (
                            String(id),
                            [
                                "name": .text(entry.name), "unit": entry.unit.map { .text($0) } ?? .null,
                                "srcId": entry.sourceID.map { .text($0) } ?? .null,
                            ]
                        )
                    })),
            "fields": FieldMap.value(of: fields),
            "sources": SourceEntry.value(of: sources),
            "dispatchBlockedBy": CBORValue(texts: blockedBy),
        ]
    }
}
