/// One CBOR item (RFC 8949), as far as the box's messages go.
///
/// Integers and floats stay apart, because the box refuses a whole message for
/// one float where it wants an integer (FTW wire §5.3).
public enum CBORValue: Sendable, Equatable {
    case int(Int64)
    /// Only numbers above `Int64.max`; smaller ones are always ``int(_:)``.
    case unsigned(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    case map(CBORMap)
    case bool(Bool)
    /// `null`, and `undefined`, which says no more to us.
    case null
    case float(Double)
}

/// A map with text keys, each once, in the order they came or were given.
///
/// Two maps are equal if they hold the same, whatever the order. Keys are
/// compared as Swift compares text, so that a decoded map can be put into a
/// `Dictionary` without meeting a key twice.
public struct CBORMap: Sendable, Equatable {
    /// The entries in wire order.
    public private(set) var members: [(key: String, value: CBORValue)]

    public init() { members = [] }

    /// The last of equal keys wins.
    public init(_ members: [(String, CBORValue)]) {
        self.init()
        self.members.reserveCapacity(members.count)
        for (key, value) in members { self[key] = value }
    }

    /// For the decoder, which has looked for duplicates already.
    init(checked members: [(key: String, value: CBORValue)]) { self.members = members }

    public var count: Int { members.count }
    public var isEmpty: Bool { members.isEmpty }

    /// The value of a key, `nil` if there is none. Setting `nil` removes.
    public subscript(key: String) -> CBORValue? {
        get { members.first { $0.key == key }?.value }
        set {
            let index = members.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((key, value))
            case (nil, nil): break
            }
        }
    }

    public static func == (a: CBORMap, b: CBORMap) -> Bool {
        guard a.count == b.count else { return false }
        if zip(a.members, b.members).allSatisfy({ $0.key == $1.key && $0.value == $1.value }) { return true }
        let other = Dictionary(b.members.map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
        return a.members.allSatisfy { other[$0.key] == $0.value }
    }
}

extension CBORValue {
    /// An integer that was written as one; `nil` for a float, even a whole one.
    public var intValue: Int64? { if case .int(let i) = self { i } else { nil } }
    public var textValue: String? { if case .text(let s) = self { s } else { nil } }
    public var bytesValue: [UInt8]? { if case .bytes(let b) = self { b } else { nil } }
    public var arrayValue: [CBORValue]? { if case .array(let a) = self { a } else { nil } }
    public var mapValue: CBORMap? { if case .map(let m) = self { m } else { nil } }
    public var boolValue: Bool? { if case .bool(let b) = self { b } else { nil } }
    public var isNull: Bool { self == .null }
    /// Any finite number, written as integer or float; `nil` for infinity and NaN.
    public var doubleValue: Double? {
        switch self {
        case .int(let i): Double(i)
        case .unsigned(let u): Double(u)
        case .float(let d) where d.isFinite: d
        default: nil
        }
    }
    /// The value of a key; `nil` if there is none or this is no map.
    public subscript(key: String) -> CBORValue? { if case .map(let m) = self { m[key] } else { nil } }
}

extension CBORMap: ExpressibleByDictionaryLiteral {
    /// The last of equal keys wins.
    public init(dictionaryLiteral elements: (String, CBORValue)...) { self.init(elements) }
}

extension CBORValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: CBORValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, CBORValue)...) { self = .map(CBORMap(elements)) }
}
