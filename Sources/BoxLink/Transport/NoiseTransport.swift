/// Frames to ciphertext and back, for one session (FTW wire §3).
///
/// ```
/// offset  bytes
/// 0       8      sequence number, big-endian, in clear; also the associated data
/// 8       n      encrypted frame
/// 8 + n   16     tag
/// ```
///
/// Not `Sendable`: the session owns it. It takes the two keys over and wipes
/// them in ``close()``.
public final class NoiseTransport {
    private static let sequenceLength = 8
    /// What a message is longer than its frame, in bytes.
    public static let overhead = sequenceLength + Primitives.tagLength

    private var sealing: AEADContext?
    private var opening: AEADContext?
    private let keys: [SecretBytes]
    private var nextSequence: UInt64
    private var window = ReplayWindow()

    /// - Throws: `.badLength` if a key is not 32 bytes, `.primitiveFailed`.
    public convenience init(sendKey: SecretBytes, receiveKey: SecretBytes) throws(NoiseError) {
        try self.init(sendKey: sendKey, receiveKey: receiveKey, nextSequence: 0)
    }

    /// - Parameter nextSequence: Where to count from; other than 0 only to test the end of the numbers.
    init(sendKey: SecretBytes, receiveKey: SecretBytes, nextSequence: UInt64) throws(NoiseError) {
        sealing = try AEADContext(key: sendKey, .seal)
        opening = try AEADContext(key: receiveKey, .open)
        keys = [sendKey, receiveKey]
        self.nextSequence = nextSequence
    }

    /// Encrypts one frame under the next number.
    ///
    /// - Throws: `.outOfOrder` after ``close()``, `.nonceExhausted` when the last
    ///   number is reached, which Noise keeps for itself.
    public func seal(_ frame: [UInt8]) throws(NoiseError) -> [UInt8] {
        guard let sealing else { throw .outOfOrder }
        let sequence = nextSequence
        guard sequence < UInt64.max else { throw .nonceExhausted }
        var good = false
        let length = frame.count + Self.overhead
        let message = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            let whole = UnsafeMutableRawBufferPointer(
                rebasing: UnsafeMutableRawBufferPointer(buffer)[..<length])
            whole.storeBytes(of: sequence.bigEndian, as: UInt64.self)
            good = frame.withUnsafeBytes { plain in
                sealing.seal(
                    nonce: sequence, ad: UnsafeRawBufferPointer(rebasing: whole[..<Self.sequenceLength]),
                    plain: plain,
                    into: UnsafeMutableRawBufferPointer(rebasing: whole[Self.sequenceLength...]))
            }
            count = good ? length : 0
        }
        guard good else { throw .primitiveFailed }
        nextSequence += 1
        return message
    }

    /// Decrypts one message.
    ///
    /// - Returns: `nil` if it is too short, seen before, too old, forged, or
    ///   somebody else's, as most in a shared room are. That is no error.
    public func open(_ message: [UInt8]) -> (sequence: UInt64, frame: [UInt8])? {
        guard let opening, message.count >= Self.overhead else { return nil }
        return message.withUnsafeBytes { message -> (sequence: UInt64, frame: [UInt8])? in
            let sequence = UInt64(bigEndian: message.loadUnaligned(as: UInt64.self))
            guard sequence < UInt64.max, window.allows(sequence) else { return nil }
            var good = false
            let length = message.count - Self.overhead
            let frame = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
                good = opening.open(
                    nonce: sequence, ad: UnsafeRawBufferPointer(rebasing: message[..<Self.sequenceLength]),
                    sealed: UnsafeRawBufferPointer(rebasing: message[Self.sequenceLength...]),
                    into: UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(buffer)[..<length]))
                count = good ? length : 0
            }
            guard good else { return nil }
            window.accept(sequence)
            return (sequence, frame)
        }
    }

    /// Forgets the keys. From here on ``seal(_:)`` throws and ``open(_:)`` gives `nil`.
    public func close() {
        sealing = nil
        opening = nil
        for key in keys { key.wipe() }
    }
}
