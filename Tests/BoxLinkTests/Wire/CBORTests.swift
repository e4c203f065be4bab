import BoxLink
import JSONText
import TestSupport
import Testing

@Suite struct CBORTests {
    private func decode(_ hex: String) throws -> CBORValue {
        try CBORValue(decoding: try #require(Hex.bytes(hex)))
    }

    /// RFC 8949 appendix A, what the profile can carry; encoded again the same.
    @Test(
        arguments: [
            ("00", .int(0)), ("17", .int(23)), ("1818", .int(24)), ("1903e8", .int(1000)),
            ("1a000f4240", .int(1_000_000)), ("1b000000e8d4a51000", .int(1_000_000_000_000)),
            ("1b7fffffffffffffff", .int(.max)), ("1b8000000000000000", .unsigned(1 << 63)),
            ("1bffffffffffffffff", .unsigned(.max)), ("20", .int(-1)), ("29", .int(-10)),
            ("3863", .int(-100)),
            ("3903e7", .int(-1000)), ("3b7fffffffffffffff", .int(.min)),
            ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null),
            ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])), ("60", ""), ("6449455446", "IETF"),
            ("62225c", "\"\\"), ("62c3bc", "ü"), ("63e6b0b4", "水"), ("64f0908591", "𐅑"),
            ("80", []), ("83010203", [1, 2, 3]), ("8301820203820405", [1, [2, 3], [4, 5]]),
            ("a0", [:]), ("a26161016162820203", ["a": 1, "b": [2, 3]]),
            ("826161a161626163", ["a", ["b": "c"]]),
            ("f90000", .float(0)), ("f98000", .float(-0.0)), ("f93c00", .float(1)), ("f93e00", .float(1.5)),
            ("f97bff", .float(65_504)), ("f90001", .float(5.960_464_477_539_063e-8)),
            ("f90400", .float(6.103_515_625e-5)), ("f9c400", .float(-4)), ("f97c00", .float(.infinity)),
            ("f9fc00", .float(-.infinity)), ("f94000", .float(2)), ("fa47c35000", .float(100_000)),
            ("fa7f7fffff", .float(3.402_823_466_385_288_6e38)), ("fb3ff199999999999a", .float(1.1)),
            ("fb7e37e43c8800759c", .float(1.0e300)), ("fbc010666666666666", .float(-4.1)),
            ("fb3fc999999999999a", .float(0.2)),
        ] as [(String, CBORValue)])
    func theExamplesOfTheStandardGoBothWays(hex: String, value: CBORValue) throws {
        #expect(try decode(hex) == value)
        #expect(value.encoded(.deterministic).hexText == hex)
        #expect(try CBORValue(decoding: value.encoded(.client)) == value)
    }

    /// Forms a box never sends and we read all the same (FTW wire §5.3).
    @Test(
        arguments: [
            ("1817", .int(23)), ("1b0000000000000001", .int(1)), ("3800", .int(-1)),
            ("fa3fc00000", .float(1.5)), ("fb3ff8000000000000", .float(1.5)), ("f7", .null),
            ("5f42010243030405ff", .bytes([1, 2, 3, 4, 5])), ("5fff", .bytes([])),
            ("7f657374726561646d696e67ff", "streaming"), ("7fff", ""),
            ("9fff", []), ("9f018202039f0405ffff", [1, [2, 3], [4, 5]]),
            ("bfff", [:]), ("bf61610161629f0203ffff", ["a": 1, "b": [2, 3]]),
            ("bf7f61617f", nil), ("a17f6161ff01", ["a": 1]),
            // A tag is read past: a date, and one inside a map.
            ("c11a514b67b0", .int(1_363_896_240)), ("a16161c001", ["a": 1]),
        ] as [(String, CBORValue?)])
    func otherFormsAreReadToo(hex: String, value: CBORValue?) throws {
        guard let value else {
            #expect(throws: CBORError.self) { try decode(hex) }
            return
        }
        #expect(try decode(hex) == value)
    }

    @Test(
        arguments: [
            ("", .truncated), ("18", .truncated), ("62c3", .truncated), ("8201", .truncated),
            ("a16161", .truncated), ("5f4101", .truncated), ("7f6161", .truncated), ("9f01", .truncated),
            ("bf6161", .truncated), ("c1", .truncated), ("fb3ff1", .truncated),
            ("0000", .trailingBytes), ("a0f6", .trailingBytes), ("ff", .malformed), ("81ff", .malformed),
            ("a16161ff", .malformed), ("bf6161ff", .malformed), ("a1ff00", .malformed), ("1c", .malformed),
            ("fc", .malformed), ("f800", .malformed), ("f0", .malformed), ("c1ff", .malformed),
            ("62c328", .malformed), ("61ff", .malformed), ("63eda080", .malformed), ("a161ff01", .malformed),
            ("5f6161ff", .malformed), ("7f4161ff", .malformed), ("5f01ff", .malformed),
            ("7f61c361a9ff", .malformed),
            ("5f5f4101ffff", .malformed), ("7f7f6161ffff", .malformed),
            ("a10101", .nonTextKey), ("a1416101", .nonTextKey), ("a1f601", .nonTextKey),
            ("bf0101ff", .nonTextKey),
            ("a1c0616101", .nonTextKey), ("a18001", .nonTextKey),
            ("a2616101616102", .duplicateKey), ("bf616101616102ff", .duplicateKey),
            ("81a2606160", .truncated),
            ("3b8000000000000000", .tooLarge), ("3bffffffffffffffff", .tooLarge),
        ] as [(String, CBORError)])
    func whatIsNotOneItemIsRefused(hex: String, error: CBORError) {
        #expect(throws: error) { try decode(hex) }
    }

    /// A head may claim anything; nothing is set aside on its word.
    @Test(arguments: ["9b", "bb", "5b", "7b"])
    func aHeadThatClaimsMuchIsOnlyTruncated(head: String) {
        for claim in ["1000000000000000", "7fffffffffffffff", "8000000000000000", "ffffffffffffffff"] {
            #expect(throws: CBORError.truncated) { try decode(head + claim) }
            #expect(throws: CBORError.truncated) { try decode(head + claim + "616101") }
            #expect(throws: CBORError.truncated) { try decode("8461616162" + head + claim + "01") }
        }
    }

    @Test(arguments: [("81", "00"), ("9f", ""), ("a16161", "00"), ("bf6161", ""), ("c1", "00")])
    func thirtyTwoLevelsAreReadAndNoMore(open: String, inner: String) throws {
        let closing = open == "9f" || open == "bf6161" ? "ff" : ""
        func nested(_ depth: Int) -> String {
            // The innermost map without end has nothing in it.
            let innermost = open == "bf6161" ? "bf" : open
            return String(repeating: open, count: depth - 1) + innermost + inner
                + String(repeating: closing, count: depth)
        }
        _ = try decode(nested(32))
        #expect(throws: CBORError.tooDeep) { try decode(nested(33)) }
        #expect(throws: CBORError.tooDeep) { try decode(String(repeating: open, count: 100_000)) }
    }

    @Test func everyHalfFloatIsReadAndWrittenBack() throws {
        for pattern in UInt16.min ... .max {
            let half = Float16(bitPattern: pattern)
            let bytes = [0xf9, UInt8(pattern >> 8), UInt8(pattern & 0xff)]
            guard case .float(let value) = try CBORValue(decoding: bytes) else {
                Issue.record("no float: \(bytes)")
                continue
            }
            if half.isNaN {
                if !value.isNaN { Issue.record("\(pattern) is \(value)") }
            } else if value != Double(half) || value.sign != half.sign
                || CBORValue.float(value).encoded(.deterministic) != bytes
            {
                Issue.record(
                    "\(pattern) is \(value), written \(CBORValue.float(value).encoded(.deterministic))")
            }
        }
        #expect(CBORValue.float(.nan).encoded(.deterministic).hexText == "f97e00")
    }

    @Test func theShortestFloatThatKeepsTheValueIsWritten() {
        #expect(CBORValue.float(65_505).encoded(.deterministic).hexText == "fa477fe100")
        #expect(CBORValue.float(0.1).encoded(.deterministic).hexText == "fb3fb999999999999a")
        #expect(CBORValue.float(Double(Float(0.1))).encoded(.deterministic).hexText == "fa3dcccccd")
        #expect(CBORValue.float(2).encoded(.client).hexText == "fb4000000000000000")
    }

    /// Trap 8: only the 64-bit 0.2 selects the slow cadence.
    @Test func aSlowCadenceIsWrittenAsTheDoubleTheBoxCompares() {
        let body: CBORValue = ["bucket": 512, "hz": .float(Contract.Session.slowHz)]
        #expect(body.encoded().hexText == "a2666275636b657419020062687afb3fc999999999999a")
    }

    /// Trap 7: a float where the box wants an integer gets no answer at all.
    @Test func wholeNumbersStayIntegers() throws {
        let body: CBORValue = ["fromMs": .int(1_760_000_000_000), "rev": 1, "hz": 1]
        #expect(body.encoded().hexText == "a36666726f6d4d731b00000199c82cc00063726576016268" + "7a01")
        #expect(try decode("f94000").intValue == nil)
        #expect(try decode("f94000").doubleValue == 2)
        #expect(try decode("02").doubleValue == 2)
        #expect(try decode("f97e00").doubleValue == nil)
        #expect(try decode("f97c00").doubleValue == nil)
    }

    @Test func theBoxSortsItsKeysByTheirEncodedBytes() throws {
        let map: CBORValue = ["10": 1, "b": 2, "": 3, "a": 4, "aa": 5, "é": 6, "2": ["z": 1, "y": 2]]
        guard case .map(let sorted) = try CBORValue(decoding: map.encoded(.deterministic)) else {
            Issue.record("no map")
            return
        }
        #expect(sorted.members.map(\.key) == ["", "2", "a", "b", "10", "aa", "é"])
        #expect(sorted["2"]?.mapValue?.members.map(\.key) == ["y", "z"])
        guard case .map(let given) = try CBORValue(decoding: map.encoded(.client)) else { return }
        #expect(given.members.map(\.key) == ["10", "b", "", "a", "aa", "é", "2"])
        #expect(given == sorted)
    }

    @Test func aLargeMapIsCheckedForDuplicatesWithoutComparingAllPairs() throws {
        var map = CBORMap()
        for number in 0..<500 { map["key \(number)"] = .int(Int64(number)) }
        var bytes = CBORValue.map(map).encoded()
        #expect(try CBORValue(decoding: bytes) == .map(map))
        // The last key once more: from 499 to 498.
        bytes[bytes.count - 4] -= 1
        #expect(throws: CBORError.duplicateKey) { try CBORValue(decoding: bytes) }
    }

    @Test func inputBeyondTheLimitIsNotLookedAt() {
        let bytes = CBORValue.bytes([UInt8](repeating: 0, count: CBORValue.maxInput)).encoded()
        #expect(throws: CBORError.tooLarge) { try CBORValue(decoding: bytes) }
    }

    @Test func aMapKeepsItsOrderAndEachKeyOnce() {
        var map: CBORMap = ["b": 1, "a": 2, "b": 3]
        #expect(map.members.map(\.key) == ["b", "a"])
        #expect(map["b"] == 3)
        map["c"] = 4
        map["b"] = nil
        map["none"] = nil
        #expect(map == ["c": 4, "a": 2])
        #expect(map != ["c": 4, "a": 3])
        #expect(map != ["c": 4])
        #expect(map != ["c": 4, "d": 2])
        #expect(map.count == 2 && !map.isEmpty)
    }

    @Test func accessorsGiveNothingForAnotherKind() {
        let value: CBORValue = ["n": 1, "t": "x", "b": true, "a": [nil], "y": .bytes([1])]
        #expect(value["n"]?.intValue == 1)
        #expect(value["t"]?.textValue == "x")
        #expect(value["b"]?.boolValue == true)
        #expect(value["a"]?.arrayValue?.first?.isNull == true)
        #expect(value["y"]?.bytesValue == [1])
        #expect(value["t"]?.intValue == nil && value["n"]?.textValue == nil && value["n"]?.boolValue == nil)
        #expect(value["n"]?.arrayValue == nil && value["n"]?.bytesValue == nil && value["n"]?.mapValue == nil)
        #expect(value["n"]?["x"] == nil && value["none"] == nil)
        #expect(CBORValue.unsigned(.max).intValue == nil)
        #expect(CBORValue.unsigned(.max).doubleValue == 18_446_744_073_709_551_616)
        #expect(CBORValue.text("1").doubleValue == nil)
    }
}

/// What arrives damaged, cut or made up.
@Suite struct CBORFuzzTests {
    static func payloads() throws -> [[UInt8]] {
        try Vectors.json("spec-vectors.json").list("frames").map { try $0.hex("payload") }
    }

    @Test func everyPrefixOfAGoodMessageIsTruncated() throws {
        for payload in try Self.payloads() {
            for count in payload.indices {
                #expect(throws: CBORError.truncated) { try CBORValue(decoding: Array(payload.prefix(count))) }
            }
            #expect(throws: CBORError.trailingBytes) { try CBORValue(decoding: payload + [0]) }
        }
    }

    @Test func aHundredThousandDamagedMessagesAreReadOrRefused() throws {
        let payloads = try Self.payloads()
        var dice = SeededDice(9)
        var read = 0
        for round in 0..<100_000 {
            let damaged = payloads[round % payloads.count].damaged(&dice)
            guard let value = try? CBORValue(decoding: damaged) else { continue }
            read += 1
            // What was read can be written and read again.
            for profile in [CBORProfile.client, .deterministic] where !damaged.contains(where: { $0 >= 0xf9 })
            {
                if try CBORValue(decoding: value.encoded(profile)) != value { Issue.record("\(damaged)") }
            }
            _ = try? Envelope(decoding: damaged)
        }
        #expect(read > 1_000, "the damage left nothing to read")
    }

    @Test func aHundredThousandMadeUpMessagesAreReadOrRefused() {
        var dice = SeededDice(10)
        for _ in 0..<100_000 {
            let count = Int.random(in: 0...48, using: &dice)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &dice) }
            _ = try? CBORValue(decoding: bytes)
        }
    }
}
