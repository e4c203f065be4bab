import Testing

@testable import BoxLink

@Suite struct PrimitivesTests {
    private func bytes(_ hex: String) throws -> [UInt8] { try #require(Hex.bytes(hex)) }

    /// RFC 7748 §5.2, both single vectors.
    @Test(arguments: [
        (
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
        ),
        (
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"
        ),
    ])
    func x25519MultipliesAsInRFC7748(scalar: String, point: String, product: String) throws {
        let shared = try X25519KeyPair(secret: bytes(scalar)).sharedSecret(with: bytes(point))
        let expected = try bytes(product)
        shared.withBytes { #expect($0 == expected) }
    }

    /// RFC 7748 §6.1.
    @Test func aliceAndBobAgreeAsInRFC7748() throws {
        let alice = try X25519KeyPair(
            secret: bytes("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"))
        let bob = try X25519KeyPair(
            secret: bytes("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"))
        #expect(
            alice.publicKey.hexText == "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
        #expect(bob.publicKey.hexText == "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
        let expected = try bytes("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
        for shared in [
            try alice.sharedSecret(with: bob.publicKey), try bob.sharedSecret(with: alice.publicKey),
        ] {
            shared.withBytes { #expect($0 == expected) }
        }
    }

    /// RFC 7748 §5.2, the iterated vector after 1 and after 1 000 rounds.
    @Test func x25519IteratesAsInRFC7748() throws {
        var k = [9] + [UInt8](repeating: 0, count: 31)
        var u = k
        for round in 1...1_000 {
            let product = try X25519KeyPair(secret: k).sharedSecret(with: u).withBytes { Array($0[...]) }
            u = k
            k = product
            if round == 1 {
                #expect(k.hexText == "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079")
            }
        }
        #expect(k.hexText == "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51")
    }

    @Test(arguments: [
        // 0, 1, and the two points of order eight (RFC 7748 §7, the curve's small subgroup).
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    ])
    func aPeerWithAnAllZeroSecretIsRefused(point: String) throws {
        let pair = try X25519KeyPair()
        let peer = try bytes(point)
        #expect(throws: NoiseError.badKey) { try pair.sharedSecret(with: peer) }
    }

    @Test(arguments: [0, 31, 33])
    func aKeyOfAnotherLengthIsRefused(count: Int) throws {
        let key = [UInt8](repeating: 1, count: count)
        let pair = try X25519KeyPair()
        #expect(throws: NoiseError.badLength) { try X25519KeyPair(secret: key) }
        #expect(throws: NoiseError.badLength) { try pair.sharedSecret(with: key) }
        #expect(throws: NoiseError.badLength) { try CipherState(key: SecretBytes(key)) }
        #expect(throws: NoiseError.badLength) {
            try NoiseTransport(sendKey: SecretBytes(key), receiveKey: SecretBytes(key))
        }
        #expect(throws: NoiseError.badLength) {
            try InitiatorHandshake(prologue: [], staticKey: pair, remoteStatic: key)
        }
    }

    @Test func aScalarComesBackAsItWasStored() throws {
        let scalar = [UInt8](repeating: 0xff, count: 32)  // unclamped
        #expect(try X25519KeyPair(secret: scalar).exportSecret() == scalar)
        let new = try X25519KeyPair()
        #expect(try X25519KeyPair(secret: new.exportSecret()).publicKey == new.publicKey)
        #expect(try X25519KeyPair().publicKey != new.publicKey)
    }

    /// FIPS 180-4 and RFC 4231 §4.2, §4.3, §4.7.
    @Test func hashesMatchTheirPublishedValues() throws {
        #expect(
            Primitives.sha256([]).hexText
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            Primitives.sha256(Array("abc".utf8)).hexText
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            Primitives.hmacSHA256(key: [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8)).hexText
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        #expect(
            Primitives.hmacSHA256(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8)).hexText
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            Primitives.hmacSHA256(
                key: [UInt8](repeating: 0xaa, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
            ).hexText == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test func randomBytesHaveTheLengthAskedFor() {
        #expect(Primitives.random(32).count == 32)
        #expect(Primitives.random(32) != Primitives.random(32))
        #expect(Primitives.random(0).isEmpty)
        #expect(Primitives.random(-1).isEmpty)
    }

    @Test func comparingTakesContentAndLength() {
        #expect(Primitives.equal([1, 2], [1, 2]))
        #expect(!Primitives.equal([1, 2], [1, 3]))
        #expect(!Primitives.equal([1, 2], [1, 2, 0]))
        #expect(Primitives.equal([], []))
    }

    @Test func aWipedSecretIsEmptyAndAnArrayLentEarlierIsNotShared() {
        let secret = SecretBytes([1, 2, 3])
        #expect(secret.withBytes { $0 } == [1, 2, 3])
        #expect(secret.count == 3)
        #expect("\(secret)".contains("SecretBytes") && !"\(secret)".contains("1"))
        secret.wipe()
        #expect(secret.withBytes { $0 }.isEmpty)
        #expect(secret.count == 0)
        secret.wipe()
    }

    /// RFC 8439 §2.8.2 is for another nonce layout; the vectors cover the output,
    /// this covers what a failed open leaves behind.
    @Test func aFailedOpenLeavesNoPlaintext() throws {
        let key = SecretBytes([UInt8](repeating: 7, count: 32))
        let plain = [UInt8](repeating: 0x55, count: 100)
        var sealed = [UInt8](repeating: 0, count: 116)
        let sealing = try AEADContext(key: key, .seal)
        let opening = try AEADContext(key: key, .open)
        let empty = UnsafeRawBufferPointer(start: nil, count: 0)
        let done = sealed.withUnsafeMutableBytes { out in
            plain.withUnsafeBytes { sealing.seal(nonce: 1, ad: empty, plain: $0, into: out) }
        }
        #expect(done)
        func open(into out: inout [UInt8]) -> Bool {
            out.withUnsafeMutableBytes { out in
                sealed.withUnsafeBytes { opening.open(nonce: 1, ad: empty, sealed: $0, into: out) }
            }
        }
        var out = [UInt8](repeating: 0xee, count: 100)
        sealed[115] ^= 1
        #expect(!open(into: &out))
        #expect(out == [UInt8](repeating: 0, count: 100))
        sealed[115] ^= 1
        #expect(open(into: &out))
        #expect(out == plain)
        // Buffers that do not fit each other are refused, not written past.
        var short = [UInt8](repeating: 0xee, count: 99)
        #expect(!open(into: &short))
        #expect(short.allSatisfy { $0 == 0xee })
    }
}
