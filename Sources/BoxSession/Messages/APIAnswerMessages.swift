import BoxLink

/// `api.head`: an HTTP handler ran and this is how its answer begins (FTW wire §8.2).
struct APIHeadMessage: Equatable {
    static let type = Contract.MessageType.apiHead.rawValue
    var status: Int64
    var headers: [String: String]
    /// `nil` when the box does not know the length beforehand.
    var length: Int64?

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        status = try body.int("status")
        guard (100...999).contains(status) else { throw .outOfRange("status") }
        headers = [:]
        for (key, value) in try body.optionalMap("headers")?.members ?? [] {
            if case .text(let text) = value { headers[key] = text }
        }
        length = try body.optionalInt("len")
    }

    var body: CBORValue {
        [
            "status": .int(status),
            "headers": .map(CBORMap(headers.sorted { $0.key < $1.key }.map { ($0.key, .text($0.value)) })),
            "len": length.map { .int($0) } ?? .null,
        ]
    }
}

/// `api.chunk`: a piece of the answer; `seq` counts from 0.
struct APIChunkMessage: Equatable {
    static let type = Contract.MessageType.apiChunk.rawValue
    var seq: UInt64
    var bytes: [UInt8]

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        seq = try body.count("seq")
        bytes = try body.bytes("data")
    }

    var body: CBORValue { ["seq": CBORValue(count: seq), "data": .bytes(bytes)] }
}

/// `api.end`: the answer is complete, or was cut.
struct APIEndMessage: Equatable {
    static let type = Contract.MessageType.apiEnd.rawValue
    var bytes: UInt64
    /// The answer was larger than the ceiling; what arrived must be discarded.
    var isTruncated: Bool

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        bytes = try body.count("bytes")
        isTruncated = try body.optionalBool("truncated") ?? false
    }

    var body: CBORValue { ["bytes": CBORValue(count: bytes), "truncated": .bool(isTruncated)] }
}
