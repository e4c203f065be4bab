import FoundationEssentials
import Glibc

/// Something a test needed from the machine and did not get.
struct TestSetupError: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// A program this test started; ended by its process id, never by name.
struct Child: Sendable {
    let pid: pid_t

    /// - Parameters:
    ///   - path: The program's file.
    ///   - output: A file that takes its output and its errors.
    ///   - input: A file that it reads from.
    ///   - variables: What is otherwise in its environment; `nil` takes a variable away.
    init(
        _ path: String, _ arguments: [String], output: String, input: String = "/dev/null",
        variables: [String: String?] = [:]
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Libraries open sockets that would live on in it, listening ones among them.
        for descriptor in Int32(3)..<512 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        // The child starts with no signal blocked, whatever thread starts it.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pointers: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var surroundings = ProcessInfo.processInfo.environment
        for (name, value) in variables { surroundings[name] = value }  // nil takes it away
        var words: [UnsafeMutablePointer<CChar>?] =
            surroundings.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let rc = posix_spawn(&pid, path, &actions, &attributes, &pointers, &words)
        guard rc == 0 else { throw TestSetupError("\(path) does not start: error \(rc)") }
        self.pid = pid
    }

    /// Runs a program to its end.
    static func run(_ path: String, _ arguments: [String], output: String) throws {
        let status = try Child(path, arguments, output: output).wait()
        guard status == 0 else { throw TestSetupError("\(path) failed, see \(output)") }
    }

    func signal(_ number: Int32) { kill(pid, number) }

    /// Waits for its end; for a program that ends soon.
    @discardableResult
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// Waits for its end without holding a thread that others work on.
    ///
    /// - Returns: Its exit code, or minus the signal that ended it.
    func ended(within limit: Duration = .seconds(60)) async throws -> Int32 {
        let deadline = ContinuousClock.now + limit
        var status: Int32 = 0
        while waitpid(pid, &status, WNOHANG) != pid {
            guard ContinuousClock.now < deadline else {
                signal(SIGKILL)
                wait()
                throw TestSetupError("process \(pid) did not end")
            }
            try await Task.sleep(for: .milliseconds(30))
        }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
    }

    /// Asks it to end, insists after five seconds, and waits until it has.
    func end() {
        signal(SIGTERM)
        var status: Int32 = 0
        for _ in 0..<500 {
            if waitpid(pid, &status, WNOHANG) == pid { return }
            usleep(10_000)
        }
        signal(SIGKILL)
        wait()
    }
}

/// The process the tests run in.
enum TestProcess {
    /// The numbers of `/proc/self/statm`, in pages (proc(5)).
    static func statm() throws -> [Int] {
        guard let file = fopen("/proc/self/statm", "r") else { throw TestSetupError("no /proc/self/statm") }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else {
            throw TestSetupError("/proc/self/statm is empty")
        }
        let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    }
}
