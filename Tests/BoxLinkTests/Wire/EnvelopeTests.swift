import BoxLink
import JSONText
import Testing

@Suite struct EnvelopeTests {
    private func decode(_ value: CBORValue) throws(EnvelopeError) -> Envelope {
        try Envelope(decoding: value.encoded())
    }

    @Test func keysComeInTheOrderTypeNumberBody() {
        let envelope = Envelope(type: "x", id: 7, body: ["b": 1, "a": .float(2)])
        #expect(envelope.encoded().hexText == "a36174617862696407" + "6162a26162016161fb4000000000000000")
        #expect(
            envelope.encoded(.deterministic).hexText == "a36174617862696407" + "6162a26161f940006162" + "01")
        #expect(Envelope(type: "tick").encoded().hexText == "a16174647469636b")
        #expect(Envelope(type: "x", id: 0).encoded().hexText == "a2617461786269" + "6400")
    }

    @Test func anyOrderAndUnknownKeysAreRead() throws {
        let envelope = try decode(["b": [1], "zz": ["deep": 1], "id": 4_294_967_295, "t": "snap"])
        #expect(envelope == Envelope(type: "snap", id: .max, body: [1]))
        #expect(try decode(["t": "x", "b": nil]) == Envelope(type: "x"))
    }

    @Test(
        arguments: [.int(-1), .int(4_294_967_296), .unsigned(.max), "7", .float(7), .null, .bool(true)]
            as [CBORValue])
    func aNumberThatIsNoU32CountsAsAbsent(id: CBORValue) throws {
        #expect(try decode(["t": "x", "id": id]).id == nil)
    }

    @Test(arguments: [["id": 1], ["t": ""], ["t": 1], ["t": nil], [:]] as [CBORValue])
    func withoutATypeThereIsNoMessage(value: CBORValue) {
        #expect(throws: EnvelopeError.noType) { try decode(value) }
    }

    @Test func somethingElseThanAMapIsRefused() {
        #expect(throws: EnvelopeError.notAMap) { try decode([1]) }
        #expect(throws: EnvelopeError.cbor(.truncated)) { try Envelope(decoding: []) }
        #expect(throws: EnvelopeError.cbor(.duplicateKey)) {
            try Envelope(decoding: #require(Hex.bytes("a26174617861746178")))
        }
    }

    /// Trap 28: what the box read back is a half float even when it is whole.
    @Test func aHalfFloatInAResultIsRead() throws {
        let frames = try Vectors.json("spec-vectors.json").list("frames")
        let v = try #require(frames.first { $0["name"] == "box_cmd_result_applied" })
        let payload = try v.hex("payload")
        #expect(payload.hexText.contains("f94000"))
        let value = try Envelope(decoding: payload).body?["observed"]?["value"]
        #expect(value == .float(2))
        #expect(value?.doubleValue == 2)
    }
}
