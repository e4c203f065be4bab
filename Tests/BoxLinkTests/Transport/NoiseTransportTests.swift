import TestSupport
import Testing

@testable import BoxLink

@Suite struct NoiseTransportTests {
    private func pair(from first: UInt64 = 0) throws -> (app: NoiseTransport, box: NoiseTransport) {
        let up = [UInt8](repeating: 1, count: 32)
        let down = [UInt8](repeating: 2, count: 32)
        return (
            try NoiseTransport(
                sendKey: SecretBytes(up), receiveKey: SecretBytes(down), nextSequence: first),
            try NoiseTransport(
                sendKey: SecretBytes(down), receiveKey: SecretBytes(up), nextSequence: first)
        )
    }

    @Test(arguments: [0, 1, 256, 512, 1024, 4096, 16_384])
    func aFrameComesOutAsItWentIn(count: Int) throws {
        let (app, box) = try pair()
        let frame = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for sequence in 0..<3 as Range<UInt64> {
            let message = try app.seal(frame)
            #expect(message.count == count + 24)
            let opened = try #require(box.open(message))
            #expect(opened.sequence == sequence)
            #expect(opened.frame == frame)
        }
    }

    @Test func whatWeSentOurselvesIsNotOurs() throws {
        let (app, _) = try pair()
        #expect(app.open(try app.seal([1, 2, 3])) == nil)
    }

    @Test func aMessageIsOpenedOnce() throws {
        let (app, box) = try pair()
        let message = try app.seal([1])
        #expect(box.open(message) != nil)
        #expect(box.open(message) == nil)
    }

    @Test func aLostMessageCostsOnlyItself() throws {
        let (app, box) = try pair()
        let messages = try (0..<5).map { try app.seal([$0]) }
        #expect(box.open(messages[3])?.frame == [3])
        #expect(box.open(messages[1])?.frame == [1])
        #expect(box.open(messages[4])?.frame == [4])
        #expect(box.open(messages[1]) == nil)
    }

    @Test func aForgedNumberDoesNotMoveTheWindow() throws {
        let (app, box) = try pair()
        var forged = try app.seal([1])
        let good = try app.seal([2])
        forged.replaceSubrange(0..<8, with: [0, 0, 1, 0, 0, 0, 0, 0])
        #expect(box.open(forged) == nil)
        #expect(box.open(good)?.frame == [2])
    }

    @Test func everyPrefixAndEveryFlippedBitIsRefused() throws {
        let (app, box) = try pair()
        let message = try app.seal(Array("a frame".utf8))
        for count in 0..<message.count { #expect(box.open(Array(message.prefix(count))) == nil) }
        for bit in 0..<message.count * 8 {
            var copy = message
            copy[bit / 8] ^= 1 << (bit % 8)
            #expect(box.open(copy) == nil)
        }
        #expect(box.open(message + [0]) == nil)
        #expect(box.open(message) != nil)
    }

    @Test func aHundredThousandDamagedMessagesOpenNothing() throws {
        let (app, box) = try pair()
        let message = try app.seal([UInt8](repeating: 0, count: 64))
        var dice = SeededDice(3)
        for _ in 0..<100_000 {
            let damaged = message.damaged(&dice)
            if damaged != message, box.open(damaged) != nil { Issue.record("opened \(damaged)") }
        }
        #expect(box.open(message) != nil)
    }

    @Test func theLastNumberIsNeverUsed() throws {
        let (app, box) = try pair(from: .max - 1)
        let last = try app.seal([1])
        #expect(box.open(last)?.sequence == UInt64.max - 1)
        #expect(throws: NoiseError.nonceExhausted) { try app.seal([2]) }
        #expect(box.open([UInt8](repeating: 0xff, count: 48)) == nil)
    }

    @Test func aClosedTransportDoesNothingAndItsKeysAreGone() throws {
        let send = SecretBytes([UInt8](repeating: 1, count: 32))
        let receive = SecretBytes([UInt8](repeating: 1, count: 32))
        let transport = try NoiseTransport(sendKey: send, receiveKey: receive)
        let message = try transport.seal([1])
        transport.close()
        #expect(send.count == 0)
        #expect(receive.count == 0)
        #expect(throws: NoiseError.outOfOrder) { try transport.seal([1]) }
        #expect(transport.open(message) == nil)
        transport.close()
    }
}

@Suite struct ReplayWindowTests {
    @Test func anyFirstNumberIsAllowed() {
        for first in [0, 5, UInt64.max] {
            var window = ReplayWindow()
            #expect(window.allows(first))
            window.accept(first)
            #expect(window.highest == first)
            #expect(!window.allows(first))
        }
    }

    @Test func sixtyThreeBehindIsLateAndSixtyFourTooLate() {
        var window = ReplayWindow()
        window.accept(100)
        #expect(window.allows(37))
        #expect(!window.allows(36))
        #expect(!window.allows(0))
        window.accept(37)
        #expect(!window.allows(37))
        #expect(window.allows(38))
        #expect(window.highest == 100)
    }

    @Test(arguments: [1, 2, 62, 63, 64, 65, 1_000] as [UInt64])
    func aJumpForgetsWhatFallsOut(step: UInt64) {
        var window = ReplayWindow()
        window.accept(1_000)
        window.accept(1_000 + step)
        #expect(!window.allows(1_000 + step))
        #expect(!window.allows(1_000), "seen, or too old")
        if step > 1 { #expect(window.allows(1_000 + step - 1)) }
    }

    @Test func itAgreesWithASetThatForgetsNothing() {
        var window = ReplayWindow()
        var seen: Set<UInt64> = []
        var dice = SeededDice(4)
        var middle: UInt64 = 0
        for _ in 0..<20_000 {
            middle += UInt64.random(in: 0...3, using: &dice)
            let number = middle + UInt64.random(in: 0...150, using: &dice)
            let highest = seen.max() ?? 0
            let expected =
                !seen.contains(number) && (seen.isEmpty || number > highest || highest - number < 64)
            #expect(window.allows(number) == expected)
            if expected {
                window.accept(number)
                seen.insert(number)
                seen = seen.filter { $0 + 400 > middle }
            }
        }
    }

    @Test func acceptingSomethingTooOldChangesNothing() {
        var window = ReplayWindow()
        window.accept(100)
        let before = window
        window.accept(1)
        #expect(window == before)
    }
}
