import CLinux
import Glibc
import Synchronization

/// The signals a daemon answers to, as a stream.
///
/// All of them are blocked in every thread and fetched by one thread of its own,
/// so no code of ours ever runs inside a signal handler.
enum Signals {
    enum Signal: Sendable, Equatable {
        /// SIGTERM or SIGINT: end in good order.
        case stop
        /// SIGHUP: read the configuration again.
        case reload
    }

    private static let streams = Mutex<[AsyncStream<Signal>.Continuation]>([])
    private static let started = Mutex(false)

    /// Blocks the signals for every thread that is started from now on. Call first in `main`.
    static func prepare() {
        let first = started.withLock { started -> Bool in
            defer { started = true }
            return !started
        }
        guard first else { return }
        var set = Self.set
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        var thread = pthread_t()
        pthread_create(&thread, nil, signalThread, nil)
        pthread_detach(thread)
    }

    /// Every signal from now on; ends with the process.
    static func stream() -> AsyncStream<Signal> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Signal.self, bufferingPolicy: .bufferingNewest(8))
        streams.withLock { $0.append(continuation) }
        return stream
    }

    fileprivate static var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, number) }
        return set
    }

    fileprivate static func deliver(_ number: Int32) {
        let signal: Signal = number == SIGHUP ? .reload : .stop
        for stream in streams.withLock({ $0 }) { stream.yield(signal) }
    }
}

private func signalThread(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    var stops = 0
    while true {
        var set = Signals.set
        var number: Int32 = 0
        guard sigwait(&set, &number) == 0 else { continue }
        if number != SIGHUP {
            stops += 1
            // Somebody who asks three times does not want good order any more.
            if stops >= 3 { _exit(130) }
        }
        Signals.deliver(number)
    }
}
