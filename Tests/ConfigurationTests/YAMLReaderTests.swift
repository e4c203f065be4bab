import FoundationEssentials
import TestSupport
import Testing

@testable import Configuration

@Suite struct YAMLReaderTests {
    private func problem(_ bytes: [UInt8]) -> YAMLProblem? {
        do throws(YAMLProblem) {
            _ = try YAMLReader.read(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test func everyPieceKnowsItsPlace() throws {
        let read = try YAMLReader.read(Array("a:\n  ö: [x, 'y']\n".utf8))
        let root = try #require(read)
        guard case .mapping(let outer) = root.content, case .mapping(let inner)? = outer.first?.value.content,
            case .list(let items)? = inner.first?.value.content
        else {
            Issue.record("another structure")
            return
        }
        #expect(outer.map { [$0.line, $0.column] } == [[1, 1]])
        #expect(inner.map { [$0.line, $0.column] } == [[2, 3]])
        #expect(items.map { [$0.line, $0.column] } == [[2, 7], [2, 10]])
    }

    @Test(arguments: [
        ([0x61, 0x3A, 0x20, 0xFF], 1, 4), (Array("a: 1\nå: ".utf8) + [0xC3], 2, 4),
        (Array("ö\n\n".utf8) + [0xE2, 0x82], 3, 1), ([0xFF, 0xFE, 0x61, 0x00], 1, 1),
    ])
    func bytesThatAreNotUTF8AreFound(bytes: [UInt8], line: Int, column: Int) {
        #expect(
            problem(bytes)
                == YAMLProblem(line: line, column: column, text: "this is not UTF-8; save the file as UTF-8"))
    }

    @Test func aByteOrderMarkDoesNotMatter() throws {
        let text = "\u{FEFF}language: sv\n"
        #expect(try SettingsFile.parse(Array(text.utf8)).settings.language == .sv)
    }

    @Test func controlCharactersAreRefusedWithTheirPlace() {
        let found = problem(Array("a: 1\nb: \u{1}\n".utf8))
        #expect(found == YAMLProblem(line: 2, column: 4, text: "control characters are not allowed"))
    }

    @Test func windowsLineEndsAreFine() throws {
        #expect(
            try SettingsFile.parse(Array("language: sv\r\nmqtt:\r\n  host: a\r\n".utf8)).settings.mqtt.host
                == "a")
    }

    @Test func aFileOverOneMegabyteIsRefusedUnread() {
        let bytes = [UInt8](repeating: UInt8(ascii: "#"), count: (1 << 20) + 1)
        #expect(problem(bytes)?.text == "the file is larger than 1 MiB")
        #expect(problem(Array(bytes.dropLast())) == nil)
    }

    @Test(arguments: ["[", "{a: ", "- "])
    func nestingIsBounded(opening: String) {
        let text = String(repeating: opening, count: 10_000)
        #expect(problem(Array(text.utf8)) != nil)
    }

    // MARK: Anything at all

    private static func example() -> [UInt8] {
        // With everything switched on that the example shows as a comment.
        let lines = SettingsExample.text.split(separator: "\n")
        return Array(lines.map { $0.replacing(" #", with: " ") }.joined(separator: "\n").utf8)
    }

    @Test func everyBeginningOfTheExampleIsReadOrRefused() {
        for bytes in [Array(SettingsExample.text.utf8), Self.example()] {
            for count in 0...bytes.count {
                _ = try? SettingsFile.parse(Array(bytes[..<count]), files: FakeFiles.usual.look)
            }
        }
    }

    @Test func mutationsOfTheExampleAreReadOrRefused() {
        var dice = SeededDice(20_261_130)
        let originals = [Array(SettingsExample.text.utf8), Self.example()]
        let pieces = [
            "\n", "  ", "\t", ": ", "- ", "[", "}", "'", "\"", "#", "&a", "*a", "!!", "\u{0}", "é", "---\n",
            "%",
        ]
        var taken = 0
        for round in 0..<20_000 {
            var bytes = originals[round % 2]
            for _ in 0...Int.random(in: 0..<4, using: &dice) {
                let at = Int.random(in: 0..<bytes.count, using: &dice)
                switch Int.random(in: 0..<4, using: &dice) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &dice)
                case 1: bytes.remove(at: at)
                case 2:
                    bytes.insert(contentsOf: Array((pieces.randomElement(using: &dice) ?? "").utf8), at: at)
                default:
                    bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 1..<200, using: &dice)))
                }
                if bytes.isEmpty { break }
            }
            if (try? SettingsFile.parse(bytes, files: FakeFiles.usual.look)) != nil { taken += 1 }
        }
        // Most of the file is comments, so many changes do no harm.
        #expect(taken > 1_000 && taken < 20_000)
    }
}
