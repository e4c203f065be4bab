/// Why some bytes are no frame, or a payload cannot become one. A frame that
/// does not decode is dropped; it never ends a session (FTW wire §4).
public enum FrameError: Error, Equatable {
    /// Fewer than 6 bytes.
    case tooShort
    /// A version other than 1.
    case version(UInt8)
    /// A lane other than control and bulk.
    case lane(UInt8)
    /// The length in the header points past the end.
    case lengthPastEnd
    /// The lane has no bucket of that size.
    case bucket(Int)
    /// The payload does not fit the bucket. Nothing is ever fragmented.
    case payloadTooLarge(count: Int, limit: Int)
}

/// One padded message on a lane (FTW wire §4).
///
/// ```
/// offset  bytes
/// 0       1      version, 01
/// 1       1      lane: 00 control, 01 bulk
/// 2       1      flags: 02 TRUNC
/// 3       1      0
/// 4       2      payload length, big-endian
/// 6       len    payload, one CBOR envelope
/// 6+len          zeros up to the bucket
/// ```
///
/// Padding is what keeps somebody who sees the ciphertext from telling a quiet
/// house from a busy one.
public struct Frame: Equatable, Sendable {
    public enum Lane: UInt8, Sendable, CaseIterable { case control = 0, bulk = 1 }

    public static let version: UInt8 = 1
    public static let headerLength = 6
    /// Set on a delta that had to leave things out (FTW wire §6.5).
    public static let truncFlag: UInt8 = 2
    /// Sizes of a whole frame on the control lane, in bytes.
    public static let controlBuckets = [256, 512]
    /// Sizes of a whole frame on the bulk lane, in bytes.
    public static let bulkBuckets = [1024, 4096, 16_384]
    /// The largest payload there is, in bytes.
    public static let maxPayload = 16_384 - headerLength

    public var lane: Lane
    public var flags: UInt8
    /// The CBOR, without padding.
    public var payload: [UInt8]

    public init(lane: Lane, flags: UInt8 = 0, payload: [UInt8]) {
        self.lane = lane
        self.flags = flags
        self.payload = payload
    }

    /// Whether something was left out to make it fit.
    public var isTruncated: Bool { flags & Self.truncFlag != 0 }

    /// Reads a frame. What follows the payload is never looked at, and neither
    /// is the size as a whole, as the box does it.
    public init(decoding bytes: [UInt8]) throws(FrameError) {
        guard bytes.count >= Self.headerLength else { throw .tooShort }
        guard bytes[0] == Self.version else { throw .version(bytes[0]) }
        guard let lane = Lane(rawValue: bytes[1]) else { throw .lane(bytes[1]) }
        let end = Self.headerLength + (Int(bytes[4]) << 8 | Int(bytes[5]))
        guard end <= bytes.count else { throw .lengthPastEnd }
        self.init(lane: lane, flags: bytes[2], payload: Array(bytes[Self.headerLength..<end]))
    }

    /// The frame, padded with zeros to exactly `bucket` bytes.
    ///
    /// - Parameter bucket: One of the lane's sizes.
    public func encoded(bucket: Int) throws(FrameError) -> [UInt8] {
        let buckets = lane == .control ? Self.controlBuckets : Self.bulkBuckets
        guard buckets.contains(bucket) else { throw .bucket(bucket) }
        let limit = bucket - Self.headerLength
        guard payload.count <= limit else {
            throw .payloadTooLarge(count: payload.count, limit: limit)
        }
        var bytes = [UInt8]()
        bytes.reserveCapacity(bucket)
        bytes += [
            Self.version, lane.rawValue, flags, 0, UInt8(payload.count >> 8), UInt8(payload.count & 0xff),
        ]
        bytes += payload
        bytes.append(contentsOf: repeatElement(0, count: bucket - bytes.count))
        return bytes
    }

    /// The smallest bulk bucket for a payload of so many bytes; `nil` if none is
    /// large enough.
    public static func bulkBucket(forPayload count: Int) -> Int? {
        bulkBuckets.first { count <= $0 - headerLength }
    }
}
