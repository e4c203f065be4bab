import FoundationEssentials
import Glibc
import Synchronization

/// The real program, as a person or a service manager starts it, with a
/// configuration and a state folder of its own.
final class Program: Sendable {
    let folder: TestFolder
    private let runs = Mutex<(count: Int, children: [Child])>((0, []))

    init(_ folder: TestFolder) { self.folder = folder }

    deinit {
        // A test that failed half way leaves nothing running.
        for child in runs.withLock({ $0.children }) where waitpid(child.pid, nil, WNOHANG) == 0 {
            child.signal(SIGKILL)
            child.wait()
        }
    }

    /// Beside the tests, where the package manager builds both.
    static func path() throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = tests.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let path = (folder + ["ftw-mqtt"]).joined(separator: "/")
        guard access(path, X_OK) == 0 else {
            throw TestSetupError("there is no program at \(path); build it with: swift build --build-tests")
        }
        return path
    }

    var config: String { "\(folder.path)/config.yaml" }
    var stateFolder: String { "\(folder.path)/state" }

    /// Writes the configuration. The password, if any, goes in a file of its own.
    func configure(
        broker: Int, relay: Int, user: String? = nil, password: String? = nil, more: String = ""
    ) throws {
        var mqtt = "mqtt:\n  host: 127.0.0.1\n  port: \(broker)\n"
        if let user, let password {
            try folder.write("password", password)
            chmod("\(folder.path)/password", 0o600)
            mqtt += "  user: \(user)\n  password_file: password\n"
        }
        try folder.write(
            "config.yaml",
            """
            state_dir: \(stateFolder)
            log:
              level: debug
            relay:
              url: ws://127.0.0.1:\(relay)
            \(mqtt)\(more)
            """)
        chmod(config, 0o600)
    }

    struct Run: Sendable {
        let child: Child
        let folder: TestFolder
        let name: String

        /// Everything it said so far.
        var output: String { folder.read(name) }
    }

    /// Starts it with the configuration.
    func start(
        _ arguments: [String], input: String? = nil, configured: Bool = true,
        variables: [String: String?] = [:]
    ) throws -> Run {
        let number = runs.withLock { runs in
            runs.count += 1
            return runs.count
        }
        var stdin = "/dev/null"
        if let input {
            stdin = "\(folder.path)/input-\(number)"
            try folder.write("input-\(number)", input)
        }
        var surroundings: [String: String?] = ["NOTIFY_SOCKET": nil, "JOURNAL_STREAM": nil]
        surroundings["SWIFT_BACKTRACE"] = "enable=no"
        surroundings.merge(variables) { _, new in new }
        let child = try Child(
            try Self.path(), arguments + (configured ? ["--config", config] : []),
            output: "\(folder.path)/output-\(number)", input: stdin, variables: surroundings)
        runs.withLock { $0.children.append(child) }
        return Run(child: child, folder: folder, name: "output-\(number)")
    }

    /// Runs it to its end.
    func run(_ arguments: [String], input: String? = nil, configured: Bool = true) async throws -> (
        code: Int32, output: String
    ) {
        let run = try start(arguments, input: input, configured: configured)
        let code = try await run.child.ended(within: .seconds(90))
        return (code, run.output)
    }
}

/// What a service manager gives a service to speak to it (sd_notify(3)).
final class NotifySocket: Sendable {
    let path: String
    private let descriptor: Int32
    private let heard = Mutex<[String]>([])

    init(in folder: TestFolder) throws {
        path = "\(folder.path)/notify"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { throw TestSetupError("no socket: error \(errno)") }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw TestSetupError("cannot listen on \(path): error \(errno)") }
    }

    deinit { close(descriptor) }

    /// Every line so far, in order.
    func lines() -> [String] {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            let text = String(decoding: buffer[..<count], as: UTF8.self)
            heard.withLock { $0 += text.split(separator: "\n").map(String.init) }
        }
        return heard.withLock { $0 }
    }
}
