import Testing

@testable import Bridge

@Suite struct TopicLevelTests {
    @Test(arguments: ["meter", "ferroamp-1", "0", "a-b-c", "x1234567"])
    func aPlainIdIsItsOwnLevel(id: String) {
        #expect(TopicLevel(id).text == id)
    }

    @Test(arguments: [
        ("Laddare, Garage", "laddare-garage-"), ("Laddare Garage", "laddare-garage-"),
        ("Gästplats", "gastplats-"), ("🚗", "x-"), ("", "x-"), ("Meter", "meter-"), ("a/b", "a-b-"),
        ("+", "x-"), ("#", "x-"), ("-a", "a-"), ("a_b", "a-b-"),
    ])
    func anOddIdKeepsAReadableStem(id: String, stem: String) {
        let level = TopicLevel(id).text
        #expect(level.hasPrefix(stem))
        #expect(level.count == stem.count + 8)
    }

    @Test func aLongIdIsCut() {
        let level = TopicLevel(String(repeating: "långt namn ", count: 20)).text
        #expect(level.count <= TopicLevel.longest)
        #expect(level.hasPrefix("langt-namn-langt-namn"))
    }

    @Test func noTwoIdsShareALevel() {
        let long = String(repeating: "a", count: 200)
        let ids = [
            "Laddare, Garage", "Laddare Garage", "laddare-garage", "LADDARE GARAGE", "Gästplats", "Gastplats",
            "gastplats", "🚗", "🚙", "", " ", long, long + "b", "a/b", "a-b", "a_b", "a b", "a.b",
        ]
        let levels = ids.map { TopicLevel($0).text }
        #expect(Set(levels).count == ids.count)
        // Not even when somebody names a source like a level made here.
        #expect(Set((ids + levels).map { TopicLevel($0).text }).count == Set(ids + levels).count)
    }

    @Test func everyLevelIsLegal() {
        for id in ["Å", "\u{0}", "a\nb", "..", "$SYS", "ÅÄÖ åäö", "日本語", String(repeating: "é", count: 99)] {
            let level = TopicLevel(id).text
            #expect((1...TopicLevel.longest).contains(level.count))
            #expect(level.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-".contains($0) })
        }
    }
}
