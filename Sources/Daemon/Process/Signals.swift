import CLinux
import Glibc
import Synchronization

/// The signals a daemon answers to, as a stream.
///
/// All of them are blocked in every thread and fetched by the main one, so no
/// code of ours ever runs inside a signal handler.
enum Signals {
    enum Signal: Sendable, Equatable {
        /// SIGTERM or SIGINT: end in good order.
        case stop
        /// SIGHUP: read the configuration again.
        case reload
    }

    private static let streams = Mutex<[AsyncStream<Signal>.Continuation]>([])

    /// Blocks the signals for this thread and every one that is started from now
    /// on. Call first, on the main thread.
    static func block() {
        var set = Self.set
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Fetches signals on the main thread until the process ends.
    ///
    /// It has to be the main one. Swift's own way of parking it while tasks run
    /// waits with every signal let in, whatever was blocked, and the first
    /// SIGTERM would end the process without a goodbye.
    static func serve() -> Never {
        var stops = 0
        while true {
            var set = Self.set
            var number: Int32 = 0
            guard sigwait(&set, &number) == 0 else { continue }
            if number != SIGHUP {
                stops += 1
                // Somebody who asks three times does not want good order any more.
                if stops >= 3 { _exit(130) }
            }
            deliver(number)
        }
    }

    /// Every signal from now on; ends with the process.
    static func stream() -> AsyncStream<Signal> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Signal.self, bufferingPolicy: .bufferingNewest(8))
        streams.withLock { $0.append(continuation) }
        return stream
    }

    private static var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, number) }
        return set
    }

    private static func deliver(_ number: Int32) {
        let signal: Signal = number == SIGHUP ? .reload : .stop
        for stream in streams.withLock({ $0 }) { stream.yield(signal) }
    }
}
