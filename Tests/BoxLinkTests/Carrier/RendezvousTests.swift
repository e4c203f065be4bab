import BoxLink
import FoundationEssentials
import JSONText
import Testing

@Suite struct RendezvousTests {
    @Test(arguments: ["identity-vectors.json", "spec-vectors.json"])
    func theHandlesOfTheVectorsAreComputed(file: String) throws {
        let v = try Vectors.json(file).member("rendezvous")
        let secret = SecretBytes(try v.hex("secret"))
        let handles = try v.list("handles")
        #expect(handles.count >= 3)
        for entry in handles {
            #expect(
                try Rendezvous.handle(secret: secret, epoch: entry.int("epoch")) == entry.string("handle"))
        }
    }

    @Test func aShortSecretIsRefused() throws {
        for count in [0, 15] {
            #expect(throws: RendezvousError.shortSecret) {
                try Rendezvous.handle(secret: SecretBytes([UInt8](repeating: 1, count: count)), epoch: 0)
            }
        }
        let secret = SecretBytes([UInt8](repeating: 1, count: 16))
        #expect(try Rendezvous.handle(secret: secret, epoch: -1).count == 32)
        #expect(
            try Rendezvous.handle(secret: secret, epoch: .min) != Rendezvous.handle(secret: secret, epoch: 0))
    }

    @Test(
        arguments: [
            (0.0, 0), (3_599.999, 0), (3_600, 1), (-0.001, -1), (-3_600, -1), (-3_600.001, -2),
            (1_777_777_199.999, 493_826), (1_777_777_200, 493_827),
        ] as [(Double, Int64)])
    func theEpochIsTheHourRoundedDown(seconds: Double, epoch: Int64) {
        #expect(Rendezvous.epoch(at: Date(timeIntervalSince1970: seconds)) == epoch)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300])
    func aDateThatIsNoneDoesNotTrap(seconds: Double) {
        #expect(Rendezvous.epoch(at: Date(timeIntervalSince1970: seconds)) == 0)
    }

    @Test func thePathNamesEpochHandleAndEnd() {
        #expect(Rendezvous.path(epoch: 42, handle: "abcd") == "/r/42/abcd/app")
        #expect(Rendezvous.path(epoch: -1, handle: "abcd", end: .box) == "/r/-1/abcd/box")
    }

    /// Trap 37 and the rule that keeps a relay from collecting later handles.
    @Test(
        arguments: [
            ("100", 0), ("101", 1), ("99", -1), (" 101\n", 1), ("102", nil), ("98", nil), ("-100", nil),
            ("", nil), ("+101", nil), ("1e2", nil), ("100.0", nil), ("busy", nil), ("0x64", nil),
            ("9223372036854775807", nil), ("-9223372036854775808", nil), ("99999999999999999999", nil),
        ] as [(String, Int64?)])
    func onlyTheHoursBesideOursAreAdopted(reason: String, offset: Int64?) {
        let now = Date(timeIntervalSince1970: 100 * 3_600 + 1_800)
        #expect(Rendezvous.epochOffset(announced: reason, at: now) == offset)
    }

    @Test func anOffsetIsTakenBeforeTheYear1970Too() {
        let now = Date(timeIntervalSince1970: -1)
        #expect(Rendezvous.epochOffset(announced: "-2", at: now) == -1)
        #expect(Rendezvous.epochOffset(announced: "-1", at: now) == 0)
    }

    @Test(
        arguments: [
            ("0000ffff", 0), ("ffff0000", 299_995), ("8000", 150_000), ("0001", 4), ("", nil), ("123", nil),
            ("+123", nil), ("-123", nil), ("zzzz", nil),
        ] as [(String, Int64?)])
    func roomsCloseSpreadOverFiveMinutes(handle: String, delay: Int64?) {
        #expect(Rendezvous.closingDelayMs(handle: handle) == delay)
    }
}
