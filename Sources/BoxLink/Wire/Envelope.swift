/// Why a frame's payload is no envelope. The frame is dropped, nothing else.
public enum EnvelopeError: Error, Equatable {
    case cbor(CBORError)
    case notAMap
    /// `t` is missing, empty, or not text.
    case noType
}

/// What every frame carries: type, number, body (FTW wire §5.1).
public struct Envelope: Equatable, Sendable {
    /// `t`, never empty after decoding.
    public var type: String
    /// `id`: which request this asks or answers. `nil` also for an id that is no u32.
    public var id: UInt32?
    /// `b`; `nil` if missing or null.
    public var body: CBORValue?

    public init(type: String, id: UInt32? = nil, body: CBORValue? = nil) {
        self.type = type
        self.id = id
        self.body = body
    }

    /// Reads a payload. Keys other than `t`, `id` and `b` are ignored.
    public init(decoding payload: [UInt8]) throws(EnvelopeError) {
        let item: CBORValue
        do throws(CBORError) {
            item = try CBORValue(decoding: payload)
        } catch {
            throw .cbor(error)
        }
        guard case .map(let map) = item else { throw .notAMap }
        guard case .text(let type)? = map["t"], !type.isEmpty else { throw .noType }
        let body = map["b"]
        self.init(
            type: type, id: map["id"]?.intValue.flatMap(UInt32.init(exactly:)),
            body: body == .null ? nil : body)
    }

    /// The payload, keys in the order `t`, `id`, `b` as every encoder in the
    /// field writes them; the profile is the body's.
    public func encoded(_ profile: CBORProfile = .client) -> [UInt8] {
        var map = CBORMap()
        map["t"] = .text(type)
        map["id"] = id.map { .int(Int64($0)) }
        map["b"] = body
        return map.encodedInOrder(profile)
    }
}
