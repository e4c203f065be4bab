import BoxLink
import JSONText
import Testing

/// Handshakes that other implementations published, byte for byte, both ends.
@Suite struct HandshakeVectorTests {
    /// One published handshake.
    struct Sample {
        var prologue: [UInt8]
        var initiator: X25519KeyPair
        var initiatorEphemeral: X25519KeyPair
        var responder: X25519KeyPair
        var responderEphemeral: X25519KeyPair
        var payload1: [UInt8]
        var payload2: [UInt8]
        var message1: [UInt8]
        var message2: [UInt8]
        var hash: [UInt8]

        /// Runs both ends, comparing every message, and gives what they agreed on.
        func run() throws -> (initiator: HandshakeResult, responder: HandshakeResult) {
            var client = try InitiatorHandshake(
                prologue: prologue, staticKey: initiator, remoteStatic: responder.publicKey,
                ephemeral: initiatorEphemeral)
            var box = try ResponderHandshake(
                prologue: prologue, staticKey: responder, ephemeral: responderEphemeral)
            #expect(try client.writeMessage1(payload: payload1) == message1)
            let heard = try box.readMessage1(message1)
            #expect(heard.remoteStatic == initiator.publicKey)
            #expect(heard.payload == payload1)
            let answer = try box.writeMessage2(payload: payload2)
            #expect(answer.message == message2)
            let result = try client.readMessage2(message2)
            #expect(result.payload == payload2)
            #expect(result.handshakeHash == hash)
            #expect(answer.result.handshakeHash == hash)
            return (result, answer.result)
        }
    }

    static func webApp() throws -> Sample {
        let file = try Vectors.json("webapp-vectors.json")
        let v = try file.member("handshake")
        #expect(try file.string("protocolName") == InitiatorHandshake.protocolName)
        let sample = Sample(
            prologue: try v.hex("prologue"),
            initiator: try X25519KeyPair(secret: v.hex("initiatorStatic")),
            initiatorEphemeral: try X25519KeyPair(secret: v.hex("initiatorEphemeral")),
            responder: try X25519KeyPair(secret: v.hex("responderStatic")),
            responderEphemeral: try X25519KeyPair(secret: v.hex("responderEphemeral")),
            payload1: try v.hex("message1Payload"), payload2: try v.hex("message2Payload"),
            message1: try v.hex("message1"), message2: try v.hex("message2"), hash: try v.hex("handshakeHash")
        )
        #expect(try sample.initiator.publicKey == v.hex("initiatorStaticPublic"))
        #expect(try sample.responder.publicKey == v.hex("responderStaticPublic"))
        return sample
    }

    static func spec(_ name: String) throws -> Sample {
        let file = try Vectors.json("spec-vectors.json")
        let keys = try file.member("keys")
        let v = try file.member(name)
        return Sample(
            prologue: try file.hex("prologue"),
            initiator: try X25519KeyPair(secret: keys.hex("appStatic")),
            initiatorEphemeral: try X25519KeyPair(secret: keys.hex("appEphemeral")),
            responder: try X25519KeyPair(secret: keys.hex("boxStatic")),
            responderEphemeral: try X25519KeyPair(secret: keys.hex("boxEphemeral")),
            payload1: try v.hex("message1Payload"), payload2: [],
            message1: try v.hex("message1"), message2: try v.hex("message2"), hash: try v.hex("handshakeHash")
        )
    }

    /// Trap 35: the published prologue is `ftw1` and message 2 has a payload;
    /// both belong to the caller.
    @Test func theWebClientsHandshakeIsReproduced() throws {
        _ = try Self.webApp().run()
    }

    @Test(arguments: [
        ("handshakeWithQrCode", 112), ("handshakeWithSpokenCode", 101), ("handshakeReconnect", 96),
    ])
    func theThreeHandshakesOfABoxAreReproduced(name: String, message1Count: Int) throws {
        let sample = try Self.spec(name)
        let v = try Vectors.json("spec-vectors.json").member(name)
        #expect(sample.prologue == InitiatorHandshake.prologue(boxKey: sample.responder.publicKey))
        #expect(sample.prologue.count == 47)
        #expect(sample.message1.count == message1Count)
        #expect(sample.message2.count == InitiatorHandshake.message2Overhead)
        let (client, box) = try sample.run()
        let toBox = try v.hex("keyAppToBox")
        let toApp = try v.hex("keyBoxToApp")
        client.sendKey.withBytes { #expect($0 == toBox) }
        client.receiveKey.withBytes { #expect($0 == toApp) }
        box.sendKey.withBytes { #expect($0 == toApp) }
        box.receiveKey.withBytes { #expect($0 == toBox) }
    }

    @Test func theCacophonyVectorRunsThroughPlainCipherStates() throws {
        let v = try Vectors.json("cacophony-ik.json")
        let messages = try v.list("messages")
        #expect(messages.count == 6)
        let sample = Sample(
            prologue: try v.hex("prologue"),
            initiator: try X25519KeyPair(secret: v.hex("initStatic")),
            initiatorEphemeral: try X25519KeyPair(secret: v.hex("initEphemeral")),
            responder: try X25519KeyPair(secret: v.hex("respStatic")),
            responderEphemeral: try X25519KeyPair(secret: v.hex("respEphemeral")),
            payload1: try messages[0].hex("payload"), payload2: try messages[1].hex("payload"),
            message1: try messages[0].hex("ciphertext"), message2: try messages[1].hex("ciphertext"),
            hash: try v.hex("handshakeHash"))
        #expect(try sample.responder.publicKey == v.hex("initRemoteStatic"))
        let (client, box) = try sample.run()
        var clientSends = try CipherState(key: client.sendKey)
        var clientReceives = try CipherState(key: client.receiveKey)
        var boxSends = try CipherState(key: box.sendKey)
        var boxReceives = try CipherState(key: box.receiveKey)
        for message in messages.dropFirst(2) {
            let plain = try message.hex("payload")
            let sealed = try message.hex("ciphertext")
            if try message.string("from") == "initiator" {
                #expect(try clientSends.encrypt(plain) == sealed)
                #expect(try boxReceives.decrypt(sealed) == plain)
            } else {
                #expect(try boxSends.encrypt(plain) == sealed)
                #expect(try clientReceives.decrypt(sealed) == plain)
            }
        }
    }
}
