import Glibc
import Synchronization

/// One thread that serves any number of sockets, dialled and accepted.
///
/// The thread starts with the first socket and ends with `stop()`; a loop that
/// was stopped stays stopped. Handlers are called on that thread, one at a time
/// and in order; they must return soon and may use any socket.
///
/// Have one per process: libwebsockets numbers its TLS data once for all loops,
/// and a loop that starts during another's TLS handshake makes that one fail.
public final class WebSocketLoop: Sendable {
    let core = Core()

    public init() {}

    deinit { core.requestStop() }

    /// Dials, and tells `handler` how it went.
    ///
    /// - Parameters:
    ///   - url: Where to.
    ///   - path: The path to ask for; begins with `/`.
    ///   - caFile: A PEM file; its authorities are trusted instead of the system's.
    ///   - limits: The bounds of this socket.
    ///   - handler: Called on the loop's thread, last with `failed` or `closed`.
    /// - Returns: The socket, which may still fail to open.
    public func connect(
        to url: WebSocketURL, path: String, caFile: String? = nil, limits: WebSocketLimits = .init(),
        handler: @escaping @Sendable (WebSocketEvent) -> Void
    ) -> WebSocketConnection {
        let connection = WebSocketConnection(
            id: core.newID(), path: path, peer: "\(url.host):\(url.port)", limits: limits, core: core)
        core.submit(.prepare(Core.Dial(connection: connection, url: url, caFile: caFile, handler: handler)))
        let core = self.core
        NameLookup.addresses(of: url.host) { result in
            core.submit(.connect(connection.id, result))
        }
        return connection
    }

    /// Closes every socket and ends the thread; returns when it has ended.
    public func stop() async { await core.stop() }

    /// What the threads share: a queue of commands and a way to wake the socket thread.
    final class Core: Sendable {
        struct Dial: Sendable {
            let connection: WebSocketConnection
            let url: WebSocketURL
            let caFile: String?
            let handler: @Sendable (WebSocketEvent) -> Void
        }
        struct Listen: Sendable {
            let id: Int
            let settings: WebSocketServerSettings
            let handler: @Sendable (WebSocketConnection, WebSocketEvent) -> Void
            let answer: @Sendable (String) -> WebSocketServer.Answer
            let done: @Sendable (Result<Int, WebSocketServerError>) -> Void
        }
        enum Command: Sendable {
            /// Makes the socket known, so that an end that comes before the connect is not lost.
            case prepare(Dial)
            case connect(Int, Result<[String], WebSocketFailure>)
            case writable(Int)
            case end(Int)
            case listen(Listen)
            case unlisten(Int, done: @Sendable () -> Void)
        }
        private struct State {
            var commands: [Command] = []
            var nextID = 0
            var started = false
            var stopping = false
            var ended = false
            var waker: WebSocketLibrary.Waker?
            var thread: pthread_t?
            var waiters: [CheckedContinuation<Void, Never>] = []
        }
        private let state = Mutex(State())

        func newID() -> Int {
            state.withLock { state in
                state.nextID += 1
                return state.nextID
            }
        }

        func submit(_ command: Command) {
            let accepted = state.withLock { state -> Bool in
                guard !state.stopping else { return false }
                state.commands.append(command)
                if !state.started { startThread(&state) }
                // Under the lock, so that the context cannot be destroyed meanwhile.
                state.waker?.wake()
                return !state.stopping
            }
            if !accepted { Self.refuse(command) }
        }

        func requestStop() {
            state.withLock { state in
                state.stopping = true
                if let thread = state.thread { pthread_detach(thread) }
                state.thread = nil
                state.waker?.wake()
            }
        }

        func stop() async {
            await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
                let now = state.withLock { state -> Bool in
                    state.stopping = true
                    state.waker?.wake()
                    if !state.started || state.ended { return true }
                    state.waiters.append(waiter)
                    return false
                }
                if now { waiter.resume() }
            }
            // Its last act was to wake us, so this does not wait for anything that takes time.
            let thread = state.withLock { state -> pthread_t? in
                defer { state.thread = nil }
                return state.thread
            }
            if let thread { pthread_join(thread, nil) }
        }

        private func startThread(_ state: inout State) {
            state.started = true
            let me = Unmanaged.passRetained(self)
            var thread = pthread_t()
            if pthread_create(&thread, nil, loopMain, me.toOpaque()) == 0 {
                state.thread = thread
            } else {
                me.release()
                state.stopping = true
                state.ended = true
            }
        }

        fileprivate func runThread() {
            let engine = WebSocketEngine(core: self)
            state.withLock { $0.waker = engine?.waker }
            while let engine {
                let (commands, stopping) = state.withLock { state in
                    defer { state.commands.removeAll() }
                    return (state.commands, state.stopping)
                }
                for command in commands { engine.perform(command) }
                if stopping { break }
                engine.service()
            }
            let rest = state.withLock { state in
                state.stopping = true
                state.waker = nil
                defer { state.commands.removeAll() }
                return state.commands
            }
            engine?.shutDown()
            for command in rest { Self.refuse(command) }
            let waiters = state.withLock { state in
                state.ended = true
                defer { state.waiters.removeAll() }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }

        /// Answers a command that no thread will ever carry out.
        private static func refuse(_ command: Command) {
            switch command {
            case .prepare(let dial):
                dial.handler(
                    .failed(WebSocketFailure(kind: .unreachable, detail: "the socket loop was stopped")))
                dial.connection.ended()
            case .listen(let listen): listen.done(.failure(.stopped))
            case .unlisten(_, let done): done()
            case .connect, .writable, .end: break
            }
        }
    }
}

private func loopMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<WebSocketLoop.Core>.fromOpaque(argument).takeRetainedValue().runThread()
    return nil
}
