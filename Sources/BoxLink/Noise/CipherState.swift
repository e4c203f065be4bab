/// A key and a counter (Noise rev 34 §5.1), for handshakes and for plain Noise
/// transport messages.
///
/// A value: a copy counts for itself, which is how a handshake tries a message
/// without leaving a trace. Frames do not go through here but through
/// ``NoiseTransport``, which keeps its library context and puts the counter on
/// the wire.
public struct CipherState: Sendable {
    private let key: SecretBytes
    private(set) var nonce: UInt64 = 0

    /// - Throws: `.badLength` if the key is not 32 bytes.
    public init(key: SecretBytes) throws(NoiseError) {
        guard key.count == Primitives.keyLength else { throw .badLength }
        self.key = key
    }

    /// Encrypts and appends the tag; the counter moves on.
    public mutating func encrypt(_ plain: [UInt8], ad: [UInt8] = []) throws(NoiseError) -> [UInt8] {
        guard nonce < UInt64.max else { throw .nonceExhausted }
        let context = try AEADContext(key: key, .seal)
        let nonce = nonce
        var good = false
        let length = plain.count + Primitives.tagLength
        let sealed = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            good = ad.withUnsafeBytes { ad in
                plain.withUnsafeBytes { plain in
                    context.seal(
                        nonce: nonce, ad: ad, plain: plain,
                        into: UnsafeMutableRawBufferPointer(
                            rebasing: UnsafeMutableRawBufferPointer(buffer)[..<length]))
                }
            }
            count = good ? length : 0
        }
        guard good else { throw .primitiveFailed }
        self.nonce += 1
        return sealed
    }

    /// Decrypts; the counter moves on only if the tag verifies.
    public mutating func decrypt(_ sealed: some Collection<UInt8>, ad: [UInt8] = []) throws(NoiseError)
        -> [UInt8]
    {
        guard nonce < UInt64.max else { throw .nonceExhausted }
        guard sealed.count >= Primitives.tagLength else { throw .badLength }
        let context = try AEADContext(key: key, .open)
        let nonce = nonce
        let sealed = Array(sealed)
        var good = false
        let length = sealed.count - Primitives.tagLength
        let plain = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            good = ad.withUnsafeBytes { ad in
                sealed.withUnsafeBytes { sealed in
                    context.open(
                        nonce: nonce, ad: ad, sealed: sealed,
                        into: UnsafeMutableRawBufferPointer(
                            rebasing: UnsafeMutableRawBufferPointer(buffer)[..<length]))
                }
            }
            count = good ? length : 0
        }
        guard good else { throw .authenticationFailed }
        self.nonce += 1
        return plain
    }
}
