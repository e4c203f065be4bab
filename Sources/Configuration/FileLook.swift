import Glibc

/// How the configuration looks at files. A test hands in its own.
public struct FileLook: Sendable {
    /// What is known about a file that could be opened for reading.
    public struct Facts: Sendable, Equatable {
        public var isRegular: Bool
        /// Permission bits, such as `0o640`.
        public var mode: UInt32
        public var size: Int

        public init(isRegular: Bool, mode: UInt32, size: Int) {
            self.isRegular = isRegular
            self.mode = mode
            self.size = size
        }
    }
    /// Why a file cannot be read.
    public enum Failure: Error, Sendable, Equatable {
        case missing
        case notPermitted
        /// The system's own words.
        case other(String)
    }

    /// Facts about a file, following links; it must be readable.
    public var facts: @Sendable (_ path: String) -> Result<Facts, Failure>
    /// Its content, at most so many bytes of it.
    public var read: @Sendable (_ path: String, _ limit: Int) -> Result<[UInt8], Failure>

    public init(
        facts: @escaping @Sendable (_ path: String) -> Result<Facts, Failure>,
        read: @escaping @Sendable (_ path: String, _ limit: Int) -> Result<[UInt8], Failure>
    ) {
        self.facts = facts
        self.read = read
    }

    /// The machine's files.
    public static let disk = FileLook(facts: { Disk.facts($0) }, read: { Disk.read($0, limit: $1) })
}

private enum Disk {
    static func facts(_ path: String) -> Result<FileLook.Facts, FileLook.Failure> {
        opened(path) { descriptor in
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return .failure(failure()) }
            return .success(
                .init(
                    isRegular: status.st_mode & S_IFMT == S_IFREG, mode: status.st_mode & 0o7777,
                    size: Int(status.st_size)))
        }
    }

    static func read(_ path: String, limit: Int) -> Result<[UInt8], FileLook.Failure> {
        opened(path) { descriptor in
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 16_384)
            while bytes.count < limit {
                let count = Glibc.read(descriptor, &chunk, min(chunk.count, limit - bytes.count))
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return .failure(failure()) }
                if count == 0 { break }
                bytes += chunk.prefix(count)
            }
            return .success(bytes)
        }
    }

    /// Does not wait for a writer when the path is a pipe.
    private static func opened<T>(
        _ path: String, _ body: (Int32) -> Result<T, FileLook.Failure>
    ) -> Result<T, FileLook.Failure> {
        guard !path.utf8.contains(0) else { return .failure(.missing) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return .failure(failure()) }
        defer { close(descriptor) }
        return body(descriptor)
    }

    private static func failure() -> FileLook.Failure {
        switch errno {
        case ENOENT, ENOTDIR: .missing
        case EACCES, EPERM: .notPermitted
        case let code: .other(String(cString: strerror(code)))
        }
    }
}
