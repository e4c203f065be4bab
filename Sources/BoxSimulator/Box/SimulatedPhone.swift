public import BoxLink

/// The client's end of one conversation: handshake, frames, and nothing else. Pure.
///
/// Deliberately simple: it shows what a box said, it does not keep state.
struct PhoneLink {
    /// A frame as it arrived.
    struct Heard: Sendable, Equatable {
        var type: String
        var id: UInt32?
        var body: CBORValue
        var lane: Frame.Lane
        var isTruncated: Bool
        /// Size of the whole frame.
        var bucket: Int
        /// The envelope as it was coded.
        var payload: [UInt8]
    }
    let identity: X25519KeyPair
    let boxKey: [UInt8]
    private var handshake: InitiatorHandshake?
    private(set) var transport: NoiseTransport?

    init(identity: X25519KeyPair, boxKey: [UInt8]) {
        self.identity = identity
        self.boxKey = boxKey
    }

    var isUp: Bool { transport != nil }

    /// Message 1, with the code to be presented, if any.
    mutating func begin(code: [UInt8] = [], ephemeral: X25519KeyPair? = nil) throws -> [UInt8] {
        transport = nil
        var handshake = try InitiatorHandshake(
            prologue: InitiatorHandshake.prologue(boxKey: boxKey), staticKey: identity, remoteStatic: boxKey,
            ephemeral: ephemeral)
        let message = try handshake.writeMessage1(payload: code)
        self.handshake = handshake
        return message
    }

    mutating func end() {
        transport?.close()
        transport = nil
        handshake = nil
    }

    /// Takes one message of the room: message 2, a frame of ours, or somebody else's.
    mutating func take(_ bytes: [UInt8]) -> Heard? {
        if let transport {
            guard let (_, plain) = transport.open(bytes), let frame = try? Frame(decoding: plain),
                let envelope = try? Envelope(decoding: frame.payload)
            else { return nil }
            return Heard(
                type: envelope.type, id: envelope.id, body: envelope.body ?? .null, lane: frame.lane,
                isTruncated: frame.isTruncated, bucket: plain.count, payload: frame.payload)
        }
        guard bytes.count == 48, let keys = try? handshake?.readMessage2(bytes) else { return nil }
        handshake = nil
        transport = try? NoiseTransport(sendKey: keys.sendKey, receiveKey: keys.receiveKey)
        return nil
    }

    /// A message to the box; `nil` without a session.
    func message(_ type: String, id: UInt32? = nil, _ body: CBORValue? = nil) -> [UInt8]? {
        let isBulk = ["plan.get", "price.get", "hist.query", "api.req"].contains(type)
        let payload = Envelope(type: type, id: id, body: body).encoded()
        let frame = Frame(lane: isBulk ? .bulk : .control, payload: payload)
        let bucket = isBulk ? Frame.bulkBucket(forPayload: payload.count) ?? 0 : 512
        guard let plain = try? frame.encoded(bucket: bucket) else { return nil }
        return try? transport?.seal(plain)
    }
}

/// Another member of the household in the same room: pairs, subscribes, listens.
///
/// What it receives is foreign traffic to everybody else.
public actor SimulatedPhone {
    private let carrier: any Carrier
    private var link: PhoneLink
    private var code: [UInt8]
    private var heard: [String: Int] = [:]
    private var foreign = 0

    /// - Parameters:
    ///   - code: The pairing code to present; empty for a client that is already enrolled.
    ///   - carrier: The app's end of the room.
    public init(identity: X25519KeyPair, boxKey: [UInt8], code: [UInt8] = [], carrier: any Carrier) {
        self.carrier = carrier
        link = PhoneLink(identity: identity, boxKey: boxKey)
        self.code = code
    }

    /// How many frames of each type came.
    public var frames: [String: Int] { heard }
    /// How many messages in the room were not for this phone.
    public var foreignMessages: Int { foreign }
    /// Whether it has a session.
    public var isUp: Bool { link.isUp }

    /// Stays in the room until the task is cancelled.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.carrier.run() }
            group.addTask { for await event in self.carrier.events { await self.handle(event) } }
            await group.next()
            group.cancelAll()
        }
        link.end()
    }

    /// Reads one document of the box's, to keep its slot busy or to be counted.
    public func read(_ path: String, id: UInt32) {
        send("api.req", id: id, ["method": "GET", "path": .text(path)])
    }

    /// Sends any message, good or bad.
    public func send(_ type: String, id: UInt32? = nil, _ body: CBORValue? = nil) {
        if let bytes = link.message(type, id: id, body) { carrier.send(bytes) }
    }

    private func handle(_ event: CarrierEvent) {
        switch event {
        case .ready:
            if let message = try? link.begin(code: code) { carrier.send(message) }
        case .gone, .lost: link.end()
        case .joined: break
        case .message(let bytes):
            let wasUp = link.isUp
            if let frame = link.take(bytes) {
                heard[frame.type, default: 0] += 1
            } else if link.isUp, !wasUp {
                code = []
                let sub: CBORValue = ["bucket": 512, "hz": 1]
                send("hello", ["proto": ["min": 0, "max": 1], "locales": ["sv"], "sub": sub])
            } else {
                foreign += 1
            }
        }
    }
}
