import FoundationEssentials
import Synchronization
import TestSupport
import Testing

@testable import Daemon

/// What is wrong with the configuration, as a terminal and as a journal get it.
@Suite struct ComplaintTests {
    private func said(_ style: ProcessLog.Style, isDaemon: Bool) throws -> [String] {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/config.yaml"
        try Data("mqtt:\n  port: 70000\nlangauge: sv\n".utf8).write(to: URL(filePath: path))
        let lines = Mutex<[String]>([])
        let log = ProcessLog(style: style, now: { "now" }) { bytes in
            lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
        let around = Surroundings(environment: [:], log: log)
        #expect(around.settings(CommonOptions(config: path), isDaemon: isDaemon) == nil)
        return lines.withLock { $0 }.map { $0.replacing(folder.path, with: "") }
    }

    @Test(arguments: [true, false]) func theJournalGetsTheirPriority(isDaemon: Bool) throws {
        let said = try said(.journal, isDaemon: isDaemon)
        #expect(said.count == 2 && said.allSatisfy { $0.hasPrefix("<3>/config.yaml:") }, "\(said)")
    }

    @Test func aDaemonsOwnLogIsOneLog() throws {
        let said = try said(.plain, isDaemon: true)
        #expect(said.count == 2 && said.allSatisfy { $0.hasPrefix("now error   /config.yaml:") }, "\(said)")
    }

    @Test func aCommandTellsThePersonWhoGaveIt() throws {
        let said = try said(.plain, isDaemon: false)
        #expect(said.count == 2 && said.allSatisfy { $0.hasPrefix("ftw-mqtt: /config.yaml:") }, "\(said)")
    }
}
