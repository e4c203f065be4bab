import Testing

@testable import Configuration

@Suite struct NearestTests {
    @Test(arguments: [
        ("prot", "port"), ("hots", "host"), ("BASE-TOPIC", "base_topic"), ("basetopik", "base_topic"),
        ("keepalive", "keep_alive_s"), ("x", nil), ("", nil), ("something", nil),
    ])
    func theWordThatWasMeantIsFound(word: String, expected: String?) {
        #expect(Nearest.match(word, among: ["host", "port", "base_topic", "keep_alive_s"]) == expected)
    }

    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("abc", "acb", 1), ("kitten", "sitting", 3), ("ab", "ba", 1),
    ])
    func theDistanceCountsStepsAndSwaps(a: String, b: String, distance: Int) {
        #expect(Nearest.editDistance(Array(a), Array(b)) == distance)
        #expect(Nearest.editDistance(Array(b), Array(a)) == distance)
    }

    @Test func aVeryLongWordCostsNothing() {
        #expect(Nearest.match(String(repeating: "a", count: 100_000), among: ["host"]) == nil)
    }
}
