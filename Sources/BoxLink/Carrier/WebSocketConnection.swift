import Synchronization

/// One socket, dialled or accepted. May be used from any thread.
///
/// Nothing here touches the network: what is to be written is queued, and the
/// socket thread picks it up.
public final class WebSocketConnection: Sendable {
    enum Item: Sendable, Equatable {
        case binary([UInt8])
        case text([UInt8])
        case ping

        var count: Int {
            switch self {
            case .binary(let bytes), .text(let bytes): bytes.count
            case .ping: 0
            }
        }
    }
    /// How the socket is to end.
    enum Ending: Sendable, Equatable {
        case close(code: UInt16, reason: String)
        /// Without a close frame, as if the cable had been cut.
        case terminate
    }
    private struct State {
        var queue: [Item] = []
        var head = 0
        var bytes = 0
        var signalled = false
        var ending: Ending?
        var ended = false
        var refused = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Unique within one loop.
    let id: Int
    /// The path an accepted socket asked for, query included; of a dialled one, the path asked for.
    public let path: String
    /// The address of the peer of an accepted socket; of a dialled one, host and port.
    public let peer: String
    let limits: WebSocketLimits
    private let core: WebSocketLoop.Core
    private let state = Mutex(State())

    init(id: Int, path: String, peer: String, limits: WebSocketLimits, core: WebSocketLoop.Core) {
        self.id = id
        self.path = path
        self.peer = peer
        self.limits = limits
        self.core = core
    }

    /// Queues one binary message.
    ///
    /// - Returns: Whether it was queued. A message that does not fit into the
    ///   bounds is not sent: frames are never repeated (FTW wire §1.8), and the
    ///   session above notices a gap by itself.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool { queue(.binary(bytes)) }

    /// Queues one text message. A relay may; a client never does (FTW wire §1.3).
    @discardableResult
    public func sendText(_ text: String) -> Bool { queue(.text(Array(text.utf8))) }

    /// Asks the peer for a sign of life, `pong`.
    @discardableResult
    public func ping() -> Bool { queue(.ping) }

    /// Ends the socket with a close frame; what is still queued is not sent.
    ///
    /// A socket that is still being dialled never opens.
    public func close(code: UInt16 = 1000, reason: String = "") {
        end(.close(code: code, reason: reason))
    }

    /// Ends the socket without a word, as a crash would.
    public func terminate() { end(.terminate) }

    /// Returns once the socket has ended and its last event was delivered.
    public func waitUntilEnded() async {
        await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
            let now = state.withLock { state -> Bool in
                if state.ended { return true }
                state.waiters.append(waiter)
                return false
            }
            if now { waiter.resume() }
        }
    }

    /// Bytes that wait to be written.
    public var queuedBytes: Int { state.withLock { $0.bytes } }
    /// Messages that did not fit into the queue so far.
    public var refusedCount: Int { state.withLock { $0.refused } }

    private func queue(_ item: Item) -> Bool {
        let (accepted, wake) = state.withLock { state -> (Bool, Bool) in
            guard state.ending == nil, !state.ended else { return (false, false) }
            guard state.queue.count - state.head < limits.queuedMessages,
                limits.queuedBytes - state.bytes >= item.count
            else {
                state.refused += 1
                return (false, false)
            }
            state.queue.append(item)
            state.bytes += item.count
            defer { state.signalled = true }
            return (true, !state.signalled)
        }
        if wake { core.submit(.writable(id)) }
        return accepted
    }

    private func end(_ ending: Ending) {
        let wake = state.withLock { state -> Bool in
            guard state.ending == nil, !state.ended else { return false }
            state.ending = ending
            state.queue.removeAll()
            state.head = 0
            state.bytes = 0
            return true
        }
        if wake { core.submit(.end(id)) }
    }

    // MARK: for the socket thread

    var ending: Ending? { state.withLock { $0.ending } }

    /// The next thing to write, and whether more waits behind it.
    func take() -> (item: Item, more: Bool)? {
        state.withLock { state in
            guard state.head < state.queue.count else {
                state.signalled = false
                return nil
            }
            let item = state.queue[state.head]
            state.head += 1
            state.bytes -= item.count
            let more = state.head < state.queue.count
            if !more {
                state.queue.removeAll(keepingCapacity: state.head <= 64)
                state.head = 0
                state.signalled = false
            } else if state.head > 64 {
                state.queue.removeFirst(state.head)
                state.head = 0
            }
            return (item, more)
        }
    }

    func ended() {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.ended = true
            state.queue.removeAll()
            state.bytes = 0
            defer { state.waiters.removeAll() }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
