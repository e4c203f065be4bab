import Glibc

/// The few system calls by which a file comes to be, as values, so that a test
/// can make each of them fail or the process "die" between two of them.
///
/// Each returns a negative number, or `nil`, and sets `errno`, as the calls themselves do.
struct FileOperations: Sendable {
    var write: @Sendable (_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int = {
        Glibc.write($0, $1.baseAddress, $1.count)
    }
    var sync: @Sendable (_ file: Int32) -> Int32 = { fsync($0) }
    var rename: @Sendable (_ folder: Int32, _ from: String, _ to: String) -> Int32 = {
        renameat($0, $1, $0, $2)
    }
    /// On success the descriptor belongs to the listing (fdopendir(3)).
    var list: @Sendable (_ folder: Int32) -> OpaquePointer? = { fdopendir($0) }
    var unlink: @Sendable (_ folder: Int32, _ name: String) -> Int32 = { unlinkat($0, $1, 0) }
}

/// The system's words and numbers, for texts.
enum SystemText {
    static let noSpace = ENOSPC
    static let quota = EDQUOT
    static let readOnly = EROFS

    static func isDenial(_ code: Int32) -> Bool { code == EACCES || code == EPERM }

    static func words(_ code: Int32) -> String {
        switch code {
        case ENOSPC: "no space left on the disk"
        case EACCES, EPERM: "not permitted"
        case ENOENT: "there is no such file or folder"
        default:
            strerror(code).map { String(cString: $0) } ?? "error \(code)"
        }
    }

    /// The account's name, else its number.
    static func user(_ id: uid_t) -> String {
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 4_096)
        guard getpwuid_r(id, &record, &buffer, buffer.count, &found) == 0, found != nil,
            let name = record.pw_name
        else { return "user \(id)" }
        return String(cString: name)
    }

    /// The group's name, else its number, which install(1) takes too.
    static func group(_ id: gid_t) -> String {
        var record = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getgrgid_r(id, &record, &buffer, buffer.count, &found) == 0, found != nil,
            let name = record.gr_name
        else { return "\(id)" }
        return String(cString: name)
    }
}
