import BoxLink
import FoundationEssentials
import JSONText
import Testing

/// What a real box sent, read from beside this file.
enum Recordings {
    static func json(_ name: String) throws -> JSONValue {
        let here: String = #filePath
        let folder = here.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let path = folder.joined(separator: "/") + "/Recordings/" + name + ".json"
        return try JSONValue(parsing: try #require(FileManager.default.contents(atPath: path), "no \(path)"))
    }

    /// One recorded message: header, envelope as coded, and decoded.
    static func message(_ name: String) throws -> (row: JSONValue, payload: [UInt8], envelope: Envelope) {
        let row = try #require(try json("messages")[name], "no message \(name)")
        let payload = try hex(try #require(row["cbor"]?.stringValue))
        return (row, payload, try Envelope(decoding: payload))
    }

    static func hex(_ text: String) throws -> [UInt8] {
        let digits = Array(text.utf8)
        return try stride(from: 0, to: digits.count, by: 2).map {
            try #require(UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16))
        }
    }
}

/// The structure of a document: every path and the kind of value there.
enum Shape {
    static func of(_ value: CBORValue, _ path: String = "") -> Set<String> {
        switch value {
        case .int, .unsigned: [path + " int"]
        case .float: [path + " float"]
        case .bytes: [path + " bytes"]
        case .text: [path + " text"]
        case .bool: [path + " bool"]
        case .null: [path + " null"]
        case .array(let items): items.reduce(into: [path + " array"]) { $0.formUnion(of($1, path + "[]")) }
        case .map(let map):
            map.members.reduce(into: [path + " map"]) { $0.formUnion(of($1.value, path + "." + $1.key)) }
        }
    }

    static func of(_ value: JSONValue, _ path: String = "") -> Set<String> {
        switch value {
        case .int, .double: [path + " number"]
        case .string: [path + " text"]
        case .bool: [path + " bool"]
        case .null: [path + " null"]
        case .array(let items): items.reduce(into: [path + " array"]) { $0.formUnion(of($1, path + "[]")) }
        case .object(let members):
            members.reduce(into: [path + " map"]) { $0.formUnion(of($1.value, path + "." + $1.key)) }
        }
    }
}
