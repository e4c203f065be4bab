import TestSupport
import Testing

@testable import Daemon

/// What `pair` makes of the word it is given.
@Suite struct PairSourceTests {
    private func fault(_ source: PairOptions.Source) -> String {
        do {
            return try PairVerb(options: PairOptions(source: source), environment: [:]).text()
        } catch {
            return "\(error)"
        }
    }

    @Test func aWordThatIsNothingIsCalledNeitherLinkNorPicture() {
        #expect(
            fault(.picture("garbage"))
                == "garbage is neither a link, which begins with https://app.ftw.energy/p#v2., nor the name "
                + "of a picture: there is no such file")
        #expect(fault(.picture("p#secret")).hasPrefix("a text that is not shown here is neither a link"))
    }

    @Test func aFileThatIsNoPictureIsNamed() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("qr.png", Array("no picture".utf8))
        #expect(fault(.picture(path)) == "\(path) is not a PNG picture that can be read")
    }

    @Test func aLinkIsItself() { #expect(fault(.link("v2.a.b.c.d")) == "v2.a.b.c.d") }
}
