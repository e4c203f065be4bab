import CCrypto

/// Why a handshake or a cipher could not go on.
public enum NoiseError: Error, Equatable {
    /// A key that is no X25519 key, or a peer's point that gives an all-zero secret.
    case badKey
    /// A message shorter than its fixed parts, or a key that is not 32 bytes.
    case badLength
    /// The tag does not verify: forged, garbled, or meant for somebody else.
    case authenticationFailed
    /// 2^64−1 messages were sent under one key (Noise rev 34 §5.1).
    case nonceExhausted
    /// A handshake message was asked for before its turn, or twice.
    case outOfOrder
    /// The crypto library refused, for want of memory or by its configuration.
    case primitiveFailed
}

/// SHA-256, HMAC and random numbers; with ``AEAD``, ``AEADContext`` and
/// ``X25519KeyPair`` all that we use of libcrypto. No other file imports it.
public enum Primitives {
    /// The length of every key, hash and public key here, in bytes.
    public static let keyLength = 32
    /// The length of a Poly1305 tag, in bytes.
    public static let tagLength = 16

    /// SHA-256 (FIPS 180-4), 32 bytes.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: keyLength)
        let done = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
        // A made-up hash would pass for a real one further on, so there is nothing to return.
        precondition(done == 1, "libcrypto has no SHA-256")
        return digest
    }

    /// HMAC-SHA256 (RFC 2104), 32 bytes.
    public static func hmacSHA256(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        // RFC 2104 §2: a key longer than a block is hashed first. Doing it here keeps the length in `Int32`.
        let key = key.count > 64 ? sha256(key) : key
        var digest = [UInt8](repeating: 0, count: keyLength)
        var length: UInt32 = 0
        let done = HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &digest, &length)
        precondition(done != nil, "libcrypto has no HMAC-SHA256")
        return digest
    }

    /// Bytes nobody can guess. Zero or fewer asked for gives none.
    public static func random(_ count: Int) -> [UInt8] {
        guard count > 0, let length = Int32(exactly: count) else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        if RAND_bytes(&bytes, length) != 1 {
            // Both sources end in getrandom(2); this one has no state that could be broken.
            var generator = SystemRandomNumberGenerator()
            for index in bytes.indices { bytes[index] = generator.next() }
        }
        return bytes
    }

    /// Whether two byte strings are the same, in a time that tells their length only.
    public static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
    }

    /// Overwrites in place, in a way the optimizer does not remove.
    static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    }

    /// The two-output HKDF of Noise rev 34 §4.3.
    static func hkdf(chainingKey: SecretBytes, _ input: [UInt8]) -> (SecretBytes, SecretBytes) {
        var temporary = chainingKey.withBytes { hmacSHA256(key: $0, input) }
        var first = hmacSHA256(key: temporary, [1])
        var second = hmacSHA256(key: temporary, first + [2])
        defer {
            wipe(&temporary)
            wipe(&first)
            wipe(&second)
        }
        return (SecretBytes(first), SecretBytes(second))
    }
}

/// An X25519 key pair (RFC 7748 §5).
///
/// The scalar is kept as it was given and clamped at use, so a key from a file
/// goes back into the file unchanged (FTW wire §2.1).
public final class X25519KeyPair: Sendable {
    private let secret: SecretBytes
    /// The 32 bytes to hand out.
    public let publicKey: [UInt8]

    /// A new pair.
    public convenience init() throws(NoiseError) {
        var key: OpaquePointer?
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_X25519, nil)
        defer {
            EVP_PKEY_CTX_free(context)
            EVP_PKEY_free(key)
        }
        var scalar = [UInt8](repeating: 0, count: Primitives.keyLength)
        var length = scalar.count
        guard context != nil, EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_keygen(context, &key) == 1,
            EVP_PKEY_get_raw_private_key(key, &scalar, &length) == 1
        else { throw .primitiveFailed }
        defer { Primitives.wipe(&scalar) }
        try self.init(secret: scalar)
    }

    /// The pair of a stored 32-byte scalar.
    ///
    /// - Throws: `.badLength` for another length, `.badKey` if it is none.
    public init(secret: [UInt8]) throws(NoiseError) {
        guard secret.count == Primitives.keyLength else { throw .badLength }
        guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nil, secret, secret.count) else {
            throw .badKey
        }
        defer { EVP_PKEY_free(key) }
        var point = [UInt8](repeating: 0, count: Primitives.keyLength)
        var length = point.count
        guard EVP_PKEY_get_raw_public_key(key, &point, &length) == 1 else { throw .badKey }
        self.secret = SecretBytes(secret)
        publicKey = point
    }

    /// The scalar, for the key file. The caller wipes or writes it, nothing else.
    public func exportSecret() -> [UInt8] { secret.exported() }

    /// The Diffie-Hellman secret shared with `peer`.
    ///
    /// - Throws: `.badLength`; `.badKey` for a point of small order, whose
    ///   secret is all zeros and so known to everybody (RFC 7748 §6.1).
    public func sharedSecret(with peer: [UInt8]) throws(NoiseError) -> SecretBytes {
        guard peer.count == Primitives.keyLength else { throw .badLength }
        let own = secret.withBytes { EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nil, $0, $0.count) }
        let other = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, peer, peer.count)
        let context = own.flatMap { EVP_PKEY_CTX_new($0, nil) }
        defer {
            EVP_PKEY_CTX_free(context)
            EVP_PKEY_free(own)
            EVP_PKEY_free(other)
        }
        guard own != nil, other != nil, context != nil else { throw .badKey }
        var shared = [UInt8](repeating: 0, count: Primitives.keyLength)
        defer { Primitives.wipe(&shared) }
        var length = shared.count
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, other) == 1,
            EVP_PKEY_derive(context, &shared, &length) == 1,
            !Primitives.equal(shared, [UInt8](repeating: 0, count: Primitives.keyLength))
        else { throw .badKey }
        return SecretBytes(shared)
    }
}

/// ChaCha20-Poly1305 (RFC 8439) with one libcrypto context for the life of a key.
///
/// The context is kept because making one costs as much as sealing a frame.
/// Nonces are Noise's: four zero bytes, then the counter little-endian
/// (Noise rev 34 §12.3). Not `Sendable`: one owner, one direction.
final class AEADContext {
    enum Direction: Int32 { case open = 0, seal = 1 }
    private let context: OpaquePointer
    private let direction: Direction

    init(key: SecretBytes, _ direction: Direction) throws(NoiseError) {
        guard key.count == Primitives.keyLength else { throw .badLength }
        guard let context = EVP_CIPHER_CTX_new() else { throw .primitiveFailed }
        let ready = key.withBytes {
            EVP_CipherInit_ex(context, EVP_chacha20_poly1305(), nil, $0, nil, direction.rawValue)
        }
        guard ready == 1 else {
            EVP_CIPHER_CTX_free(context)
            throw .primitiveFailed
        }
        self.context = context
        self.direction = direction
    }

    /// Freeing the context overwrites the key schedule in it.
    deinit { EVP_CIPHER_CTX_free(context) }

    /// Encrypts `plain` into `sealed`, which is 16 bytes longer.
    ///
    /// - Returns: Whether it worked; if not, `sealed` is worthless.
    func seal(
        nonce: UInt64, ad: UnsafeRawBufferPointer, plain: UnsafeRawBufferPointer,
        into sealed: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard direction == .seal, sealed.count == plain.count + Primitives.tagLength,
            let out = sealed.baseAddress?.assumingMemoryBound(to: UInt8.self), begin(nonce, ad: ad)
        else { return false }
        var written: Int32 = 0
        return update(plain, into: out)
            && EVP_EncryptFinal_ex(context, out + plain.count, &written) == 1
            && EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_AEAD_GET_TAG, Int32(Primitives.tagLength), out + plain.count) == 1
    }

    /// Decrypts `sealed` into `plain`, which is 16 bytes shorter.
    ///
    /// - Returns: Whether the tag verified. If not, `plain` was overwritten: the
    ///   library writes plaintext before it looks at the tag.
    func open(
        nonce: UInt64, ad: UnsafeRawBufferPointer, sealed: UnsafeRawBufferPointer,
        into plain: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard direction == .open, sealed.count == plain.count + Primitives.tagLength,
            let start = sealed.baseAddress?.assumingMemoryBound(to: UInt8.self), begin(nonce, ad: ad)
        else { return false }
        let tag = UnsafeMutableRawPointer(mutating: start + plain.count)  // only read, the API is not const
        var nothing: UInt8 = 0
        var written: Int32 = 0
        let out = plain.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let body = UnsafeRawBufferPointer(rebasing: sealed[..<plain.count])
        let good =
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Primitives.tagLength), tag) == 1
            && (out.map { update(body, into: $0) } ?? true)
            && EVP_DecryptFinal_ex(context, &nothing, &written) == 1
        if !good, let out { OPENSSL_cleanse(out, plain.count) }
        return good
    }

    private func begin(_ nonce: UInt64, ad: UnsafeRawBufferPointer) -> Bool {
        var iv: (UInt32, UInt32, UInt32) = (
            0, UInt32(truncatingIfNeeded: nonce).littleEndian,
            UInt32(truncatingIfNeeded: nonce >> 32).littleEndian
        )
        let ready = withUnsafeBytes(of: &iv) {
            EVP_CipherInit_ex(
                context, nil, nil, nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self),
                direction.rawValue)
        }
        // With no output buffer the library takes the input as associated data.
        return ready == 1 && update(ad, into: nil)
    }

    private func update(_ input: UnsafeRawBufferPointer, into out: UnsafeMutablePointer<UInt8>?) -> Bool {
        guard let start = input.baseAddress, !input.isEmpty else { return true }
        guard let count = Int32(exactly: input.count) else { return false }
        var written: Int32 = 0
        return EVP_CipherUpdate(context, out, &written, start.assumingMemoryBound(to: UInt8.self), count) == 1
            && written == count
    }
}
