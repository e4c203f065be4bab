import CCBOR

/// Why some bytes are not one CBOR item we can use.
public enum CBORError: Error, Equatable {
    /// The bytes end before the item does.
    case truncated
    /// Not CBOR: a reserved head, a stray break, text that is not UTF-8.
    case malformed
    /// Something follows the item.
    case trailingBytes
    /// Nested deeper than 32 levels, the box's own limit (FTW wire §5.3).
    case tooDeep
    /// A map has a key twice (RFC 8949 §5.6).
    case duplicateKey
    /// A map key that is not text; the box never sends one (FTW wire §5.2).
    case nonTextKey
    /// More than ``CBORValue/maxInput`` bytes, or an integer below `Int64.min`.
    case tooLarge
}

/// How a value is written.
public enum CBORProfile: Sendable {
    /// Keys in the order given, floats as 64 bits: what clients send. The box
    /// tells 0.2 from other cadences by the 64-bit value (FTW wire §5.3).
    case client
    /// RFC 8949 §4.2.1: keys sorted by their encoded bytes, the shortest float
    /// that keeps the value. What a box sends.
    case deterministic
}

extension CBORValue {
    /// The deepest nesting of arrays, maps and tags that is read.
    public static let maxDepth = 32
    /// The longest input that is read, in bytes; far above any frame.
    public static let maxInput = 1 << 20

    /// Reads exactly one item.
    ///
    /// Lengths in the input are never believed: memory grows with the bytes that
    /// are really there. A tag is read past; what it tags is taken as it stands.
    public init(decoding bytes: [UInt8]) throws(CBORError) {
        guard bytes.count <= Self.maxInput else { throw .tooLarge }
        let outcome = bytes.withUnsafeBufferPointer { buffer -> Result<CBORValue, CBORError> in
            withUnsafeTemporaryAllocation(of: CBOREvent.self, capacity: 1) { slot in
                guard let start = buffer.baseAddress, let event = slot.baseAddress else {
                    return .failure(.truncated)
                }
                event.initialize(to: CBOREvent())
                var decoder = CBORDecoder(source: start, remaining: buffer.count, event: event)
                do throws(CBORError) {
                    let value = try decoder.value(depth: 0)
                    return decoder.remaining == 0 ? .success(value) : .failure(.trailingBytes)
                } catch {
                    return .failure(error)
                }
            }
        }
        self = try outcome.get()
    }

    /// The item as bytes.
    public func encoded(_ profile: CBORProfile = .client) -> [UInt8] {
        var encoder = CBOREncoder(profile: profile)
        encoder.write(self)
        return encoder.bytes
    }
}

extension CBORMap {
    /// The map with its own keys as they stand; the profile is that of its values.
    func encodedInOrder(_ profile: CBORProfile) -> [UInt8] {
        var encoder = CBOREncoder(profile: profile)
        encoder.write(self, sorted: false)
        return encoder.bytes
    }
}

// MARK: - Decoding

/// The last head that libcbor read, as its callbacks noted it down.
private struct CBOREvent {
    enum Kind {
        case none, unsigned, negative, bytes, text, bytesStart, textStart
        case array, arrayStart, map, mapStart, tag, bool, null, float, end
    }
    var kind = Kind.none
    /// The number, the item count, or the boolean.
    var number: UInt64 = 0
    var float: Double = 0
    /// The content of a string, inside the input.
    var content = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
}

/// Pulls items out of libcbor's streaming decoder, which allocates nothing.
private struct CBORDecoder {
    var source: UnsafePointer<UInt8>
    var remaining: Int
    let event: UnsafeMutablePointer<CBOREvent>

    /// Reads one head, with the content if it is a definite string.
    private mutating func next() throws(CBORError) -> CBOREvent.Kind {
        event.pointee.kind = .none
        let result = cbor_stream_decode(source, remaining, callbacks, event)
        switch result.status {
        case CBOR_DECODER_FINISHED: break
        case CBOR_DECODER_NEDATA: throw .truncated
        default: throw .malformed
        }
        guard result.read > 0, result.read <= remaining else { throw .malformed }
        source += result.read
        remaining -= result.read
        return event.pointee.kind
    }

    mutating func value(depth: Int) throws(CBORError) -> CBORValue {
        try value(try next(), depth: depth)
    }

    private mutating func value(_ kind: CBOREvent.Kind, depth: Int) throws(CBORError) -> CBORValue {
        let number = event.pointee.number
        switch kind {
        case .unsigned: return Int64(exactly: number).map(CBORValue.int) ?? .unsigned(number)
        case .negative:
            guard let magnitude = Int64(exactly: number) else { throw .tooLarge }
            return .int(-1 - magnitude)
        case .bytes: return .bytes(Array(event.pointee.content))
        case .bytesStart: return .bytes(try chunks())
        case .text, .textStart: return .text(try text(kind))
        case .bool: return .bool(number != 0)
        case .null: return .null
        case .float: return .float(event.pointee.float)
        case .none, .end: throw .malformed
        case .array, .arrayStart, .map, .mapStart, .tag: break
        }
        guard depth < CBORValue.maxDepth else { throw .tooDeep }
        switch kind {
        case .array: return .array(try items(try count(number, bytesEach: 1), depth: depth + 1))
        case .arrayStart: return .array(try items(nil, depth: depth + 1))
        case .map: return .map(try members(try count(number, bytesEach: 2), depth: depth + 1))
        case .mapStart: return .map(try members(nil, depth: depth + 1))
        default: return try value(depth: depth + 1)
        }
    }

    /// A claimed item count, refused at once if the rest cannot hold that many.
    private func count(_ claimed: UInt64, bytesEach: Int) throws(CBORError) -> Int {
        guard let count = Int(exactly: claimed), count <= remaining / bytesEach else { throw .truncated }
        return count
    }

    /// - Parameter count: `nil` for an array that runs until its break.
    private mutating func items(_ count: Int?, depth: Int) throws(CBORError) -> [CBORValue] {
        var items: [CBORValue] = []
        // Reserving more on the word of a head would let nested heads add up.
        items.reserveCapacity(min(count ?? 0, 16))
        while count.map({ items.count < $0 }) ?? true {
            let kind = try next()
            if kind == .end, count == nil { break }
            items.append(try value(kind, depth: depth))
        }
        return items
    }

    /// - Parameter count: `nil` for a map that runs until its break.
    private mutating func members(_ count: Int?, depth: Int) throws(CBORError) -> CBORMap {
        var members: [(key: String, value: CBORValue)] = []
        members.reserveCapacity(min(count ?? 0, 16))
        var seen: Set<String> = []
        while count.map({ members.count < $0 }) ?? true {
            let kind = try next()
            if kind == .end, count == nil { break }
            guard kind == .text || kind == .textStart else { throw kind == .end ? .malformed : .nonTextKey }
            let key = try text(kind)
            // A few keys are compared faster than hashed; many must not cost their square.
            if members.count < 16 {
                guard !members.contains(where: { $0.key == key }) else { throw .duplicateKey }
            } else {
                if seen.isEmpty { seen = Set(members.map(\.key)) }
                guard seen.insert(key).inserted else { throw .duplicateKey }
            }
            members.append((key, try value(depth: depth)))
        }
        return CBORMap(checked: members)
    }

    private mutating func text(_ kind: CBOREvent.Kind) throws(CBORError) -> String {
        if kind == .text { return try text(event.pointee.content) }
        var whole = ""
        while true {
            switch try next() {
            // Every chunk is text of its own (RFC 8949 §3.2.3).
            case .text: whole += try text(event.pointee.content)
            case .end: return whole
            default: throw .malformed
            }
        }
    }

    private func text(_ content: UnsafeBufferPointer<UInt8>) throws(CBORError) -> String {
        guard let text = String(validating: content, as: UTF8.self) else { throw .malformed }
        return text
    }

    private mutating func chunks() throws(CBORError) -> [UInt8] {
        var whole: [UInt8] = []
        while true {
            switch try next() {
            case .bytes: whole += event.pointee.content
            case .end: return whole
            default: throw .malformed
            }
        }
    }
}

private func note(
    _ context: UnsafeMutableRawPointer?, _ kind: CBOREvent.Kind, number: UInt64 = 0, float: Double = 0
) {
    guard let event = context?.assumingMemoryBound(to: CBOREvent.self) else { return }
    event.pointee.kind = kind
    event.pointee.number = number
    event.pointee.float = float
}

private func note(
    _ context: UnsafeMutableRawPointer?, _ kind: CBOREvent.Kind, _ start: UnsafePointer<UInt8>?, _ count: Int
) {
    guard let event = context?.assumingMemoryBound(to: CBOREvent.self) else { return }
    event.pointee.kind = kind
    event.pointee.content = UnsafeBufferPointer(start: start, count: count)
}

/// libcbor's callbacks: each writes one `CBOREvent` and calls nothing else.
/// Allocated once for the process and never written again, hence safe to share.
/// An item count is a `size_t`, which arrives as `Int` and may be negative there.
nonisolated(unsafe) private let callbacks: UnsafePointer<cbor_callbacks> = {
    let table = UnsafeMutablePointer<cbor_callbacks>.allocate(capacity: 1)
    table.initialize(
        to: cbor_callbacks(
            uint8: { note($0, .unsigned, number: UInt64($1)) },
            uint16: { note($0, .unsigned, number: UInt64($1)) },
            uint32: { note($0, .unsigned, number: UInt64($1)) },
            uint64: { note($0, .unsigned, number: $1) },
            negint64: { note($0, .negative, number: $1) },
            negint32: { note($0, .negative, number: UInt64($1)) },
            negint16: { note($0, .negative, number: UInt64($1)) },
            negint8: { note($0, .negative, number: UInt64($1)) },
            byte_string_start: { note($0, .bytesStart) },
            byte_string: { note($0, .bytes, $1, $2) },
            string: { note($0, .text, $1, $2) },
            string_start: { note($0, .textStart) },
            indef_array_start: { note($0, .arrayStart) },
            array_start: { note($0, .array, number: UInt64(UInt(bitPattern: $1))) },
            indef_map_start: { note($0, .mapStart) },
            map_start: { note($0, .map, number: UInt64(UInt(bitPattern: $1))) },
            tag: { context, _ in note(context, .tag) },
            float2: { note($0, .float, float: Double($1)) },
            float4: { note($0, .float, float: Double($1)) },
            float8: { note($0, .float, float: $1) },
            undefined: { note($0, .null) },
            null: { note($0, .null) },
            boolean: { note($0, .bool, number: $1 ? 1 : 0) },
            indef_break: { note($0, .end) }))
    return UnsafePointer(table)
}()

// MARK: - Encoding

private struct CBOREncoder {
    let profile: CBORProfile
    var bytes: [UInt8] = []

    init(profile: CBORProfile) { self.profile = profile }

    mutating func write(_ value: CBORValue) {
        switch value {
        case .int(let number) where number >= 0: head { cbor_encode_uint(UInt64(number), $0, $1) }
        case .int(let number): head { cbor_encode_negint(UInt64(bitPattern: ~number), $0, $1) }
        case .unsigned(let number): head { cbor_encode_uint(number, $0, $1) }
        case .bytes(let content):
            head { cbor_encode_bytestring_start(content.count, $0, $1) }
            bytes += content
        case .text(let text): write(text)
        case .array(let items):
            head { cbor_encode_array_start(items.count, $0, $1) }
            for item in items { write(item) }
        case .map(let map): write(map, sorted: profile == .deterministic)
        case .bool(let flag): head { cbor_encode_bool(flag, $0, $1) }
        case .null: head { cbor_encode_null($0, $1) }
        case .float(let number): write(number)
        }
    }

    private mutating func write(_ text: String) {
        let utf8 = text.utf8
        head { cbor_encode_string_start(utf8.count, $0, $1) }
        bytes += utf8
    }

    mutating func write(_ map: CBORMap, sorted: Bool) {
        head { cbor_encode_map_start(map.count, $0, $1) }
        let members = sorted ? map.members.sorted { precedes($0.key, $1.key) } : map.members
        for (key, value) in members {
            write(key)
            write(value)
        }
    }

    /// The order of encoded text keys: their length comes first in the encoding.
    private func precedes(_ a: String, _ b: String) -> Bool {
        let (a, b) = (a.utf8, b.utf8)
        return a.count == b.count ? a.lexicographicallyPrecedes(b) : a.count < b.count
    }

    private mutating func write(_ number: Double) {
        guard profile == .deterministic else { return head { cbor_encode_double(number, $0, $1) } }
        if let half = number.isNaN ? Float16.nan : Float16(exactly: number) {
            // libcbor 0.8 loses bits of halves below 2^-14, so it writes the pattern, and
            // only the head says that the two bytes are a float (RFC 8949 §3.3).
            let start = bytes.count
            head { cbor_encode_uint16(half.bitPattern, $0, $1) }
            bytes[start] = 0xf9
        } else if let single = Float(exactly: number) {
            head { cbor_encode_single(single, $0, $1) }
        } else {
            head { cbor_encode_double(number, $0, $1) }
        }
    }

    /// A head is at most nine bytes (RFC 8949 §3).
    private mutating func head(_ write: (UnsafeMutablePointer<UInt8>?, Int) -> Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 9) { buffer in
            let count = write(buffer.baseAddress, buffer.count)
            bytes += buffer[..<count]
        }
    }
}
