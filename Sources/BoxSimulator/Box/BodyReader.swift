import BoxLink

/// Some member of a body is not what the box's decoder can take: the whole
/// message is dropped without an answer (FTW wire §5.3).
struct UnreadableBody: Error {}

/// Reads one body the way the box does: an absent member or a null is nothing,
/// a wrong type anywhere is the end of the message.
struct BodyReader {
    private let members: CBORMap

    init(_ body: CBORValue?) throws(UnreadableBody) {
        guard case .map(let members) = body else { throw UnreadableBody() }
        self.members = members
    }

    subscript(key: String) -> CBORValue? {
        guard let value = members[key], !value.isNull else { return nil }
        return value
    }

    func text(_ key: String) throws(UnreadableBody) -> String? {
        guard let value = self[key] else { return nil }
        guard let text = value.textValue else { throw UnreadableBody() }
        return text
    }

    /// A float is no integer here, not even 1.0.
    func int(_ key: String) throws(UnreadableBody) -> Int64? {
        guard let value = self[key] else { return nil }
        guard let int = value.intValue else { throw UnreadableBody() }
        return int
    }

    func unsigned(_ key: String) throws(UnreadableBody) -> Int64? {
        guard let value = try int(key) else { return nil }
        guard value >= 0 else { throw UnreadableBody() }
        return value
    }

    func number(_ key: String) throws(UnreadableBody) -> Double? {
        guard let value = self[key] else { return nil }
        guard let number = value.doubleValue else { throw UnreadableBody() }
        return number
    }

    func bool(_ key: String) throws(UnreadableBody) -> Bool? {
        guard let value = self[key] else { return nil }
        guard let bool = value.boolValue else { throw UnreadableBody() }
        return bool
    }

    func bytes(_ key: String) throws(UnreadableBody) -> [UInt8]? {
        guard let value = self[key] else { return nil }
        guard let bytes = value.bytesValue else { throw UnreadableBody() }
        return bytes
    }

    func array(_ key: String) throws(UnreadableBody) -> [CBORValue]? {
        guard let value = self[key] else { return nil }
        guard let array = value.arrayValue else { throw UnreadableBody() }
        return array
    }

    func map(_ key: String) throws(UnreadableBody) -> BodyReader? {
        guard let value = self[key] else { return nil }
        return try BodyReader(value)
    }

    /// A map of text to text, in wire order.
    func texts(_ key: String) throws(UnreadableBody) -> [(key: String, value: String)]? {
        guard let value = self[key] else { return nil }
        guard let map = value.mapValue else { throw UnreadableBody() }
        var read: [(String, String)] = []
        for member in map.members {
            guard let text = member.value.textValue else { throw UnreadableBody() }
            read.append((member.key, text))
        }
        return read
    }
}
