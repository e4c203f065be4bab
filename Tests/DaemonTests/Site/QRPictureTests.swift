import BoxLink
import FoundationEssentials
import TestSupport
import Testing

@testable import Daemon

@Suite struct QRPictureTests {
    private static let picture =
        (#filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined()) + "/Pictures/link.png"

    @Test func thePictureOfALinkHoldsTheLink() throws {
        let link = try PairingLink(parsing: try QRPicture.text(at: Self.picture))
        // The published enrolment vector, of which this is the picture.
        #expect(BoxNames.siteID(boxKey: link.boxKey).count == 16)
        #expect(link.code.count == 16)
        #expect(try QRPicture.text(at: Self.picture) == link.url)
    }

    @Test func everyPrefixOfAPictureIsRefusedInWords() throws {
        let whole = try Data(contentsOf: URL(filePath: Self.picture))
        let folder = try TemporaryFolder()
        let path = folder.path + "/cut.png"
        for length in stride(from: 0, to: whole.count - 20, by: 37) {
            try whole.prefix(length).write(to: URL(filePath: path))
            #expect(throws: QRPicture.Failure.self) { try QRPicture.text(at: path) }
        }
    }

    @Test func aDamagedPictureNeverTraps() throws {
        let whole = Array(try Data(contentsOf: URL(filePath: Self.picture)))
        let folder = try TemporaryFolder()
        let path = folder.path + "/damaged.png"
        var dice = SeededDice(7)
        for _ in 0..<300 {
            var bytes = whole
            for _ in 0..<3 {
                bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
            }
            try Data(bytes).write(to: URL(filePath: path))
            _ = try? QRPicture.text(at: path)
        }
    }

    @Test func aMissingFileIsNamed() {
        #expect {
            try QRPicture.text(at: "/nowhere/qr.png")
        } throws: { "\($0)".contains("/nowhere/qr.png") }
    }
}
