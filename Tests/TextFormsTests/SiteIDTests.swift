import Testing
import TextForms

@Suite struct SiteIDTests {
    @Test(arguments: ["a", "home", "cabin-2", "0", String(repeating: "a", count: 32)])
    func plainWordsAreIds(text: String) { #expect(SiteID.isValid(text)) }

    @Test(arguments: [
        "", "-", "-a", "a-", "A", "a b", "a.b", "a_b", "../x", "hus-å", String(repeating: "a", count: 33),
    ])
    func nothingElseIs(text: String) { #expect(!SiteID.isValid(text)) }
}
