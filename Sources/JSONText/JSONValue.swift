import FoundationEssentials

/// A JSON document as a value (RFC 8259).
///
/// Text goes in and out through FoundationEssentials' coder. Object members are
/// written in the order of their names, so equal documents are equal bytes.
public enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number that was written without fraction and exponent and fits 64 bits.
    case int(Int64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

/// Why some bytes are not a JSON document.
public struct JSONTextError: Error, Equatable, CustomStringConvertible {
    public let description: String
}

extension JSONValue {
    /// The deepest nesting that is read.
    public static let maxDepth = 64

    /// Reads one JSON document.
    ///
    /// - Throws: `JSONTextError` for anything that is not exactly one document,
    ///   for invalid UTF-8 and for nesting deeper than ``maxDepth``.
    public init(parsing bytes: some Sequence<UInt8>) throws(JSONTextError) {
        let data = Data(bytes)
        guard Self.depth(of: data) <= Self.maxDepth else {
            throw JSONTextError(description: "nested deeper than \(Self.maxDepth) levels")
        }
        do {
            self = try JSONDecoder().decode(JSONValue.self, from: data)
        } catch {
            throw JSONTextError(description: "not a JSON document")
        }
    }

    /// Reads one JSON document from text.
    public init(parsing text: String) throws(JSONTextError) {
        try self.init(parsing: Array(text.utf8))
    }

    /// The document as UTF-8, without white space, members sorted by name.
    ///
    /// A number that JSON cannot carry (infinity, NaN) becomes `null`: unknown,
    /// never zero.
    public var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map(Array.init) ?? Array("null".utf8)
    }

    /// ``bytes`` as a string.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Counts brackets outside strings, so that a hostile document is refused
    /// before a recursive reader sees it.
    private static func depth(of data: Data) -> Int {
        var depth = 0
        var deepest = 0
        var inString = false
        var escaped = false
        for byte in data {
            if inString {
                if escaped {
                    escaped = false
                } else if byte == UInt8(ascii: "\\") {
                    escaped = true
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): inString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return deepest
    }
}

extension JSONValue {
    /// The member of that name; `nil` if there is none or this is no object.
    public subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }
    /// The element at `index`; `nil` if there is none or this is no array.
    public subscript(index: Int) -> JSONValue? {
        if case .array(let items) = self, items.indices.contains(index) { items[index] } else { nil }
    }
    public var stringValue: String? { if case .string(let s) = self { s } else { nil } }
    public var boolValue: Bool? { if case .bool(let b) = self { b } else { nil } }
    public var arrayValue: [JSONValue]? { if case .array(let a) = self { a } else { nil } }
    public var objectValue: [String: JSONValue]? { if case .object(let o) = self { o } else { nil } }
    public var isNull: Bool { self == .null }
    /// A finite number, however it was written.
    public var doubleValue: Double? {
        switch self {
        case .int(let i): Double(i)
        case .double(let d) where d.isFinite: d
        default: nil
        }
    }
    /// A whole number, also one written `2.0`; `nil` for a fraction.
    public var intValue: Int64? {
        switch self {
        case .int(let i): i
        case .double(let d): Int64(exactly: d)
        default: nil
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// The last of equal names wins.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }
}

extension JSONValue: Codable {
    public init(from decoder: any Decoder) throws {
        let box = try decoder.singleValueContainer()
        if box.decodeNil() {
            self = .null
        } else if let value = try? box.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? box.decode(Int64.self) {
            self = .int(value)
        } else if let value = try? box.decode(Double.self) {
            self = .double(value)
        } else if let value = try? box.decode(String.self) {
            self = .string(value)
        } else if let value = try? box.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try box.decode([String: JSONValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var box = encoder.singleValueContainer()
        switch self {
        case .null: try box.encodeNil()
        case .bool(let value): try box.encode(value)
        case .int(let value): try box.encode(value)
        case .double(let value):
            if value.isFinite { try box.encode(value) } else { try box.encodeNil() }
        case .string(let value): try box.encode(value)
        case .array(let value): try box.encode(value)
        case .object(let value): try box.encode(value)
        }
    }
}
