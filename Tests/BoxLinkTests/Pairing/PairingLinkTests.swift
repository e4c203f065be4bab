import BoxLink
import JSONText
import TestSupport
import Testing
import TextForms

@Suite struct PairingLinkTests {
    static let boxKey = "l_dPuPIqti5g-dclg1qSiuERd18csBM3VgMSDBWcuAc"
    static let code = "ASNFZ4mrze8BI0VniavN7w"
    static let hint = "MTkyLjE2OC4xLjIwOjgwODA"
    static let secret = "ERERERERERERERERERERERERERERERERERERERERERE"
    static let fragment = "v2.\(boxKey).\(code).\(hint).\(secret)"
    static let url = "https://app.ftw.energy/p#" + fragment

    private func error(_ text: String) -> PairingLinkError? {
        do throws(PairingLinkError) {
            _ = try PairingLink(parsing: text)
            return nil
        } catch {
            return error
        }
    }

    @Test func theLinkOfTheVectorsIsReadAndRebuilt() throws {
        let v = try Vectors.json("identity-vectors.json").member("enrollment")
        let link = try PairingLink(parsing: v.string("url"))
        #expect(try link.boxKey == v.hex("boxStaticPublic"))
        #expect(try link.hint == v.string("lanHint"))
        #expect(try link.code.withBytes { $0.hexText } == v.string("pairingCode"))
        #expect(try link.rendezvousSecret.withBytes { $0.hexText } == v.string("rendezvousSecret"))
        #expect(try link.url == v.string("url"))
        let rebuilt = try PairingLink(
            boxKey: v.hex("boxStaticPublic"), code: SecretBytes(v.hex("pairingCode")),
            hint: v.string("lanHint"), rendezvousSecret: SecretBytes(v.hex("rendezvousSecret")))
        #expect(try rebuilt.url == v.string("url"))
        #expect(try BoxNames.siteID(boxKey: link.boxKey) == v.string("siteId"))
        #expect(try BoxNames.fingerprint(boxKey: link.boxKey) == v.string("fingerprint"))
        let clientKey = try Vectors.json("identity-vectors.json").member("vaultCopy").hex("publicKey")
        #expect(try BoxNames.deviceID(clientKey: clientKey) == v.string("deviceIdOnBox"))
    }

    @Test(arguments: [
        url, fragment, "#" + fragment, " \n\t" + url + "\r\n ", "HTTPS://APP.FTW.ENERGY/p#" + fragment,
        "  #" + fragment + "  ",
    ])
    func theLinkOrItsFragmentIsTaken(text: String) {
        #expect(error(text) == nil)
    }

    @Test func anEmptyHintIsTaken() throws {
        let link = try PairingLink(parsing: "v2.\(Self.boxKey).\(Self.code)..\(Self.secret)")
        #expect(link.hint.isEmpty)
        #expect(link.url.contains(".."))
    }

    typealias Fault = (text: String, error: PairingLinkError)

    /// The version is looked at before the shape.
    static let versions: [Fault] = [
        ("", .empty), (" \n", .empty), (String(repeating: "v", count: 1025), .tooLong),
        ("v1.a.b.c", .olderBox), ("https://app.ftw.energy/p#v1.\(boxKey).\(code).\(hint)", .olderBox),
        ("v3", .newerBox(version: 3)), ("v3.x.y", .newerBox(version: 3)),
        ("v10.\(boxKey).\(code).\(hint).\(secret)", .newerBox(version: 10)),
        ("V2.\(boxKey).\(code).\(hint).\(secret)", .noVersion), ("v02.a.b.c.d", .noVersion),
        ("v0.a", .noVersion), ("v.a", .noVersion), ("hello", .noVersion), ("#", .noVersion),
        ("v99999999999999999999.a", .noVersion), ("v-3.a", .noVersion), ("v+3.a", .noVersion),
    ]

    static let addresses: [Fault] = [
        ("http://app.ftw.energy/p#\(fragment)", .scheme), ("app.ftw.energy/p#\(fragment)", .scheme),
        ("ftw:p#\(fragment)", .scheme), ("://app.ftw.energy/p#\(fragment)", .scheme),
        ("https://app.ftw.energy.example.com/p#\(fragment)", .host),
        ("https://example.com/p#\(fragment)", .host), ("https:///p#\(fragment)", .host),
        ("https://app.ftw.energy@example.com/p#\(fragment)", .host),
        ("https://someone@app.ftw.energy/p#\(fragment)", .host),
        ("https://app.ftw.energy:443/p#\(fragment)", .port),
        ("https://app.ftw.energy:/p#\(fragment)", .port),
        ("https://app.ftw.energy#\(fragment)", .path), ("https://app.ftw.energy/#\(fragment)", .path),
        ("https://app.ftw.energy/p/#\(fragment)", .path), ("https://app.ftw.energy/P#\(fragment)", .path),
        ("https://app.ftw.energy/p?a=b#\(fragment)", .path),
        ("https://app.ftw.energy?/p#\(fragment)", .path),
        ("https://app.ftw.energy/p", .noFragment), ("https://app.ftw.energy/p#", .noVersion),
    ]

    static let segments: [Fault] = [
        ("v2", .segmentCount(1)), ("v2.\(boxKey).\(code).\(secret)", .segmentCount(4)),
        ("\(fragment).", .segmentCount(6)), ("\(fragment).extra", .segmentCount(6)),
        ("v2..\(code).\(hint).\(secret)", .emptySegment(.boxKey)),
        ("v2.\(boxKey)..\(hint).\(secret)", .emptySegment(.code)),
        ("v2.\(boxKey).\(code).\(hint).", .emptySegment(.rendezvousSecret)),
        // Padding, the other alphabet, percent escapes, a second #.
        ("v2.\(boxKey)=.\(code).\(hint).\(secret)", .notBase64URL(.boxKey)),
        ("v2.l/dPuPIq.\(code).\(hint).\(secret)", .scheme),
        ("#v2.l/dPuPIq.\(code).\(hint).\(secret)", .notBase64URL(.boxKey)),
        ("v2.\(boxKey).%41SNFZ4mrze8BI0VniavN7w.\(hint).\(secret)", .notBase64URL(.code)),
        ("#v2.\(boxKey).\(code).\(hint)#.\(secret)", .notBase64URL(.hint)),
        // Unused bits that are not zero, and a length no encoder makes.
        ("v2.\(boxKey.dropLast())d.\(code).\(hint).\(secret)", .notBase64URL(.boxKey)),
        ("v2.\(boxKey).\(code.dropLast())x.\(hint).\(secret)", .notBase64URL(.code)),
        ("v2.\(boxKey).A.\(hint).\(secret)", .notBase64URL(.code)),
    ]

    static let contents: [Fault] = [
        ("v2.\(code).\(code).\(hint).\(secret)", .length(.boxKey, bytes: 16, expected: 32)),
        ("v2.\(boxKey).\(secret).\(hint).\(secret)", .length(.code, bytes: 32, expected: 16)),
        ("v2.\(boxKey).\(code).\(hint).\(code)", .length(.rendezvousSecret, bytes: 16, expected: 32)),
        // A space, a control character and a byte above ASCII in the hint.
        ("v2.\(boxKey).\(code).YSBi.\(secret)", .hintCharacter),
        ("v2.\(boxKey).\(code).AA.\(secret)", .hintCharacter),
        ("v2.\(boxKey).\(code).w6Q.\(secret)", .hintCharacter),
        ("v2.\(boxKey).\(code).\(tooLongHint).\(secret)", .hintTooLong(bytes: 65)),
    ]
    static let tooLongHint = Base64URL.encode([UInt8](repeating: 0x61, count: 65))

    @Test(arguments: versions + addresses + segments + contents)
    func eachFaultHasItsOwnName(text: String, expected: PairingLinkError) {
        let found = error(text)
        #expect(found == expected)
        let sentence = found?.description ?? ""
        #expect(sentence.count > 20)
        for secret in [Self.code, Self.secret, Self.boxKey, Self.hint] {
            #expect(!sentence.contains(secret), "the sentence repeats what it was given")
        }
    }

    @Test func theLongestHintIsTaken() {
        let hint = Base64URL.encode([UInt8](repeating: 0x7e, count: 64))
        #expect(error("v2.\(Self.boxKey).\(Self.code).\(hint).\(Self.secret)") == nil)
    }

    @Test func aLinkIsNotBuiltFromWrongParts() throws {
        let key = [UInt8](repeating: 1, count: 32)
        let code = SecretBytes([UInt8](repeating: 2, count: 16))
        let secret = SecretBytes(key)
        #expect(throws: PairingLinkError.length(.boxKey, bytes: 1, expected: 32)) {
            try PairingLink(boxKey: [1], code: code, rendezvousSecret: secret)
        }
        #expect(throws: PairingLinkError.length(.code, bytes: 32, expected: 16)) {
            try PairingLink(boxKey: key, code: secret, rendezvousSecret: secret)
        }
        #expect(throws: PairingLinkError.length(.rendezvousSecret, bytes: 16, expected: 32)) {
            try PairingLink(boxKey: key, code: code, rendezvousSecret: code)
        }
        #expect(throws: PairingLinkError.hintCharacter) {
            try PairingLink(boxKey: key, code: code, hint: "a b", rendezvousSecret: secret)
        }
    }

    @Test func everyPrefixIsRefused() {
        for count in 0..<Self.url.count { #expect(error(String(Self.url.prefix(count))) != nil) }
        for count in 0..<Self.fragment.count { #expect(error(String(Self.fragment.prefix(count))) != nil) }
    }

    @Test func aHundredThousandDamagedLinksAreReadOrRefused() {
        let good = Array(Self.url.utf8)
        var dice = SeededDice(7)
        for _ in 0..<100_000 {
            let text = String(decoding: good.damaged(&dice), as: UTF8.self)
            guard let link = try? PairingLink(parsing: text) else { continue }
            if link.boxKey.count != 32 || link.code.count != 16 || link.rendezvousSecret.count != 32 {
                Issue.record("accepted with wrong lengths")
            }
        }
    }

    @Test func printingALinkShowsNeitherCodeNorSecret() throws {
        let link = try PairingLink(parsing: Self.url)
        var dumped = ""
        dump(link, to: &dumped)
        for shown in ["\(link)", String(reflecting: link), dumped] {
            #expect(!shown.contains(Self.code) && !shown.contains(Self.secret))
            #expect(!shown.contains("0x11, 17") && !shown.contains("17, 17"))
        }
    }

    @Test func base64URLHasOneTextForOneValue() {
        var dice = SeededDice(8)
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &dice) }
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
        #expect(Base64URL.encode([0xfb, 0xff]) == "-_8")
        for text in ["-_9", "-_8=", "+/8", "-", "a b", "ä"] { #expect(Base64URL.decode(text) == nil) }
    }
}
