import CLinux
import Dispatch
import Glibc
import Synchronization

/// A program we started and end again, by its pid.
///
/// It also ends with us when we are killed. The kernel ties that promise to the
/// thread that started it, so each child has a thread of its own that starts
/// it and then waits for its end.
final class ChildProcess: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var pid: pid_t = 0
        var error: Int32 = 0
        var hasEnded = false
    }
    private let state = Mutex(State())
    private let started = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let words: [String]
    private let logPath: String

    /// Starts `program` with `arguments`; its output goes to `logPath`, or nowhere.
    init(program: String, arguments: [String], logPath: String? = nil) throws(Failure) {
        words = ["/usr/bin/setpriv", "--pdeathsig", "TERM", program] + arguments
        self.logPath = logPath ?? "/dev/null"
        var thread = pthread_t()
        guard pthread_create(&thread, nil, childThread, Unmanaged.passRetained(self).toOpaque()) == 0 else {
            throw Failure(description: "cannot start \(program): no thread")
        }
        pthread_detach(thread)
        started.wait()
        let error = state.withLock { $0.error }
        guard error == 0 else {
            throw Failure(description: "cannot start \(program): \(String(cString: strerror(error)))")
        }
    }

    var pid: pid_t { state.withLock { $0.pid } }
    /// True while it has not ended.
    var isRunning: Bool { state.withLock { !$0.hasEnded } }

    /// Asks it to end, and waits until it has.
    func stop() {
        // Under the lock, so that the pid cannot belong to somebody else by now.
        state.withLock { state in
            if !state.hasEnded { _ = kill(state.pid, SIGTERM) }
        }
        ended.wait()
        ended.signal()
    }

    fileprivate func run() {
        var pid = pid_t()
        let error = spawn(&pid)
        state.withLock { $0 = State(pid: pid, error: error, hasEnded: error != 0) }
        started.signal()
        if error == 0 {
            // Wait without reaping first: until `hasEnded` is set the pid stays ours.
            var info = siginfo_t()
            while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            state.withLock { $0.hasEnded = true }
            var status: Int32 = 0
            waitpid(pid, &status, 0)
        }
        ended.signal()
    }

    private func spawn(_ pid: inout pid_t) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, logPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Libraries open sockets that would live on in it, listening ones among them.
        _ = clinux_close_from(&actions, 3)
        // The signals that we block for ourselves must reach the child, and a
        // Ctrl-C at the terminal must not: we end it in order.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        var argv: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        argv.append(nil)
        defer { for word in argv { free(word) } }
        return posix_spawn(&pid, words[0], &actions, &attributes, argv, clinux_environment())
    }
}

private func childThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<ChildProcess>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
