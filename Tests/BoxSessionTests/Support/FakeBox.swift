import BoxLink
import Testing

/// The box's side of one session, spoken by hand.
final class FakeBox {
    let keys: X25519KeyPair
    private var transport: NoiseTransport?
    /// Payloads of the handshakes that came, the pairing code among them.
    private(set) var payloads: [[UInt8]] = []
    var seq: Int64 = 0
    var uptimeMs: Int64 = 100_000

    init() throws { keys = try X25519KeyPair() }

    /// Reads message 1 and writes message 2.
    func answer(_ message1: [UInt8]) throws -> [UInt8] {
        var handshake = try ResponderHandshake(
            prologue: InitiatorHandshake.prologue(boxKey: keys.publicKey), staticKey: keys)
        payloads.append(try handshake.readMessage1(message1).payload)
        let (message, result) = try handshake.writeMessage2(payload: [])
        transport = try NoiseTransport(sendKey: result.sendKey, receiveKey: result.receiveKey)
        seq = 0
        return message
    }

    func open(_ message: [UInt8]) throws -> (frame: Frame, envelope: Envelope) {
        let open = try #require(transport).open(message)
        let opened = try #require(open)
        let frame = try Frame(decoding: opened.frame)
        return (frame, try Envelope(decoding: frame.payload))
    }

    func seal(_ type: String, id: UInt32? = nil, _ body: CBORValue?, flags: UInt8 = 0) throws -> [UInt8] {
        let payload = Envelope(type: type, id: id, body: body).encoded(.deterministic)
        let bulk: Set = ["hello_ok", "snap", "plan", "price", "api.head", "api.chunk", "api.end"]
        let frame = Frame(lane: bulk.contains(type) ? .bulk : .control, flags: flags, payload: payload)
        let bucket = frame.lane == .control ? 512 : try #require(Frame.bulkBucket(forPayload: payload.count))
        let bytes = try frame.encoded(bucket: bucket)
        return try #require(transport).seal(bytes)
    }

    // MARK: Bodies, written out by hand so that no encoder of ours is trusted

    static let modes: CBORValue = [
        ["key": "planner_self", "label": "Plan", "tooltip": "", "tier": "primary"],
        ["key": "idle", "label": "Idle", "tooltip": "", "tier": "advanced"],
    ]

    func helloOK(
        mode: String = "full", subscribed: Bool? = true, caps: [CBORValue]? = nil, boot: CBORValue? = nil,
        role: String? = "owner", zone: String = "Europe/Stockholm"
    ) -> CBORValue {
        var members: [(String, CBORValue)] = [
            ("proto", mode == "floor" ? 0 : 1), ("mode", .text(mode)),
            ("box", ["id": "0011223344556677", "tz": .text(zone), "build": "2.2.1"]),
            ("clock", ["source": "ntp", "syncedAtMs": 0, "uptimeMs": .int(uptimeMs)]),
            ("caps", .array(caps ?? ["status.core", "api.passthrough", "plan.dispatch", "price.spot"])),
            ("capsHash", "0000000000000000"), ("modes", Self.modes),
        ]
        if let role { members.append(("role", .text(role))) }
        if let boot { members.append(("boot", boot)) }
        if let subscribed { members.append(("subscribed", .bool(subscribed))) }
        return .map(CBORMap(members))
    }

    /// Four live sources, or as given.
    func table(_ states: [String: String] = [:]) -> CBORValue {
        let all = ["meter": "live", "roof": "live", "store": "live", "car": "live"]
            .merging(states) { $1 }
        return .map(
            CBORMap(
                all.sorted { $0.key < $1.key }.map { id, state in
                    (
                        id,
                        [
                            "kind": "driver", "name": .text(id), "lastOkMs": .int(uptimeMs - 500),
                            "staleAfterMs": 60_000, "state": .text(state),
                        ]
                    )
                }))
    }

    func snap(
        rev: Int64 = 1, fields: CBORValue? = nil, sources: CBORValue? = nil, blocked: CBORValue = []
    ) -> CBORValue {
        [
            "uptimeMs": .int(uptimeMs), "controlRev": .int(rev),
            "dict": ["2": ["name": "grid_w", "unit": "W", "srcId": "meter"]],
            "fields": fields
                ?? ["1": 0, "2": 1_200, "3": -3_000, "4": 500, "5": 613, "6": 700, "10": 4_000],
            "sources": sources ?? table(), "dispatchBlockedBy": blocked,
        ]
    }

    func tick() -> CBORValue {
        seq += 1
        uptimeMs += 1_000
        return ["seq": .int(seq), "uptimeMs": .int(uptimeMs)]
    }

    func delta(fields: CBORValue = [:], sources: CBORValue? = nil, blocked: CBORValue? = nil) -> CBORValue {
        seq += 1
        uptimeMs += 1_000
        var members: [(String, CBORValue)] = [
            ("seq", .int(seq)), ("uptimeMs", .int(uptimeMs)), ("fields", fields),
        ]
        if let sources { members.append(("sources", sources)) }
        if let blocked { members.append(("dispatchBlockedBy", blocked)) }
        return .map(CBORMap(members))
    }
}
