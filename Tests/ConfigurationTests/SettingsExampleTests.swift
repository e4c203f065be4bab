import FoundationEssentials
import Testing

@testable import Configuration

@Suite struct SettingsExampleTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "config/config.yaml").path

    private static func bytes() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: file))) }

    @Test func theCheckedInExampleIsTheOneMadeFromTheTable() throws {
        #expect(String(decoding: try Self.bytes(), as: UTF8.self) == SettingsExample.text)
    }
}
