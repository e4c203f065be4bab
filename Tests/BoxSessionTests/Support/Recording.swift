import BoxLink
import FoundationEssentials
import JSONText
import Testing

/// One recorded conversation; `Recordings/README.md` explains every key.
struct Recording: Sendable {
    struct Message: Sendable {
        var index: Int
        var isIncoming: Bool
        var atMs: Int64
        /// `nil` for text and close.
        var bytes: [UInt8]?
        var text: String?
        var isClose: Bool
        var isOwn: Bool
        /// `message1` or `message2`.
        var noise: String?
        var handshake: Int?
        var sequence: UInt64?
        var lane: Frame.Lane?
        var flags: UInt8
        var bucket: Int?
        var type: String?
        var id: UInt32?
        var cbor: [UInt8]?
        var view: JSONValue?
    }
    struct Handshake: Sendable {
        var ephemeral: [UInt8]
        var payload: [UInt8]
        var message1At: Int
        var message2At: Int?
        var hash: [UInt8]?
        var sendKey: [UInt8]?
        var receiveKey: [UInt8]?
    }
    static let names = [
        "pairing", "reads", "commands", "room-owner", "restart-next", "silence", "wrong-epoch",
    ]
    /// Those in which a session came up.
    static let sessions = ["pairing", "reads", "commands", "room-owner", "restart-next"]

    var document: JSONValue
    var messages: [Message]
    var handshakes: [Handshake]
    var identity: X25519KeyPair
    var boxKey: [UInt8]
    var wallStart: Date

    private static let all: [String: Result<Recording, any Error>] = Dictionary(
        uniqueKeysWithValues: names.map { name in (name, Result { try Recording(reading: name) }) })

    /// A recording; all files are read once.
    init(_ name: String) throws { self = try #require(Self.all[name]).get() }

    private init(reading name: String) throws {
        document = try JSONValue(parsing: Recording.file("session-\(name).json"))
        let keys = try #require(document["keys"])
        identity = try X25519KeyPair(secret: try #require(keys["clientStaticSecret"]?.hex))
        boxKey = try #require(keys["boxStaticPublic"]?.hex)
        wallStart = Date(
            timeIntervalSince1970: try #require(document["wallStartMs"]?.doubleValue) / 1_000)
        handshakes = try #require(document["handshakes"]?.arrayValue).map { item in
            Handshake(
                ephemeral: try #require(item["ephemeralSecret"]?.hex),
                payload: item["payload"]?.hex ?? [],
                message1At: Int(try #require(item["message1At"]?.intValue)),
                message2At: item["message2At"]?.intValue.map { Int($0) },
                hash: item["handshakeHash"]?.hex, sendKey: item["sendKey"]?.hex,
                receiveKey: item["receiveKey"]?.hex)
        }
        messages = try #require(document["messages"]?.arrayValue).map { item in
            Message(
                index: Int(try #require(item["i"]?.intValue)), isIncoming: item["dir"] == "in",
                atMs: try #require(item["t_ms"]?.intValue), bytes: item["hex"]?.hex,
                text: item["text"]?.stringValue, isClose: item["kind"] == "close",
                isOwn: item["own"]?.boolValue ?? false, noise: item["noise"]?.stringValue,
                handshake: item["handshake"]?.intValue.map { Int($0) },
                sequence: item["seq"]?.intValue.flatMap { UInt64(exactly: $0) },
                lane: item["lane"]?.intValue.flatMap { UInt8(exactly: $0) }.flatMap(Frame.Lane.init),
                flags: item["flags"]?.intValue.flatMap { UInt8(exactly: $0) } ?? 0,
                bucket: item["bucket"]?.intValue.map { Int($0) }, type: item["type"]?.stringValue,
                id: item["id"]?.intValue.flatMap { UInt32(exactly: $0) }, cbor: item["cbor"]?.hex,
                view: item["view"])
        }
    }

    /// Own messages that carry an envelope.
    var envelopes: [(message: Message, envelope: Envelope)] {
        get throws {
            try messages.filter { $0.isOwn && $0.cbor != nil }.map {
                ($0, try Envelope(decoding: $0.cbor ?? []))
            }
        }
    }

    private static let here = #filePath

    static func file(_ name: String) throws -> [UInt8] {
        let folder = here.split(separator: "/").dropLast(2).joined(separator: "/")
        return Array(try Data(contentsOf: URL(filePath: "/\(folder)/Recordings/\(name)")))
    }
}

extension JSONValue {
    /// Bytes written as hexadecimal digits.
    var hex: [UInt8]? {
        guard let text = stringValue, text.utf8.count.isMultiple(of: 2) else { return nil }
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue ?? 0 }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}
