/// The chaining key and the running hash of a handshake (Noise rev 34 §5.2).
///
/// A value, so that reading a message can be tried on a copy (FTW wire §2.3).
struct SymmetricState: Sendable {
    /// Exactly as long as a hash, so it *is* the first hash (Noise rev 34 §5.2).
    static let protocolName = Array("Noise_IK_25519_ChaChaPoly_SHA256".utf8)

    private var chainingKey: SecretBytes
    private var cipher: CipherState?
    /// What both sides have seen so far; after the last message, the handshake hash.
    private(set) var hash: [UInt8]

    init() {
        hash = Self.protocolName
        chainingKey = SecretBytes(Self.protocolName)
    }

    mutating func mixHash(_ bytes: some Collection<UInt8>) {
        hash = Primitives.sha256(hash + bytes)
    }

    mutating func mixKey(_ secret: SecretBytes) throws(NoiseError) {
        let (next, key) = secret.withBytes { Primitives.hkdf(chainingKey: chainingKey, $0) }
        chainingKey = next
        cipher = try CipherState(key: key)
    }

    mutating func encryptAndHash(_ plain: [UInt8]) throws(NoiseError) -> [UInt8] {
        // IK never encrypts before its first key, so no plaintext can slip out here.
        guard let sealed = try cipher?.encrypt(plain, ad: hash) else { throw .outOfOrder }
        mixHash(sealed)
        return sealed
    }

    mutating func decryptAndHash(_ sealed: ArraySlice<UInt8>) throws(NoiseError) -> [UInt8] {
        guard let plain = try cipher?.decrypt(sealed, ad: hash) else { throw .outOfOrder }
        mixHash(sealed)
        return plain
    }

    /// The two transport keys: first the initiator's to send with, then the responder's.
    func split() -> (SecretBytes, SecretBytes) {
        Primitives.hkdf(chainingKey: chainingKey, [])
    }
}
