import FoundationEssentials
import Testing

@testable import Configuration

@Suite struct SettingsExampleTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "config/config.yaml").path

    private static func bytes() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: file))) }

    /// Every line as a setting: `#key: value` without its `#`.
    private static func everythingSwitchedOn() throws -> YAMLNode {
        let lines = String(decoding: try bytes(), as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        let text = lines.map { line -> String in
            let margin = line.prefix { $0 == " " }
            let rest = line.dropFirst(margin.count)
            return rest.hasPrefix("#") && !rest.hasPrefix("# ")
                ? String(margin + rest.dropFirst()) : String(line)
        }.joined(separator: "\n")
        let root = try YAMLReader.read(Array(text.utf8))
        return try #require(root)
    }

    private static func scalars(_ node: YAMLNode, _ path: String) -> [(String, RawValue)] {
        guard case .mapping(let members) = node.content else {
            if path == "sites", case .list(let items) = node.content {
                return items.flatMap { scalars($0, path) }
            }
            return [(path, RawValue(node))]
        }
        return members.flatMap { scalars($0.value, path.isEmpty ? $0.key : "\(path).\($0.key)") }
    }

    @Test func theCheckedInExampleIsTheOneMadeFromTheTable() throws {
        #expect(String(decoding: try Self.bytes(), as: UTF8.self) == SettingsExample.text)
    }

    @Test func itGivesTheDefaults() throws {
        let loaded = try SettingsFile.parse(try Self.bytes(), files: FakeFiles.usual.look)
        #expect(loaded == SettingsFile.Loaded(settings: Settings()))
    }

    @Test func itShowsEveryKeyOnceInTableOrder() throws {
        let paths = Self.scalars(try Self.everythingSwitchedOn(), "").map(\.0)
        #expect(paths == SettingKey.all.map(\.path).filter { $0 != "sites" && $0 != "mqtt.tls" })
    }

    @Test func whatItShowsForAKeyIsAllowed() throws {
        for (path, raw) in Self.scalars(try Self.everythingSwitchedOn(), "") {
            var settings = Settings()
            var site = Settings.Site()
            let fault =
                SettingTable.fields.first { $0.key.path == path }?.take(raw, into: &settings)
                ?? SettingTable.siteFields.first { $0.key.path == path }?.take(raw, into: &site)
            #expect(fault == nil)
        }
    }

    @Test func everyDefaultInTheTableIsTheDefault() throws {
        for field in SettingTable.fields {
            guard let text = field.key.defaultText else { continue }
            var settings = Settings()
            let raw: RawValue =
                text.hasPrefix("[")
                ? .list(
                    text.dropFirst().dropLast().split(separator: ",").map {
                        String($0).replacing(" ", with: "")
                    })
                : .text(text)
            #expect(field.take(raw, into: &settings) == nil)
            #expect(settings == Settings(), "\(field.key.path)")
        }
    }

    @Test func everyKeySaysWhatItDoesAndWhatIsAllowed() {
        for key in SettingKey.all {
            #expect(key.about.hasSuffix(".") && !key.allowed.isEmpty)
            #expect(key.defaultText != nil || !key.sample.isEmpty || key.path == "sites")
        }
        #expect(Set(SettingKey.all.map(\.path)).count == SettingKey.all.count)
    }
}
