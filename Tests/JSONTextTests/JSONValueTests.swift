import JSONText
import TestSupport
import Testing

@Suite struct JSONValueTests {
    @Test(
        arguments: [
            ("null", JSONValue.null), ("true", true), ("false", false), ("0", 0), ("-5", -5),
            ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)), ("0.5", 0.5),
            ("1e3", .double(1000)), ("\"å\\u00e4\\\"\"", "åä\""), ("[]", []), ("[1,[2]]", [1, [2]]),
            ("{}", [:]), ("{\"a\":{\"b\":null}}", ["a": ["b": nil]]), (" \n1\t", 1),
        ] as [(String, JSONValue)])
    func documentsAreRead(text: String, value: JSONValue) throws {
        let read = try JSONValue(parsing: text)
        #expect(read == value || read.doubleValue == value.doubleValue)
    }

    @Test(arguments: [
        "", " ", "{", "}", "[1,", "{\"a\"}", "{\"a\":}", "01", "+1", "1.", ".5", "NaN", "Infinity",
        "nul", "tru", "\"", "\"\\x\"", "'a'", "1 2", "{}{}", "[1]]", "\u{1}",
    ])
    func whatIsNoDocumentIsRefused(text: String) {
        #expect(throws: JSONTextError.self) { try JSONValue(parsing: text) }
    }

    @Test func bytesThatAreNoTextAreRefused() {
        #expect(throws: JSONTextError.self) { try JSONValue(parsing: [0x22, 0xFF, 0x22]) }
    }

    @Test func nestingIsLimited() throws {
        let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        _ = try JSONValue(parsing: deep)
        let deeper = "[" + deep + "]"
        #expect {
            try JSONValue(parsing: deeper)
        } throws: {
            "\($0)" == "nested deeper than 64 levels"
        }
        let hostile = String(repeating: "{\"a\":", count: 200_000)
        #expect(throws: JSONTextError.self) { try JSONValue(parsing: hostile) }
    }

    @Test func bracketsInsideTextAreNotNesting() throws {
        let text = "\"" + String(repeating: "[\\\"", count: 100) + "\""
        #expect(try JSONValue(parsing: text).stringValue?.count == 200)
    }

    @Test func equalDocumentsAreEqualBytes() {
        let one: JSONValue = ["b": 1, "a": [nil, true], "ö": "x/y"]
        #expect(one.text == #"{"a":[null,true],"b":1,"ö":"x/y"}"#)
    }

    @Test func aNumberThatJSONCannotCarryIsUnknown() {
        #expect(JSONValue.array([.double(.nan), .double(.infinity), 1.25]).text == "[null,null,1.25]")
    }

    @Test(arguments: [0.1, 1.234, -0.05, 1e-7, 123_456_789.125, -4.5e300])
    func fractionsComeBackAsTheyWere(number: Double) throws {
        #expect(try JSONValue(parsing: JSONValue.double(number).text).doubleValue == number)
    }

    @Test func wholeNumbersAreWholeHoweverWritten() throws {
        #expect(try JSONValue(parsing: "2.0").intValue == 2)
        #expect(JSONValue.double(2).intValue == 2)
        #expect(JSONValue.double(2.5).intValue == nil)
        #expect(JSONValue.double(1e300).intValue == nil)
        #expect(JSONValue.double(.nan).intValue == nil)
        #expect(JSONValue.string("2").intValue == nil)
        #expect(JSONValue.double(.infinity).doubleValue == nil)
    }

    @Test func membersOfOtherKindsAreNone() {
        let value: JSONValue = ["a": 1]
        #expect(value["a"] == 1)
        #expect(value["b"] == nil)
        #expect(value[0] == nil)
        #expect(JSONValue.array([1])[1] == nil)
        #expect(JSONValue.array([1])[-1] == nil)
    }

    @Test func prefixesAndDamageNeverTrap() {
        let good = Array(#"{"a":[1,-2.5e3,"å\u00e5",true,null,{"b":{}}],"c":"\ud83d\ude97"}"#.utf8)
        for length in 0...good.count { _ = try? JSONValue(parsing: good.prefix(length)) }
        var dice = SeededDice(11)
        for _ in 0..<100_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
            }
            if let value = try? JSONValue(parsing: bytes) { _ = value.bytes }
        }
    }
}
