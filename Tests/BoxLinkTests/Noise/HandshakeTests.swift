import TestSupport
import Testing

@testable import BoxLink

@Suite struct HandshakeTests {
    private let box: X25519KeyPair
    private let client: X25519KeyPair
    private let prologue: [UInt8]

    init() throws {
        box = try X25519KeyPair()
        client = try X25519KeyPair()
        prologue = InitiatorHandshake.prologue(boxKey: box.publicKey)
    }

    private func initiator() throws -> InitiatorHandshake {
        try InitiatorHandshake(prologue: prologue, staticKey: client, remoteStatic: box.publicKey)
    }

    private func responder() throws -> ResponderHandshake {
        try ResponderHandshake(prologue: prologue, staticKey: box)
    }

    /// Trap 2: 48 bytes are no proof. Another client's message 2 must leave no trace.
    @Test func anotherClientsReplyLeavesNoTrace() throws {
        var ours = try initiator()
        var theirs = try InitiatorHandshake(
            prologue: prologue, staticKey: X25519KeyPair(), remoteStatic: box.publicKey)
        var boxForUs = try responder()
        var boxForThem = try responder()
        _ = try boxForUs.readMessage1(try ours.writeMessage1(payload: []))
        _ = try boxForThem.readMessage1(try theirs.writeMessage1(payload: []))
        let foreign = try boxForThem.writeMessage2().message
        let own = try boxForUs.writeMessage2()
        #expect(foreign.count == own.message.count)
        for _ in 0..<3 {
            #expect(throws: NoiseError.authenticationFailed) { try ours.readMessage2(foreign) }
        }
        let result = try ours.readMessage2(own.message)
        #expect(result.handshakeHash == own.result.handshakeHash)
    }

    @Test func everyPrefixOfMessage2IsRefusedAndTheWholeStillWorks() throws {
        var ours = try initiator()
        var theirs = try responder()
        _ = try theirs.readMessage1(try ours.writeMessage1(payload: []))
        let message = try theirs.writeMessage2().message
        for count in 0..<message.count {
            #expect(throws: NoiseError.badLength) { try ours.readMessage2(Array(message.prefix(count))) }
        }
        #expect(throws: NoiseError.authenticationFailed) { try ours.readMessage2(message + [0]) }
        _ = try ours.readMessage2(message)
    }

    @Test func everyFlippedBitOfMessage2IsRefused() throws {
        var ours = try initiator()
        var theirs = try responder()
        _ = try theirs.readMessage1(try ours.writeMessage1(payload: []))
        let message = try theirs.writeMessage2().message
        for bit in 0..<message.count * 8 {
            var copy = message
            copy[bit / 8] ^= 1 << (bit % 8)
            // The point's highest bit is ignored by X25519 but is part of the hash.
            #expect(throws: NoiseError.authenticationFailed) { try ours.readMessage2(copy) }
        }
        _ = try ours.readMessage2(message)
    }

    /// 100 000 damaged replies. Only the first 5 000 that are long enough reach
    /// the key exchange; the rest of those would test the same at a fifth of a
    /// millisecond each.
    @Test func damagedRepliesAreRefusedAndTheWholeStillWorks() throws {
        var ours = try initiator()
        var theirs = try responder()
        _ = try theirs.readMessage1(try ours.writeMessage1(payload: []))
        let message = try theirs.writeMessage2().message
        var dice = SeededDice(2)
        var exchanges = 0
        for _ in 0..<100_000 {
            let damaged = message.damaged(&dice)
            guard damaged != message else { continue }
            if damaged.count >= InitiatorHandshake.message2Overhead {
                exchanges += 1
                if exchanges > 5_000 { continue }
            }
            #expect(throws: NoiseError.self) { try ours.readMessage2(damaged) }
        }
        _ = try ours.readMessage2(message)
    }

    @Test func aReplyWithAPointOfSmallOrderIsRefused() throws {
        var ours = try initiator()
        _ = try ours.writeMessage1(payload: [])
        #expect(throws: NoiseError.badKey) { try ours.readMessage2([UInt8](repeating: 0, count: 48)) }
    }

    @Test func aBoxKeyOfSmallOrderIsRefusedBeforeAnythingIsSent() throws {
        var ours = try InitiatorHandshake(
            prologue: [], staticKey: client, remoteStatic: [UInt8](repeating: 0, count: 32))
        #expect(throws: NoiseError.badKey) { try ours.writeMessage1(payload: [1]) }
    }

    @Test func everyPrefixOfMessage1IsRefusedAndTheWholeStillWorks() throws {
        var ours = try initiator()
        let message = try ours.writeMessage1(payload: [1, 2, 3, 4, 5])
        var theirs = try responder()
        for count in 0..<message.count {
            #expect(throws: NoiseError.self) { try theirs.readMessage1(Array(message.prefix(count))) }
        }
        for place in message.indices {
            var copy = message
            copy[place] ^= 0x10
            #expect(throws: NoiseError.self) { try theirs.readMessage1(copy) }
        }
        let heard = try theirs.readMessage1(message)
        #expect(heard.payload == [1, 2, 3, 4, 5])
        #expect(heard.remoteStatic == client.publicKey)
    }

    @Test func anotherPrologueOrAnotherBoxIsAnotherConversation() throws {
        var ours = try initiator()
        let message = try ours.writeMessage1(payload: [])
        var other = try ResponderHandshake(prologue: [1], staticKey: box)
        #expect(throws: NoiseError.authenticationFailed) { try other.readMessage1(message) }
        var stranger = try ResponderHandshake(prologue: prologue, staticKey: X25519KeyPair())
        #expect(throws: NoiseError.authenticationFailed) { try stranger.readMessage1(message) }
    }

    @Test func eachStepHappensOnceAndInItsTurn() throws {
        var ours = try initiator()
        var theirs = try responder()
        let zeros = [UInt8](repeating: 0, count: 96)
        #expect(throws: NoiseError.outOfOrder) { try ours.readMessage2(zeros) }
        #expect(throws: NoiseError.outOfOrder) { try theirs.writeMessage2() }
        let first = try ours.writeMessage1(payload: [])
        #expect(throws: NoiseError.outOfOrder) { try ours.writeMessage1(payload: []) }
        _ = try theirs.readMessage1(first)
        #expect(throws: NoiseError.outOfOrder) { try theirs.readMessage1(first) }
        let second = try theirs.writeMessage2().message
        #expect(throws: NoiseError.outOfOrder) { try theirs.writeMessage2() }
        _ = try ours.readMessage2(second)
        #expect(throws: NoiseError.outOfOrder) { try ours.readMessage2(second) }
    }

    @Test func newHandshakesNeverRepeatAMessage() throws {
        var first = try initiator()
        var second = try initiator()
        #expect(try first.writeMessage1(payload: []) != second.writeMessage1(payload: []))
    }

    @Test func aCipherThatFailsDoesNotCount() throws {
        let key = SecretBytes([UInt8](repeating: 3, count: 32))
        var sends = try CipherState(key: key)
        var receives = try CipherState(key: key)
        let sealed = try sends.encrypt([1, 2, 3], ad: [9])
        #expect(throws: NoiseError.authenticationFailed) { try receives.decrypt(sealed, ad: [8]) }
        #expect(throws: NoiseError.badLength) { try receives.decrypt([1, 2, 3], ad: [9]) }
        #expect(receives.nonce == 0)
        #expect(try receives.decrypt(sealed, ad: [9]) == [1, 2, 3])
        #expect(receives.nonce == 1)
        #expect(try sends.encrypt([], ad: []).count == 16)
    }
}
