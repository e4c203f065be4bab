import BoxLink
import TestSupport
import Testing

@Suite struct FrameTests {
    @Test(arguments: [
        (Frame.Lane.control, 256), (.control, 512), (.bulk, 1024), (.bulk, 4096), (.bulk, 16_384),
    ])
    func aFrameFillsItsBucketExactly(lane: Frame.Lane, bucket: Int) throws {
        for count in [0, 1, bucket - 7, bucket - 6] {
            let frame = Frame(lane: lane, flags: 2, payload: [UInt8](repeating: 0xab, count: count))
            let bytes = try frame.encoded(bucket: bucket)
            #expect(bytes.count == bucket)
            #expect(bytes[(6 + count)...].allSatisfy { $0 == 0 })
            #expect(try Frame(decoding: bytes) == frame)
        }
        let tooLarge = Frame(lane: lane, payload: [UInt8](repeating: 0, count: bucket - 5))
        #expect(throws: FrameError.payloadTooLarge(count: bucket - 5, limit: bucket - 6)) {
            try tooLarge.encoded(bucket: bucket)
        }
    }

    @Test func aLaneKeepsItsOwnBuckets() {
        for bucket in [0, -1, 255, 300, 1024] {
            #expect(throws: FrameError.bucket(bucket)) {
                try Frame(lane: .control, payload: []).encoded(bucket: bucket)
            }
        }
        #expect(throws: FrameError.bucket(512)) { try Frame(lane: .bulk, payload: []).encoded(bucket: 512) }
    }

    @Test func theSmallestBulkBucketThatFitsIsTaken() {
        #expect(Frame.bulkBucket(forPayload: 0) == 1024)
        #expect(Frame.bulkBucket(forPayload: 1018) == 1024)
        #expect(Frame.bulkBucket(forPayload: 1019) == 4096)
        #expect(Frame.bulkBucket(forPayload: 4091) == 16_384)
        #expect(Frame.bulkBucket(forPayload: Frame.maxPayload) == 16_384)
        #expect(Frame.bulkBucket(forPayload: Frame.maxPayload + 1) == nil)
    }

    @Test func whatFollowsThePayloadIsNotLookedAt() throws {
        let frame = try Frame(decoding: [1, 0, 0, 9, 0, 2, 0xa1, 0xa2, 0xff, 0xff])
        #expect(frame == Frame(lane: .control, payload: [0xa1, 0xa2]))
    }

    @Test func truncIsAFlagAmongOthers() {
        #expect(Frame(lane: .control, flags: 2, payload: []).isTruncated)
        #expect(Frame(lane: .control, flags: 0xff, payload: []).isTruncated)
        #expect(!Frame(lane: .control, flags: 0xfd, payload: []).isTruncated)
    }

    @Test(arguments: [
        ([], FrameError.tooShort), ([1, 0, 0, 0, 0], .tooShort), ([0, 0, 0, 0, 0, 0], .version(0)),
        ([2, 0, 0, 0, 0, 0], .version(2)), ([1, 2, 0, 0, 0, 0], .lane(2)),
        ([1, 0, 0, 0, 0, 1], .lengthPastEnd), ([1, 1, 0, 0, 0xff, 0xff, 1, 2, 3], .lengthPastEnd),
    ])
    func brokenFramesSayWhatIsWrong(bytes: [UInt8], error: FrameError) {
        #expect(throws: error) { try Frame(decoding: bytes) }
    }

    @Test func aPrefixIsRefusedUntilThePayloadIsWhole() throws {
        let bytes = try Frame(lane: .control, payload: [1, 2, 3]).encoded(bucket: 256)
        for count in 0..<9 {
            #expect(throws: FrameError.self) { try Frame(decoding: Array(bytes.prefix(count))) }
        }
        for count in 9...256 { _ = try Frame(decoding: Array(bytes.prefix(count))) }
    }

    @Test func aHundredThousandDamagedFramesStayInBounds() throws {
        let bytes = Array(
            try Frame(lane: .control, payload: Array("payload".utf8)).encoded(bucket: 256).prefix(40))
        var dice = SeededDice(5)
        for _ in 0..<100_000 {
            let damaged = bytes.damaged(&dice)
            if let frame = try? Frame(decoding: damaged), frame.payload.count > damaged.count - 6 {
                Issue.record("longer than its frame: \(damaged)")
            }
        }
    }
}
