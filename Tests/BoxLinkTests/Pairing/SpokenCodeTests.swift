import BoxLink
import JSONText
import TestSupport
import Testing

@Suite struct SpokenCodeTests {
    private func decoded(_ typed: String) throws -> String {
        try SpokenCode.decode(typed).withBytes { $0.hexText }
    }

    @Test func thePairsOfTheVectorsGoBothWays() throws {
        let v = try Vectors.json("spec-vectors.json").member("spokenCodes")
        let pairs = try v.list("pairs")
        #expect(pairs.count == 7)
        for pair in pairs {
            #expect(try SpokenCode.text(pair.hex("bytes")) == pair.string("code"))
            #expect(try decoded(pair.string("code")) == pair.string("bytes"))
        }
        for entry in try v.list("folding") {
            #expect(try decoded(entry.string("typed")) == entry.string("bytes"))
        }
        for typed in try v.list("refused").compactMap(\.stringValue) {
            #expect(throws: SpokenCodeError.self) { try SpokenCode.decode(typed) }
        }
    }

    @Test(arguments: ["04hm-asw9", "04hmasw9", "  04HM ASW9 ", "\t04HM\tASW9", "-0-4-H-M-A-S-W-9-\n"])
    func peopleTypeItInManyWays(typed: String) throws {
        #expect(try decoded(typed) == "0123456789")
    }

    @Test(arguments: [
        ("", SpokenCodeError.length(0)), ("----", .length(0)), ("04HM-ASW", .length(7)),
        ("04HM-ASW9-0", .length(9)), ("UUUU-UUUU", .foreignCharacter(position: 1)),
        ("04HM!ASW9", .foreignCharacter(position: 5)), ("04HM-ÄSW9", .foreignCharacter(position: 5)),
        ("٠١٢٣٤٥٦٧", .foreignCharacter(position: 1)), ("04HM_ASW9", .foreignCharacter(position: 5)),
        ("04HM\r\nASW9", .foreignCharacter(position: 5)),
    ])
    func whatIsNoCodeIsNotSent(typed: String, error: SpokenCodeError) {
        #expect(throws: error) { try SpokenCode.decode(typed) }
        #expect(!error.description.isEmpty)
    }

    @Test func onlyFiveBytesHaveASpokenForm() {
        #expect(SpokenCode.text([]) == nil)
        #expect(SpokenCode.text([1, 2, 3, 4]) == nil)
        #expect(SpokenCode.text([1, 2, 3, 4, 5, 6]) == nil)
    }

    @Test func aHundredThousandDamagedCodesGiveFiveBytesOrAnError() throws {
        let code = Array("04HM-ASW9".utf8)
        for count in 0..<code.count {
            #expect(throws: SpokenCodeError.self) {
                try SpokenCode.decode(String(decoding: code.prefix(count), as: UTF8.self))
            }
        }
        var dice = SeededDice(6)
        for _ in 0..<100_000 {
            let typed = String(decoding: code.damaged(&dice), as: UTF8.self)
            if let bytes = try? SpokenCode.decode(typed), bytes.count != 5 { Issue.record("\(typed)") }
        }
        // Far too many digits must not overflow anything.
        #expect(throws: SpokenCodeError.length(100_000)) {
            try SpokenCode.decode(String(repeating: "Z", count: 100_000))
        }
    }
}
