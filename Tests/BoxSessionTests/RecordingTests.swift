import BoxLink
import FoundationEssentials
import JSONText
import Testing

@testable import BoxSession

/// What a real box said and was told, byte for byte.
@Suite struct RecordingTests {
    @Test(arguments: Recording.names)
    func theRoomIsFoundFromSecretAndHour(name: String) throws {
        let recording = try Recording(name)
        let secret = SecretBytes(try #require(recording.document["keys"]?["rendezvousSecret"]?.hex))
        let epoch = try #require(recording.document["epoch"]?.intValue)
        let handle = try Rendezvous.handle(secret: secret, epoch: epoch)
        #expect(handle == recording.document["handle"]?.stringValue)
        #expect(Rendezvous.path(epoch: epoch, handle: handle) == recording.document["path"]?.stringValue)
    }

    @Test(arguments: Recording.names)
    func everyHandshakeComesOutByteForByte(name: String) throws {
        let recording = try Recording(name)
        for handshake in recording.handshakes {
            var state = try InitiatorHandshake(
                prologue: InitiatorHandshake.prologue(boxKey: recording.boxKey),
                staticKey: recording.identity, remoteStatic: recording.boxKey,
                ephemeral: X25519KeyPair(secret: handshake.ephemeral))
            let message1 = try state.writeMessage1(payload: handshake.payload)
            #expect(message1 == recording.messages[handshake.message1At].bytes)
            #expect(message1.count == 96 + handshake.payload.count)
            guard let at = handshake.message2At, let bytes = recording.messages[at].bytes else { continue }
            let result = try state.readMessage2(bytes)
            #expect(result.handshakeHash == handshake.hash)
            #expect(result.sendKey.exported() == handshake.sendKey)
            #expect(result.receiveKey.exported() == handshake.receiveKey)
        }
    }

    @Test(arguments: Recording.names)
    func everyOwnMessageOpensAndEveryOtherLeavesNoTrace(name: String) throws {
        let recording = try Recording(name)
        var noise = NoiseCarrier(identity: recording.identity, boxKey: recording.boxKey)
        var foreign = 0
        for message in recording.messages {
            if message.text == "gone" { noise.wipe() }
            guard let bytes = message.bytes else { continue }
            if message.noise == "message1" {
                let handshake = recording.handshakes[try #require(message.handshake)]
                noise.nextEphemeral = try X25519KeyPair(secret: handshake.ephemeral)
                #expect(try noise.begin(payload: handshake.payload) == bytes)
            } else if message.isIncoming, !message.isOwn {
                foreign += 1
                #expect(noise.received(bytes) == .foreign)
            } else if message.noise == "message2" {
                #expect(noise.received(bytes) == .established)
            } else if message.isIncoming {
                guard case .frame(let frame) = noise.received(bytes) else {
                    Issue.record("message \(message.index) did not open")
                    continue
                }
                try checkFrame(frame, message)
            } else {
                let payload = try #require(message.cbor)
                let frame = Frame(
                    lane: try #require(message.lane), flags: message.flags, payload: payload)
                let sealed = try noise.seal(frame.encoded(bucket: try #require(message.bucket)))
                #expect(sealed == bytes, "message \(message.index)")
            }
        }
        #expect(foreign == recording.document["foreignCount"]?.intValue.map { Int($0) })
        #expect(noise.foreignCount == UInt64(foreign))
    }

    private func checkFrame(_ bytes: [UInt8], _ message: Recording.Message) throws {
        #expect(bytes.count == message.bucket)
        let frame = try Frame(decoding: bytes)
        #expect(frame.lane == message.lane)
        #expect(frame.flags == message.flags)
        #expect(frame.payload == message.cbor)
        let envelope = try Envelope(decoding: frame.payload)
        #expect(envelope.type == message.type)
        #expect(envelope.id == message.id)
        if frame.lane == .control { #expect(bytes.count == 512) }
        if envelope.type == "hello_ok" || envelope.type == "snap" { #expect(frame.lane == .bulk) }
    }

    @Test func afterARestartNothingOpensWithTheOldKeys() throws {
        let recording = try Recording("restart-next")
        var noise = NoiseCarrier(identity: recording.identity, boxKey: recording.boxKey)
        noise.nextEphemeral = try X25519KeyPair(secret: recording.handshakes[0].ephemeral)
        _ = try noise.begin(payload: [])
        let second = recording.messages.filter { $0.isIncoming && $0.handshake == 1 && $0.noise == nil }
        #expect(noise.received(try #require(recording.messages[2].bytes)) == .established)
        #expect(second.first?.sequence == 0)
        for message in second { #expect(noise.received(try #require(message.bytes)) == .foreign) }
    }

    /// Out of our own encoders comes what the recorder sent, key order aside.
    @Test(arguments: Recording.sessions)
    func ourOwnMessagesSayTheSame(name: String) throws {
        for (message, envelope) in try Recording(name).envelopes where !message.isIncoming {
            let again: CBORValue? =
                switch envelope.type {
                case "hello": try HelloMessage(body: envelope.body).body
                case "sub": try SubMessage(body: envelope.body).body
                case "price.get": try PriceGetMessage(body: envelope.body).body
                case "api.req": try APIRequest(body: envelope.body).messageBody
                case "cmd": try CommandMessage(body: envelope.body).body
                default: envelope.body
                }
            #expect(again == envelope.body, "message \(message.index)")
        }
    }

    /// Every message of the box goes through its type and comes back byte for byte.
    @Test(arguments: Recording.sessions)
    func theBoxsMessagesAreReadWithoutLoss(name: String) throws {
        for (message, envelope) in try Recording(name).envelopes where message.isIncoming {
            guard let again = try MessageTypes.rewritten(envelope) else { continue }
            let text = Envelope(type: envelope.type, id: envelope.id, body: again).encoded(.deterministic)
            #expect(text == message.cbor, "message \(message.index), \(envelope.type)")
        }
    }
}

/// Every decoder, by the type it reads.
enum MessageTypes {
    /// - Returns: The body again, through its type; `nil` for a type that has none here.
    static func rewritten(_ envelope: Envelope) throws(MessageError) -> CBORValue? {
        let body = envelope.body
        return switch envelope.type {
        case "hello": try HelloMessage(body: body).body
        case "hello_ok": try HelloOKMessage(body: body).body
        case "sub": try SubMessage(body: body).body
        case "snap": try SnapMessage(body: body).body
        case "delta": try DeltaMessage(body: body).body
        case "tick": try TickMessage(body: body).body
        case "plan": try PlanMessage(body: body).body
        case "price.get": try PriceGetMessage(body: body).body
        case "price": try PriceMessage(body: body).body
        case "api.req": try APIRequest(body: body).messageBody
        case "api.head": try APIHeadMessage(body: body).body
        case "api.chunk": try APIChunkMessage(body: body).body
        case "api.end": try APIEndMessage(body: body).body
        case "cmd": try CommandMessage(body: body).body
        case "cmd.ack": try CommandAckMessage(body: body).body
        case "cmd.result": try CommandResultMessage(body: body).body
        case "error": try BoxRefusal(body: body).body
        case "session.terminate": try TerminateMessage(body: body).body
        default: nil
        }
    }
}
