import FoundationEssentials
import Glibc
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import Persistence

@Suite struct StateFileTests {
    final class Reports: Sendable {
        let all = Mutex<[StateFile.Report]>([])
        var taken: [StateFile.Report] { all.withLock { $0 } }
    }
    let outer: TemporaryFolder
    let reports = Reports()

    init() throws { outer = try TemporaryFolder() }

    private func memory(
        _ site: String = "home", _ operations: FileOperations = FileOperations()
    ) throws -> (StateFolder, StateFile) {
        let folder = try StateFolder("\(outer.path)/state", for: .visit, operations: operations)
        let reports = reports
        let file = StateFile(
            folder, site: site, now: { Date(timeIntervalSince1970: 1_796_023_000) },
            report: { report in reports.all.withLock { $0.append(report) } })
        return (folder, file)
    }

    @Test func aValueOutlivesTheProcess() throws {
        let (_, first) = try memory()
        #expect(first.load("ledger") == nil)
        #expect(first.save("ledger", ["a": 1]))
        let (_, second) = try memory()
        #expect(second.load("ledger") == ["a": 1])
        #expect(reports.taken.isEmpty)
    }

    @Test func sitesAndNamesDoNotMeet() throws {
        let (_, home) = try memory("home")
        let (folder, other) = try memory("home-2")
        home.save("a", 1)
        other.save("a", 2)
        home.save("a.b", 3)
        #expect(home.load("a") == 1 && other.load("a") == 2 && home.load("a.b") == 3)
        try home.removeAll()
        #expect(home.load("a") == nil && other.load("a") == 2)
        #expect(try folder.names() == ["memory-home-2.a.json"])
    }

    @Test func theSameValueIsWrittenOnce() throws {
        let writes = Atomic(0)
        var operations = FileOperations()
        operations.rename = {
            writes.add(1, ordering: .relaxed)
            return renameat($0, $1, $0, $2)
        }
        let (_, file) = try memory("home", operations)
        for value in [1, 1, 2, 2, 1] as [JSONValue] { file.save("a", value) }
        #expect(writes.load(ordering: .relaxed) == 3)
        #expect(file.load("a") == 1)
    }

    @Test func aFullDiskIsToldOnceWhenItBeginsAndOnceWhenItIsOver() throws {
        let full = Atomic(true)
        var operations = FileOperations()
        operations.write = { file, bytes in
            errno = ENOSPC
            return full.load(ordering: .relaxed) ? -1 : write(file, bytes.baseAddress, bytes.count)
        }
        let (_, file) = try memory("home", operations)
        #expect(!file.save("a", 1) && !file.save("a", 2) && !file.save("b", 3))
        full.store(false, ordering: .relaxed)
        #expect(file.save("a", 2) && file.save("b", 3))
        #expect(file.load("a") == 2)
        #expect(
            reports.taken == [
                .failed(
                    .system(operation: "write", path: "\(outer.path)/state/memory-home.a.json", code: ENOSPC)),
                .recovered,
            ])
    }

    @Test func aDamagedMemoryIsSetAsideAndReported() throws {
        let (folder, file) = try memory()
        try folder.write("memory-home.a.json", Array("{".utf8))
        #expect(file.load("a") == nil)
        file.save("a", 1)
        #expect(file.load("a") == 1)
        #expect(
            reports.taken == [
                .setAside(
                    SetAside(
                        folder: folder.path, name: "memory-home.a.json",
                        newName: "memory-home.a.json.damaged-20261130T071640Z", reason: .damaged))
            ])
        #expect(try folder.names().count == 2)
    }

    /// What people find in the log is a sentence with what to do, not how we spell it inside.
    @Test func reportsAreSentences() throws {
        let (folder, file) = try memory()
        try folder.write("memory-home.energy.json", Array("{".utf8))
        #expect(file.load("energy") == nil)
        #expect(
            reports.taken.map(\.description) == [
                "\(folder.path)/memory-home.energy.json is damaged; it is kept as "
                    + "memory-home.energy.json.damaged-20261130T071640Z and the bridge goes on without it"
            ])
        #expect(
            StateFile.Report.failed(.notAFile(path: "/x")).description
                == "/x is not a plain file; move it away")
        #expect(StateFile.Report.recovered.description == "the state folder can be written again")
    }

    @Test func aNameThatIsNoneIsReportedNotFatal() throws {
        let (_, file) = try memory()
        #expect(!file.save("../x", 1))
        #expect(file.load("../x") == nil)
        #expect(reports.taken.count == 2)
    }
}
