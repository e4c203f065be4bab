import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Persistence

@Suite struct StateFolderTests {
    let outer: TemporaryFolder
    var path: String { "\(outer.path)/state" }

    init() throws { outer = try TemporaryFolder() }

    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    private func error(_ body: () throws(StateError) -> Void) -> StateError? {
        do throws(StateError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func aFolderThatCannotBeListedSaysWhyAndLeaksNothing() throws {
        let asked = Mutex<[Int32]>([])
        var operations = FileOperations()
        operations.list = { descriptor in
            asked.withLock { $0.append(descriptor) }
            errno = ENOMEM
            return nil
        }
        let folder = try StateFolder(path, for: .visit, operations: operations)
        for _ in 0..<3 {
            let found = error { () throws(StateError) in _ = try folder.names() }
            #expect(found == .system(operation: "list", path: path, code: ENOMEM))
        }
        #expect(Set(asked.withLock { $0 }).count == 1, "a descriptor stayed open")
    }

    // MARK: Opening

    @Test func aMissingFolderIsMadeForUsAlone() throws {
        let folder = try StateFolder.open("\(path)/deep/er/", for: .daemon)
        #expect(folder.path == "\(path)/deep/er")
        for part in [path, "\(path)/deep", "\(path)/deep/er"] { #expect(mode(part) == 0o700) }
        #expect(mode("\(path)/deep/er/lock") == 0o600)
        #expect(try folder.names().isEmpty)
    }

    @Test(arguments: [UInt32(0o750), 0o755, 0o701, 0o770, 0o777])
    func aFolderThatOthersMayEnterIsRefused(mode: UInt32) {
        mkdir(path, 0o700)
        chmod(path, mode)
        let found = error { () throws(StateError) in _ = try StateFolder.open(path, for: .daemon) }
        #expect(
            found?.description
                == "\(path) is open to other users (mode \(String(mode | 0o40000, radix: 8).suffix(3))) "
                + "and holds keys; run: chmod 700 \(path)")
    }

    @Test(.enabled(if: geteuid() == 0, "only the superuser can give a folder away"))
    func aFolderOfSomebodyElseIsRefused() {
        mkdir(path, 0o700)
        chown(path, 65_534, 65_534)
        let found = error { () throws(StateError) in _ = try StateFolder.open(path, for: .visit) }
        #expect(found == .foreignOwner(path: path, owner: SystemText.user(65_534), user: SystemText.user(0)))
        #expect(found?.description.contains("run it as \(SystemText.user(65_534))") == true)
    }

    @Test func aLinkIsNotFollowed() {
        mkdir("\(outer.path)/real", 0o700)
        symlink("\(outer.path)/real", path)
        #expect(
            error { () throws(StateError) in _ = try StateFolder.open(path, for: .daemon) }
                == .symbolicLink(path: path))
    }

    @Test func aFileInItsPlaceIsNamed() throws {
        try outer.write("state", [])
        #expect(
            error { () throws(StateError) in _ = try StateFolder.open(path, for: .daemon) }
                == .notAFolder(path: path))
    }

    @Test func aFolderThatCannotBeMadeSaysWhy() throws {
        try outer.write("file", [])
        let found = error { () throws(StateError) in
            _ = try StateFolder.open("\(outer.path)/file/a/b", for: .daemon)
        }
        guard case .system(_, _, let code)? = found else {
            Issue.record("\(String(describing: found))")
            return
        }
        #expect(code == ENOTDIR)
    }

    @Test func aFolderThatOnlyRootMayMakeNamesTheRemedy() {
        let user = SystemText.user(geteuid())
        let group = SystemText.group(getegid())
        #expect(SystemText.group(0) == "root" && SystemText.group(4_000_000_000) == "4000000000")
        for code in [EACCES, EPERM] {
            #expect(
                StateError.system(operation: StateFolder.making, path: "/var/lib/x", code: code).description
                    == "cannot make /var/lib/x: not permitted; make it once as root: "
                    + "install -d -o \(user) -g \(group) -m 700 /var/lib/x")
        }
        #expect(StateFolder.remedy(toMake: "\(outer.path)/a/b/c") == nil)
        if geteuid() != 0 {
            #expect(StateFolder.remedy(toMake: "/usr/x/y")?.hasSuffix("-m 700 /usr/x/y") == true)
        }
    }

    @Test func aSecondDaemonLearnsWhoHasTheFolder() throws {
        let first = try StateFolder.open(path, for: .daemon)
        let found = error { () throws(StateError) in _ = try StateFolder.open(path, for: .daemon) }
        #expect(found == .inUse(path: path, process: getpid()))
        #expect(
            found?.description == "\(path) is in use by another ftw-mqtt (process \(getpid())); "
                + "stop it first or name another state_dir")
        _ = first
    }

    @Test func aVisitGoesBesideTheDaemonAndSeesIt() throws {
        var daemon: StateFolder? = try StateFolder.open(path, for: .daemon)
        let visit = try StateFolder.open(path, for: .visit)
        #expect(visit.daemonProcess() == getpid())
        #expect(daemon?.daemonProcess() == getpid())
        daemon = nil
        #expect(visit.daemonProcess() == nil)
        _ = try StateFolder.open(path, for: .daemon)
    }

    @Test func aLockThatIsALinkIsRefused() throws {
        mkdir(path, 0o700)
        try outer.write("victim", Array("keep".utf8))
        symlink("\(outer.path)/victim", "\(path)/lock")
        #expect(
            error { () throws(StateError) in _ = try StateFolder.open(path, for: .daemon) }
                == .symbolicLink(path: "\(path)/lock"))
        #expect(try outer.read("victim") == Array("keep".utf8))
    }

    // MARK: Files

    @Test func whatIsWrittenIsReadBackAndForUsAlone() throws {
        let old = umask(0)
        defer { umask(old) }
        let folder = try StateFolder.open(path, for: .daemon)
        #expect(try folder.read("a.json") == nil)
        for size in [0, 1, 16_384, 100_000] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
            try folder.write("a.json", bytes)
            #expect(try folder.read("a.json") == bytes)
        }
        #expect(mode("\(path)/a.json") == 0o600)
        #expect(try folder.names() == ["a.json"])
        try folder.remove("a.json")
        try folder.remove("a.json")
        #expect(try folder.read("a.json") == nil)
    }

    @Test(arguments: [
        "", ".", "..", "../a", "a/b", ".hidden", "a\u{0}b", "å", String(repeating: "a", count: 121),
    ])
    func onlyPlainNamesAreFiles(name: String) throws {
        let folder = try StateFolder.open(path, for: .daemon)
        #expect(error { () throws(StateError) in try folder.write(name, []) } == .badName(name))
        #expect(error { () throws(StateError) in _ = try folder.read(name) } == .badName(name))
        #expect(error { () throws(StateError) in try folder.remove(name) } == .badName(name))
    }

    @Test func aLinkInPlaceOfAFileIsNeitherReadNorWrittenThrough() throws {
        let folder = try StateFolder.open(path, for: .daemon)
        try outer.write("victim", Array("keep".utf8))
        symlink("\(outer.path)/victim", "\(path)/a")
        #expect(
            error { () throws(StateError) in _ = try folder.read("a") } == .symbolicLink(path: "\(path)/a"))
        try folder.write("a", Array("new".utf8))
        #expect(try outer.read("victim") == Array("keep".utf8))
        #expect(try folder.read("a") == Array("new".utf8))
    }

    @Test func aPipeAFolderAndAnOpenFileAreRefused() throws {
        let folder = try StateFolder.open(path, for: .daemon)
        mkfifo("\(path)/pipe", 0o600)
        mkdir("\(path)/folder", 0o700)
        try folder.write("open", [1])
        chmod("\(path)/open", 0o640)
        #expect(
            error { () throws(StateError) in _ = try folder.read("pipe") } == .notAFile(path: "\(path)/pipe"))
        #expect(
            error { () throws(StateError) in _ = try folder.read("folder") }
                == .notAFile(path: "\(path)/folder"))
        let found = error { () throws(StateError) in _ = try folder.read("open") }
        #expect(found?.description.hasSuffix("run: chmod 600 \(path)/open") == true)
    }

    // MARK: Trouble while writing

    private func operations(_ change: (inout FileOperations) -> Void) -> FileOperations {
        var operations = FileOperations()
        change(&operations)
        return operations
    }

    @Test func aFullDiskLeavesTheOldFileAndNoRubbish() throws {
        let full = Atomic(false)
        let folder = try StateFolder(
            path, for: .daemon,
            operations: operations {
                $0.write = { file, bytes in
                    guard full.load(ordering: .relaxed) else {
                        return Glibc.write(file, bytes.baseAddress, bytes.count)
                    }
                    if bytes.count > 2 { return Glibc.write(file, bytes.baseAddress, 2) }
                    errno = ENOSPC
                    return -1
                }
            })
        try folder.write("a", Array("old".utf8))
        full.store(true, ordering: .relaxed)
        let found = error { () throws(StateError) in try folder.write("a", Array("new content".utf8)) }
        #expect(
            found?.description
                == "cannot write \(path)/a: no space left on the disk; the old file is untouched, free some space"
        )
        #expect(try folder.read("a") == Array("old".utf8))
        #expect(try outer.names() == ["state"])
        #expect(try folder.names() == ["a"])
        full.store(false, ordering: .relaxed)
        try folder.write("a", Array("new content".utf8))
        #expect(try folder.read("a") == Array("new content".utf8))
    }

    @Test func shortAndInterruptedWritesAreFinished() throws {
        let calls = Atomic(0)
        let folder = try StateFolder(
            path, for: .daemon,
            operations: operations {
                $0.write = { file, bytes in
                    if calls.wrappingAdd(1, ordering: .relaxed).newValue % 3 == 0 {
                        errno = EINTR
                        return -1
                    }
                    return Glibc.write(file, bytes.baseAddress, 1)
                }
            })
        try folder.write("a", Array("some text".utf8))
        #expect(try folder.read("a") == Array("some text".utf8))
    }

    @Test(arguments: ["sync", "rename"])
    func aFailureAtAnyStepLeavesTheOldFile(step: String) throws {
        let bad = Atomic(false)
        let folder = try StateFolder(
            path, for: .daemon,
            operations: operations {
                if step == "sync" {
                    $0.sync = { file in
                        errno = EIO
                        return bad.load(ordering: .relaxed) ? -1 : fsync(file)
                    }
                } else {
                    $0.rename = { folder, from, to in
                        errno = EIO
                        return bad.load(ordering: .relaxed) ? -1 : renameat(folder, from, folder, to)
                    }
                }
            })
        try folder.write("a", Array("old".utf8))
        bad.store(true, ordering: .relaxed)
        #expect(error { () throws(StateError) in try folder.write("a", Array("new".utf8)) } != nil)
        #expect(try folder.read("a") == Array("old".utf8))
        #expect(try folder.names() == ["a"])
    }

    /// The process ends after the new content was written and before it got its name.
    @Test func aDeathBeforeTheRenameLeavesTheOldFileAndTheNextStartSweepsUp() throws {
        let dead = Atomic(false)
        var folder: StateFolder? = try StateFolder(
            path, for: .daemon,
            operations: operations {
                $0.rename = { dead.load(ordering: .relaxed) ? -1 : renameat($0, $1, $0, $2) }
                $0.unlink = { dead.load(ordering: .relaxed) ? 0 : unlinkat($0, $1, 0) }
            })
        try folder?.write("a", Array("old".utf8))
        dead.store(true, ordering: .relaxed)
        #expect(error { () throws(StateError) in try folder?.write("a", Array("new".utf8)) } != nil)
        folder = nil
        let state = try entries()
        #expect(state.contains { $0.hasPrefix(".a.new-") })
        // A visit leaves it: it might be the daemon's, half written.
        _ = try StateFolder.open(path, for: .visit)
        #expect(try entries() == state)
        let next = try StateFolder.open(path, for: .daemon)
        #expect(try entries() == ["a", "lock"])
        #expect(try next.read("a") == Array("old".utf8))
    }

    private func entries() throws -> [String] {
        guard let listing = opendir(path) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }
}
