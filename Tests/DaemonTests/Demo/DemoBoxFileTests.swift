import BoxLink
import BoxSimulator
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Daemon

@Suite struct DemoBoxFileTests {
    @Test func aBoxComesBackAsTheSameOne() throws {
        let folder = try TemporaryFolder()
        let file = DemoBoxFile(path: folder.path + "/box.json")
        #expect(try file.load() == nil)
        let settings = try SimulatedBoxSettings(seed: 3)
        let client = BoxClient(key: Array(repeating: 5, count: 32), role: .viewer)
        let record = BoxRecord(
            identity: settings.identity, rendezvousSecret: settings.rendezvousSecret, clients: [client])
        try file.save(record)
        try file.save(record)
        let back = try #require(try file.load())
        #expect(back.identity.publicKey == settings.identity.publicKey)
        #expect(back.clients == [client])
        #expect(back.document == record.document)
        var status = stat()
        #expect(stat(file.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test(arguments: [
        "", "{}", "nonsense", #"{"format":"ftw-mqtt-simulated-box-1","identity":"AA","clients":[]}"#,
    ])
    func anotherFileIsLeftAlone(text: String) throws {
        let folder = try TemporaryFolder()
        let file = DemoBoxFile(path: folder.path + "/box.json")
        try Data(text.utf8).write(to: URL(filePath: file.path))
        #expect(throws: DemoBoxFile.Failure.self) { _ = try file.load() }
        #expect(FileManager.default.contents(atPath: file.path) == Data(text.utf8))
    }

    private func record() throws -> BoxRecord {
        let settings = try SimulatedBoxSettings(seed: 3)
        return BoxRecord(
            identity: settings.identity, rendezvousSecret: settings.rendezvousSecret, clients: [])
    }

    @Test func aWriteMayTakeSeveralTurns() throws {
        let folder = try TemporaryFolder()
        var file = DemoBoxFile(path: folder.path + "/box.json")
        file.write = { Glibc.write($0, $1.baseAddress, min(7, $1.count)) }
        try file.save(try record())
        #expect(try file.load()?.document == (try record()).document)
    }

    @Test(arguments: [true, false]) func whatFailsLeavesTheOldFileAndNothingElse(writing: Bool) throws {
        let folder = try TemporaryFolder()
        var file = DemoBoxFile(path: folder.path + "/box.json")
        try file.save(try record())
        let old = FileManager.default.contents(atPath: file.path)
        if writing {
            file.write = { _, _ in
                errno = ENOSPC
                return -1
            }
        } else {
            file.sync = { _ in
                errno = EIO
                return -1
            }
        }
        do {
            try file.save(try record())
            Issue.record("it was written")
        } catch {
            let why = writing ? "No space left on device" : "Input/output error"
            #expect("\(error)" == "\(file.path) cannot be written: \(why)")
        }
        #expect(FileManager.default.contents(atPath: file.path) == old)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["box.json"])
    }

    @Test func aFolderThatIsNotThereIsNamed() throws {
        let settings = try SimulatedBoxSettings(seed: 3)
        let file = DemoBoxFile(path: "/nowhere/at/all/box.json")
        let record = BoxRecord(
            identity: settings.identity, rendezvousSecret: settings.rendezvousSecret, clients: [])
        do {
            try file.save(record)
            Issue.record("it was written")
        } catch {
            #expect("\(error)" == "/nowhere/at/all/box.json cannot be written: No such file or directory")
        }
    }
}
