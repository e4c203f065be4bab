import BoxLink

/// Why a body is not the message that its type names. The message is dropped
/// and counted; it never ends the session (FTW wire §4).
enum MessageError: Error, Equatable {
    case notAMap
    case missing(String)
    case wrongType(String)
    case outOfRange(String)
}

/// Reads the members of one message body.
///
/// Keys nobody asks for are ignored, `null` reads as absent where a member is
/// optional (FTW wire §5.1, §5.3).
struct MessageBody {
    let map: CBORMap

    init(_ value: CBORValue?) throws(MessageError) {
        guard let map = value?.mapValue else { throw .notAMap }
        self.map = map
    }

    func optional(_ key: String) -> CBORValue? {
        guard let value = map[key], !value.isNull else { return nil }
        return value
    }

    func required(_ key: String) throws(MessageError) -> CBORValue {
        guard let value = optional(key) else { throw .missing(key) }
        return value
    }

    func int(_ key: String) throws(MessageError) -> Int64 {
        guard case .int(let value) = try required(key) else { throw .wrongType(key) }
        return value
    }

    func optionalInt(_ key: String) throws(MessageError) -> Int64? {
        guard let value = optional(key) else { return nil }
        guard case .int(let number) = value else { throw .wrongType(key) }
        return number
    }

    /// A whole number that is not negative.
    func count(_ key: String) throws(MessageError) -> UInt64 {
        switch try required(key) {
        case .int(let value):
            guard let count = UInt64(exactly: value) else { throw .outOfRange(key) }
            return count
        case .unsigned(let value): return value
        default: throw .wrongType(key)
        }
    }

    func text(_ key: String) throws(MessageError) -> String {
        guard case .text(let value) = try required(key) else { throw .wrongType(key) }
        return value
    }

    func optionalText(_ key: String) throws(MessageError) -> String? {
        guard let value = optional(key) else { return nil }
        guard case .text(let text) = value else { throw .wrongType(key) }
        return text
    }

    func optionalBool(_ key: String) throws(MessageError) -> Bool? {
        guard let value = optional(key) else { return nil }
        guard case .bool(let flag) = value else { throw .wrongType(key) }
        return flag
    }

    func bool(_ key: String) throws(MessageError) -> Bool {
        guard let flag = try optionalBool(key) else { throw .missing(key) }
        return flag
    }

    func optionalTexts(_ key: String) throws(MessageError) -> [String]? {
        guard let value = optional(key) else { return nil }
        guard case .array(let items) = value else { throw .wrongType(key) }
        var texts: [String] = []
        for item in items {
            guard case .text(let text) = item else { throw .wrongType(key) }
            texts.append(text)
        }
        return texts
    }

    func array(_ key: String) throws(MessageError) -> [CBORValue] {
        guard case .array(let items) = try required(key) else { throw .wrongType(key) }
        return items
    }

    func bytes(_ key: String) throws(MessageError) -> [UInt8] {
        guard case .bytes(let bytes) = try required(key) else { throw .wrongType(key) }
        return bytes
    }

    func optionalMap(_ key: String) throws(MessageError) -> CBORMap? {
        guard let value = optional(key) else { return nil }
        guard case .map(let map) = value else { throw .wrongType(key) }
        return map
    }
}

/// Builds a body whose optional members are left out when they are `nil`.
struct BodyBuilder {
    private var members: [(String, CBORValue)] = []

    mutating func add(_ key: String, _ value: CBORValue?) {
        if let value { members.append((key, value)) }
    }

    var value: CBORValue { .map(CBORMap(members)) }
}

extension CBORValue {
    /// A list of texts.
    init(texts: [String]) { self = .array(texts.map { .text($0) }) }

    /// A whole number that is not negative, in the shortest form.
    init(count: UInt64) {
        if let small = Int64(exactly: count) { self = .int(small) } else { self = .unsigned(count) }
    }
}
