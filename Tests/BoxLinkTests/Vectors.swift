import FoundationEssentials
import JSONText
import Testing

/// The published vectors, read from beside this file.
enum Vectors {
    private static let here = #filePath

    static func text(_ name: String) throws -> String {
        let folder = here.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let path = folder.joined(separator: "/") + "/Vectors/" + name
        let bytes = try #require(FileManager.default.contents(atPath: path), "no \(path)")
        return String(decoding: bytes, as: UTF8.self)
    }

    static func json(_ name: String) throws -> JSONValue {
        try JSONValue(parsing: text(name))
    }
}

extension JSONValue {
    /// The bytes of a member that is hex text.
    func hex(_ name: String) throws -> [UInt8] {
        try #require(Hex.bytes(try string(name)), "\(name) is not hex")
    }
    func string(_ name: String) throws -> String { try #require(self[name]?.stringValue, "no \(name)") }
    func int(_ name: String) throws -> Int64 { try #require(self[name]?.intValue, "no \(name)") }
    func list(_ name: String) throws -> [JSONValue] { try #require(self[name]?.arrayValue, "no \(name)") }
    func member(_ name: String) throws -> JSONValue { try #require(self[name], "no \(name)") }
}

enum Hex {
    /// `nil` for an odd count or something that is no hex digit.
    static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}
