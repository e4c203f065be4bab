import CLinux
import Glibc
import Synchronization

/// The signals a process answers to.
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

    private struct State: Sendable {
        var desk = SignalDesk()
        var listener: AsyncStream<Signal>.Continuation?
    }
    private static let state = Mutex(State())

    /// Blocks the signals for this thread and every one that is started from now
    /// on. Call first, on the main thread.
    static func block() {
        var set = Self.set
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Says whether what is carried out will ask for ``stream()``. Where nothing
    /// does, a signal ends the process at once. Call before ``serve()``.
    static func expect(listener isExpected: Bool) {
        state.withLock { $0.desk.isListenerExpected = isExpected }
    }

    /// Fetches signals on the main thread until the process ends.
    ///
    /// It has to be the main one. Swift's own way of parking it while tasks run
    /// waits with every signal let in, whatever was blocked, and the first
    /// SIGTERM would end the process without a goodbye.
    static func serve() -> Never {
        while true {
            var set = Self.set
            var number: Int32 = 0
            guard sigwait(&set, &number) == 0 else { continue }
            let (action, listener) = state.withLock { ($0.desk.arrived(number), $0.listener) }
            switch action {
            case .tell(let signal): listener?.yield(signal)
            case .keep: break
            // Nothing was changed at the terminal that would have to be put back.
            case .end(let code): _exit(code)
            }
        }
    }

    /// Every signal since the process began, for its one listener; ends with the process.
    static func stream() -> AsyncStream<Signal> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Signal.self, bufferingPolicy: .bufferingNewest(8))
        state.withLock { state in
            for signal in state.desk.listens() { continuation.yield(signal) }
            state.listener = continuation
        }
        return stream
    }

    private static var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, number) }
        return set
    }
}

/// What becomes of a signal. Pure.
struct SignalDesk: Sendable {
    enum Action: Equatable {
        case tell(Signals.Signal)
        /// Somebody is about to listen, and will hear it then.
        case keep
        /// End the process with this exit code, as a shell has it: 128 and the signal's number.
        case end(Int32)
    }

    /// Whether somebody listens or is about to. Nobody does where there is no
    /// good order to end in: whoever interrupts such a command wants its end.
    var isListenerExpected: Bool
    private var isHeard = false
    private var kept: [Signals.Signal] = []
    private var stops = 0

    init(isListenerExpected: Bool = false) { self.isListenerExpected = isListenerExpected }

    mutating func arrived(_ number: Int32) -> Action {
        let signal: Signals.Signal = number == SIGHUP ? .reload : .stop
        if signal == .stop { stops += 1 }
        // Somebody who asks three times does not want good order any more.
        guard isListenerExpected, stops < 3 else { return .end(128 + number) }
        guard !isHeard else { return .tell(signal) }
        if !kept.contains(signal) { kept.append(signal) }
        return .keep
    }

    /// - Returns: What came before, in order, each once.
    mutating func listens() -> [Signals.Signal] {
        isHeard = true
        defer { kept = [] }
        return kept
    }
}
