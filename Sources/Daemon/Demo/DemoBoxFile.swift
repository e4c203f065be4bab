import BoxSimulator
import FoundationEssentials
import Glibc
import JSONText

/// Where a demo's box keeps who it is, so that it comes back as the same one.
struct DemoBoxFile: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
    let path: String
    /// write(2) and fsync(2); a test lets them fail.
    var write: @Sendable (_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int = {
        Glibc.write($0, $1.baseAddress, $1.count)
    }
    var sync: @Sendable (_ file: Int32) -> Int32 = { fsync($0) }

    /// What the file holds; `nil` when there is none yet.
    ///
    /// - Throws: `Failure` for a file that cannot be read or holds something else.
    func load() throws(Failure) -> BoxRecord? {
        if access(path, F_OK) != 0, errno == ENOENT { return nil }
        guard let bytes = FileManager.default.contents(atPath: path), bytes.count <= 1 << 20 else {
            throw Failure(description: "\(path) cannot be read")
        }
        guard let document = try? JSONValue(parsing: bytes), let record = BoxRecord(document) else {
            throw Failure(description: "\(path) is not the file of a demo's box; name another, or remove it")
        }
        return record
    }

    /// Writes it whole, for the owner's eyes only. On return it is on the disk.
    ///
    /// - Throws: `Failure`; what was there before is then still there, and nothing else.
    func save(_ record: BoxRecord) throws(Failure) {
        let new = path + ".new"
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(errno) }
        var code = record.document.bytes.withUnsafeBytes { fill(file, $0) }
        if close(file) != 0, code == 0 { code = errno }
        if code == 0, rename(new, path) != 0 { code = errno }
        guard code == 0 else {
            unlink(new)
            throw failure(code)
        }
        // The name is durable only with the folder.
        let slash = path.lastIndex(of: "/")
        let above = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let folder = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure(errno) }
        defer { close(folder) }
        guard sync(folder) == 0 else { throw failure(errno) }
    }

    /// - Returns: 0, or the `errno` of what failed.
    private func fill(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int32 {
        var rest = UnsafeRawBufferPointer(rebasing: bytes[...])
        while !rest.isEmpty {
            let count = write(file, rest)
            if count < 0, errno == EINTR { continue }
            guard (1...rest.count).contains(count) else { return count < 0 ? errno : EIO }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return sync(file) == 0 ? 0 : errno
    }

    private func failure(_ code: Int32) -> Failure {
        Failure(description: "\(path) cannot be written: \(String(cString: strerror(code)))")
    }
}
