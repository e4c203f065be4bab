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

    /// What the file holds; `nil` when there is none yet.
    ///
    /// - Throws: `Failure` for a file that cannot be read or holds something else.
    func load() throws(Failure) -> BoxRecord? {
        guard access(path, F_OK) == 0 else { return nil }
        guard let bytes = FileManager.default.contents(atPath: path), bytes.count <= 1 << 20 else {
            throw Failure(description: "\(path) cannot be read")
        }
        guard let document = try? JSONValue(parsing: bytes), let record = BoxRecord(document) else {
            throw Failure(description: "\(path) is not the file of a demo's box; name another, or remove it")
        }
        return record
    }

    /// Writes it whole, for the owner's eyes only.
    ///
    /// - Throws: `Failure`.
    func save(_ record: BoxRecord) throws(Failure) {
        let new = path + ".new"
        func failed() -> Failure {
            Failure(description: "\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard file >= 0 else { throw failed() }
        let bytes = record.document.bytes
        let written = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        guard close(file) == 0, written == bytes.count, rename(new, path) == 0 else { throw failed() }
    }
}
