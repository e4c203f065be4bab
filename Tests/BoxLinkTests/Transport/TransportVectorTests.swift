import BoxLink
import JSONText
import Testing

/// Published transport messages and frames, byte for byte, both ways.
@Suite struct TransportVectorTests {
    private func run(
        _ sample: HandshakeVectorTests.Sample, script: [JSONValue], frames: [String: [UInt8]]
    ) throws {
        let (client, box) = try sample.run()
        let app = try NoiseTransport(sendKey: client.sendKey, receiveKey: client.receiveKey)
        let other = try NoiseTransport(sendKey: box.sendKey, receiveKey: box.receiveKey)
        #expect(!script.isEmpty)
        for step in script {
            let frame = try #require(frames[step.string("frame")])
            let wire = try step.hex("wire")
            let fromApp = try step.string("from") == "app"
            let (sender, receiver) = fromApp ? (app, other) : (other, app)
            #expect(try sender.seal(frame) == wire)
            let opened = try #require(receiver.open(wire))
            #expect(opened.frame == frame)
            #expect(try Int64(opened.sequence) == step.int("seq"))
            #expect(wire.count == frame.count + NoiseTransport.overhead)
        }
    }

    @Test func theWebClientsMessagesAreSealedAndOpened() throws {
        let file = try Vectors.json("webapp-vectors.json")
        var frames: [String: [UInt8]] = [:]
        for frame in try file.list("frames") { frames[try frame.string("name")] = try frame.hex("bytes") }
        try run(try HandshakeVectorTests.webApp(), script: file.list("transport"), frames: frames)
    }

    @Test func theSpecificationsMessagesAreSealedAndOpened() throws {
        let file = try Vectors.json("spec-vectors.json")
        var frames: [String: [UInt8]] = [:]
        for v in try file.list("frames") {
            let lane = try #require(Frame.Lane(rawValue: UInt8(v.int("lane"))))
            let frame = Frame(lane: lane, flags: UInt8(try v.int("flags")), payload: try v.hex("payload"))
            frames[try v.string("name")] = try frame.encoded(bucket: Int(v.int("bucket")))
        }
        try run(
            try HandshakeVectorTests.spec("handshakeWithQrCode"), script: file.list("transport"),
            frames: frames)
    }

    @Test func theWebClientsFramesAreReadAndWrittenBack() throws {
        var written = 0
        for v in try Vectors.json("webapp-vectors.json").list("frames") {
            let bytes = try v.hex("bytes")
            let frame = try Frame(decoding: bytes)
            #expect(try Int64(frame.lane.rawValue) == v.int("lane"))
            #expect(try Int64(frame.flags) == v.int("flags"))
            #expect(try frame.payload.count == v.int("payloadLen"))
            #expect(try frame.encoded(bucket: Int(v.int("bucket"))) == bytes)
            let envelope = try Envelope(decoding: frame.payload)
            let keys = try v.list("envelopeKeys").compactMap(\.stringValue)
            let ours = ["t", "id", "b"].filter(keys.contains)
            guard keys == ours else { continue }
            written += 1
            let name = try v.string("name")
            #expect(envelope.encoded() == frame.payload, "\(name)")
        }
        #expect(written > 0)
    }

    @Test func theSpecificationsFramesAreReadAndWrittenBack() throws {
        for v in try Vectors.json("spec-vectors.json").list("frames") {
            let name = try v.string("name")
            let payload = try v.hex("payload")
            let lane = try #require(Frame.Lane(rawValue: UInt8(v.int("lane"))))
            let bytes = try Frame(lane: lane, flags: UInt8(v.int("flags")), payload: payload)
                .encoded(bucket: Int(v.int("bucket")))
            #expect(try Array(bytes.prefix(6)) == v.hex("header"), "\(name)")
            #expect(try bytes.count == v.int("bucket"), "\(name)")
            let frame = try Frame(decoding: bytes)
            #expect(frame.payload == payload, "\(name)")
            let envelope = try Envelope(decoding: payload)
            let profile: CBORProfile = try v.string("from") == "box" ? .deterministic : .client
            #expect(envelope.encoded(profile) == payload, "\(name)")
        }
    }
}
