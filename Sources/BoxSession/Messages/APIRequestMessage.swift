import BoxLink

/// One call of the box's HTTP API through the session (FTW wire §8.1).
public struct APIRequest: Sendable, Equatable {
    /// Who goes first when the box's one slot becomes free (box API §M.4).
    public enum Priority: Int, Sendable, Comparable, CaseIterable {
        /// Somebody waits for it; never behind a read.
        case person
        case chargers
        case preferences
        case plan
        case status
        case prices
        case history

        public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
    }

    /// Upper case.
    public var method: String
    /// The *decoded* path. Nothing is escaped on the way: `%20` would arrive as
    /// those three characters.
    public var path: String
    /// Decoded like the path; empty for none.
    public var query: [String: String]
    /// JSON; `nil` for none.
    public var body: [UInt8]?
    /// Lowers the ceiling of 8 MiB for the answer.
    public var maxBytes: Int?
    /// True only when a person has just confirmed it (FTW wire §8.3).
    public var stepUp: Bool
    /// Never on the wire.
    public var priority: Priority
    /// Monotonic time after which it must not be sent any more; `nil` waits as long as it takes.
    public var notAfter: Duration?

    /// Nothing is checked here; ``invalidField`` says what the box would refuse.
    public init(
        method: String = "GET", path: String, query: [String: String] = [:], body: [UInt8]? = nil,
        maxBytes: Int? = nil, stepUp: Bool = false, priority: Priority = .status, notAfter: Duration? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
        self.maxBytes = maxBytes
        self.stepUp = stepUp
        self.priority = priority
        self.notAfter = notAfter
    }

    func isOverdue(at now: Duration) -> Bool { notAfter.map { now >= $0 } ?? false }

    static let type = Contract.MessageType.apiReq.rawValue
    static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

    /// The member the box would refuse, `nil` when it would take them all.
    ///
    /// Checked here so that a mistake is told at once and with a name, not by a
    /// refusal that costs a round trip or, in the worst case, by silence.
    public var invalidField: String? {
        if !Self.methods.contains(method) { return "method" }
        if !path.hasPrefix("/api/") || path.utf8.count > Contract.Request.apiPathBytes { return "path" }
        var previous: UInt8 = 0
        for byte in path.utf8 {
            if byte < 0x20 || byte == 0x7f || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") {
                return "path"
            }
            if byte == previous, byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/") { return "path" }
            previous = byte
        }
        for key in query.keys
        where key.isEmpty || key.utf8.contains(where: { $0 == 0 || $0 == 13 || $0 == 10 }) {
            return "query"
        }
        if let maxBytes, maxBytes < 1 { return "maxBytes" }
        return nil
    }

    init(body value: CBORValue?) throws(MessageError) {
        let message = try MessageBody(value)
        var query: [String: String] = [:]
        for (key, value) in try message.optionalMap("query")?.members ?? [] {
            guard case .text(let text) = value else { throw .wrongType("query") }
            query[key] = text
        }
        var body: [UInt8]?
        if message.optional("body") != nil { body = try message.bytes("body") }
        var maxBytes: Int?
        if let limit = try message.optionalInt("maxBytes") {
            guard let limit = Int(exactly: limit), limit > 0 else { throw .outOfRange("maxBytes") }
            maxBytes = limit
        }
        self.init(
            method: try message.text("method"), path: try message.text("path"), query: query, body: body,
            maxBytes: maxBytes, stepUp: try message.optionalBool("stepUp") ?? false)
    }

    var messageBody: CBORValue {
        var builder = BodyBuilder()
        builder.add("method", .text(method))
        builder.add("path", .text(path))
        if !query.isEmpty {
            builder.add(
                "query", .map(CBORMap(query.sorted { $0.key < $1.key }.map { ($0.key, .text($0.value)) })))
        }
        builder.add("body", body.map { .bytes($0) })
        builder.add("maxBytes", maxBytes.map { .int(Int64($0)) })
        if stepUp { builder.add("stepUp", .bool(true)) }
        return builder.value
    }
}
