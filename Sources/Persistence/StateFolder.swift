import Glibc
import Synchronization

/// The folder with everything the bridge remembers: keys, pairings, pictures.
///
/// It belongs to the user we run as, and nobody else may enter (0700, files
/// 0600). Files are replaced whole: a reader, or we ourselves after a power cut,
/// find the old content or the new one, never a mixture. Symbolic links are not
/// followed, since whoever could place one could have us overwrite any file.
public final class StateFolder: Sendable {
    public enum Use: Sendable {
        /// The daemon's: nobody else may have it open so at the same time.
        case daemon
        /// A short visit beside a running daemon, such as `pair`.
        case visit
    }

    public let path: String
    /// Larger files are not ours.
    public static let maxBytes = 8 << 20
    static let lockName = "lock"
    static let making = "make"

    private let folder: Int32
    /// Holds the lock while open; -1 for a visit.
    private let lock: Int32
    private let operations: FileOperations
    private let counter = Atomic<UInt32>(0)

    /// Opens the folder and makes it, and what is missing above it, when it is not there.
    ///
    /// - Throws: `.foreignOwner`, `.tooOpen`, `.symbolicLink`, `.notAFolder`, `.inUse`, `.system`.
    public static func open(_ path: String, for use: Use) throws(StateError) -> StateFolder {
        try StateFolder(path, for: use, operations: FileOperations())
    }

    init(_ path: String, for use: Use, operations: FileOperations) throws(StateError) {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .badName(path) }
        self.path = path
        self.operations = operations
        folder = try Self.openFolder(path)
        do throws(StateError) {
            try Self.checkOwner(folder, path, isFolder: true)
            lock = use == .daemon ? try Self.takeLock(folder, path) : -1
        } catch {
            close(folder)
            throw error
        }
        // Whoever holds the lock is alone, so leftovers are of a process that died.
        if use == .daemon { for name in leftovers() { _ = unlinkat(folder, name, 0) } }
    }

    deinit {
        if lock >= 0 { close(lock) }
        close(folder)
    }

    // MARK: Opening

    private static func openFolder(_ path: String) throws(StateError) -> Int32 {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW
        var descriptor = Glibc.open(path, flags)
        if descriptor < 0, errno == ENOENT {
            try make(path)
            descriptor = Glibc.open(path, flags)
        }
        if descriptor >= 0 { return descriptor }
        let code = errno
        var status = stat()
        if lstat(path, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFLNK { throw .symbolicLink(path: path) }
            if status.st_mode & S_IFMT != S_IFDIR { throw .notAFolder(path: path) }
            if status.st_uid != geteuid() {
                throw .foreignOwner(
                    path: path, owner: SystemText.user(status.st_uid), user: SystemText.user(geteuid()))
            }
        }
        throw .system(operation: "open", path: path, code: code)
    }

    private static func make(_ path: String) throws(StateError) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        let code = errno
        if code == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            try make(String(path[..<slash]))
            if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        }
        throw .system(operation: making, path: path, code: code)
    }

    /// By the bits, not by trying: the superuser may always.
    private static func checkOwner(
        _ descriptor: Int32, _ path: String, isFolder: Bool
    ) throws(StateError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .system(operation: "look at", path: path, code: errno)
        }
        if !isFolder, status.st_mode & S_IFMT != S_IFREG { throw .notAFile(path: path) }
        guard status.st_uid == geteuid() else {
            throw .foreignOwner(
                path: path, owner: SystemText.user(status.st_uid), user: SystemText.user(geteuid()))
        }
        guard status.st_mode & 0o077 == 0 else {
            throw .tooOpen(path: path, mode: status.st_mode, isFolder: isFolder)
        }
    }

    private static func takeLock(_ folder: Int32, _ path: String) throws(StateError) -> Int32 {
        let full = "\(path)/\(lockName)"
        let descriptor = openat(
            folder, lockName, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            if errno == ELOOP { throw .symbolicLink(path: full) }
            throw .system(operation: "open", path: full, code: errno)
        }
        do throws(StateError) {
            try checkOwner(descriptor, full, isFolder: false)
            // A visit looks at the lock for a moment (`daemonProcess`); that is not another daemon.
            var attempts = 1
            while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                attempts += 1
                if errno == EWOULDBLOCK, attempts <= 4 {
                    usleep(10_000)
                    continue
                }
                if errno == EWOULDBLOCK { throw .inUse(path: path, process: holder(descriptor)) }
                throw .system(operation: "lock", path: full, code: errno)
            }
        } catch {
            close(descriptor)
            throw error
        }
        // Only for people and `pair`: the lock itself is what counts.
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
        return descriptor
    }

    private static func holder(_ descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    /// The process that holds the folder as its daemon; `nil` when there is none.
    public func daemonProcess() -> Int32? {
        if lock >= 0 { return getpid() }
        let descriptor = openat(folder, Self.lockName, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        if flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return nil }
        return Self.holder(descriptor)
    }

    // MARK: Pairing

    /// Says to other processes, for as long as this value lives, that a pairing is being made here.
    public func holdPairing() {
        // On the folder itself, which nobody else locks. Where that cannot be locked nobody waits.
        while flock(folder, LOCK_SH) != 0, errno == EINTR {}
    }

    /// Whether another process, or another value of this one, is making a pairing here.
    public func isPairingHeld() -> Bool {
        guard flock(folder, LOCK_EX | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
        flock(folder, LOCK_UN)
        return false
    }

    // MARK: Files

    /// Names of the files in the folder, sorted, without the lock and unfinished ones.
    public func names() throws(StateError) -> [String] {
        try everyName().filter { Self.isName($0) && $0 != Self.lockName }.sorted()
    }

    /// The content of a file; `nil` when there is none.
    ///
    /// - Throws: `.symbolicLink`, `.notAFile`, `.foreignOwner`, `.tooOpen`, `.badName`, `.system`.
    public func read(_ name: String) throws(StateError) -> [UInt8]? {
        let full = try fullPath(name)
        let descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP: throw .symbolicLink(path: full)
            case ENXIO: throw .notAFile(path: full)
            case let code: throw .system(operation: "read", path: full, code: code)
            }
        }
        defer { close(descriptor) }
        try Self.checkOwner(descriptor, full, isFolder: false)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= Self.maxBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(operation: "read", path: full, code: errno) }
            if count == 0 { return bytes }
            bytes += chunk.prefix(count)
        }
        throw .system(operation: "read", path: full, code: EFBIG)
    }

    /// Replaces a file as a whole. On return the new content is on the disk.
    ///
    /// - Throws: `.system` when that failed (disk full, say); the old content is
    ///   then still there. `.badName`.
    public func write(_ name: String, _ bytes: [UInt8]) throws(StateError) {
        let full = try fullPath(name)
        guard bytes.count <= Self.maxBytes else { throw .system(operation: "write", path: full, code: EFBIG) }
        let (temporary, descriptor) = try openTemporary(name, full)
        func failed(_ operation: String) -> StateError {
            let code = errno
            _ = operations.unlink(folder, temporary)
            return .system(operation: operation, path: full, code: code)
        }
        let written = bytes.withUnsafeBytes { writeAll(descriptor, $0) }
        guard written, operations.sync(descriptor) == 0 else {
            let error = failed("write")
            close(descriptor)
            throw error
        }
        guard close(descriptor) == 0 else { throw failed("write") }
        guard operations.rename(folder, temporary, name) == 0 else { throw failed("replace") }
        // The name is durable only with the folder.
        guard operations.sync(folder) == 0 else {
            throw .system(operation: "write", path: full, code: errno)
        }
    }

    /// Removes a file; none to remove is fine.
    public func remove(_ name: String) throws(StateError) {
        let full = try fullPath(name)
        guard operations.unlink(folder, name) == 0 || errno == ENOENT else {
            throw .system(operation: "remove", path: full, code: errno)
        }
        _ = operations.sync(folder)
    }

    /// Gives a file another name that is still free, and returns that.
    func moveAside(_ name: String, suffix: String) throws(StateError) -> String {
        let full = try fullPath(name)
        for attempt in 1...100 {
            let other = "\(name).\(suffix)" + (attempt == 1 ? "" : "-\(attempt)")
            // A link fails where a rename would overwrite.
            if linkat(folder, name, folder, other, 0) == 0 {
                try remove(name)
                return other
            }
            // Some file systems have no links; we are alone here, so looking first will do.
            if errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK {
                var status = stat()
                if fstatat(folder, other, &status, AT_SYMLINK_NOFOLLOW) == 0 { continue }
                if operations.rename(folder, name, other) == 0 { return other }
            }
            guard errno == EEXIST else { throw .system(operation: "set aside", path: full, code: errno) }
        }
        throw .system(operation: "set aside", path: full, code: EEXIST)
    }

    // MARK: Pieces

    private func openTemporary(_ name: String, _ full: String) throws(StateError) -> (String, Int32) {
        for _ in 0..<100 {
            let number = counter.wrappingAdd(1, ordering: .relaxed).newValue
            let temporary = ".\(name).new-\(getpid())-\(number)"
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
            let descriptor = openat(folder, temporary, flags, 0o600)
            if descriptor >= 0 {
                _ = fchmod(descriptor, 0o600)
                return (temporary, descriptor)
            }
            guard errno == EEXIST else { throw .system(operation: "write", path: full, code: errno) }
        }
        throw .system(operation: "write", path: full, code: EEXIST)
    }

    private func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = UnsafeRawBufferPointer(rebasing: bytes[...])
        while !rest.isEmpty {
            let count = operations.write(descriptor, rest)
            if count < 0, errno == EINTR { continue }
            guard count > 0, count <= rest.count else {
                if count == 0 { errno = EIO }
                return false
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    private func leftovers() -> [String] {
        let names = (try? everyName()) ?? []
        return names.filter { $0.hasPrefix(".") && $0.contains(".new-") }
    }

    private func everyName() throws(StateError) -> [String] {
        // A descriptor of its own, because closing the listing closes it.
        let descriptor = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(operation: "list", path: path, code: errno) }
        guard let listing = operations.list(descriptor) else {
            let code = errno
            close(descriptor)
            throw .system(operation: "list", path: path, code: code)
        }
        defer { closedir(listing) }
        var names: [String] = []
        while true {
            // Only so an end is told from an error (readdir(3)).
            errno = 0
            guard let entry = readdir(listing) else { break }
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
                        String(cString: $0)
                    }
                })
        }
        guard errno == 0 else { throw .system(operation: "list", path: path, code: errno) }
        return names
    }

    private func fullPath(_ name: String) throws(StateError) -> String {
        guard Self.isName(name) else { throw .badName(name) }
        return "\(path)/\(name)"
    }

    /// 1 to 120 of `a-z A-Z 0-9 . _ -`, not starting with a point.
    static func isName(_ name: String) -> Bool {
        (1...120).contains(name.utf8.count) && !name.hasPrefix(".")
            && name.utf8.allSatisfy {
                ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x41 && $0 <= 0x5A) || ($0 >= 0x30 && $0 <= 0x39)
                    || $0 == 0x2E || $0 == 0x5F || $0 == 0x2D
            }
    }
}
