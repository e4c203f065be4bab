public import Ambient
import Synchronization

/// A socket as the carrier uses it.
public protocol RelaySocket: Sendable {
    /// Queues one binary message; dropped when it does not fit or the socket is not open.
    func send(_ bytes: [UInt8]) -> Bool
    /// Asks for a `pong`.
    func ping() -> Bool
    /// Ends the socket. One that is still being dialled never opens.
    func close()
    /// Returns once the socket has ended.
    func waitUntilEnded() async
}

extension WebSocketConnection: RelaySocket {
    public func close() { close(code: 1000, reason: "") }
}

/// Makes sockets to one relay: over the network, or in memory for tests.
public protocol RelayDialer: Sendable {
    /// Dials the path and returns at once; `handler` is told how it goes.
    func dial(path: String, handler: @escaping @Sendable (WebSocketEvent) -> Void) -> any RelaySocket
}

/// The carrier over the relay: joins the room of the hour, and comes back to it.
///
/// The rules are `RelayMachine`'s; here are the socket, the clock and the task.
public final class RelayCarrier: Carrier {
    private enum Input: Sendable {
        case socket(Int, WebSocketEvent)
        case redial
        case proven
    }

    private let dialer: any RelayDialer
    private let path: @Sendable (Int64) -> String?
    private let numbers: RelaySettings.Numbers
    private let ambient: Ambient
    private let current = Mutex<(any RelaySocket)?>(nil)
    private let hasRun = Mutex(false)
    private let inputs = BoundedInbox<Input>(bound: 1_024) { input in
        if case .socket(_, .message) = input { .droppable } else { .kept }
    }
    private let outputs = BoundedInbox<CarrierEvent>(bound: 1_024) { event in
        switch event {
        case .message: .droppable
        case .joined, .ready, .gone: .kept
        case .lost: .breaking
        }
    }

    /// A carrier over the network.
    ///
    /// - Parameters:
    ///   - settings: Where the relay is and which room.
    ///   - loop: Whose thread serves the socket; must outlive `run()`.
    ///   - ambient: Clocks, log and chance.
    public convenience init(settings: RelaySettings, loop: WebSocketLoop, ambient: Ambient) {
        let (secret, end) = (settings.secret, settings.end)
        self.init(
            dialer: NetworkDialer(loop: loop, url: settings.url, caFile: settings.caFile),
            numbers: settings.numbers, ambient: ambient,
            path: { epoch in
                guard let handle = try? Rendezvous.handle(secret: secret, epoch: epoch) else { return nil }
                return Rendezvous.path(epoch: epoch, handle: handle, end: end)
            })
    }

    /// A carrier over any sockets.
    ///
    /// - Parameters:
    ///   - dialer: Makes the sockets.
    ///   - numbers: Time-outs and bounds.
    ///   - ambient: Clocks, log and chance.
    ///   - path: The path for an epoch; `nil` when there is none.
    public init(
        dialer: any RelayDialer, numbers: RelaySettings.Numbers, ambient: Ambient,
        path: @escaping @Sendable (Int64) -> String?
    ) {
        self.dialer = dialer
        self.numbers = numbers
        self.ambient = ambient
        self.path = path
    }

    /// Every event, for one consumer; ends when `run()` returns.
    ///
    /// A consumer that falls more than 1,024 events behind loses the oldest
    /// messages, never a word about the room; and what lies before a loss of
    /// the socket is dropped first, since it is of no use after it.
    public var events: AsyncStream<CarrierEvent> {
        let outputs = self.outputs
        return AsyncStream { await outputs.next() }
    }

    /// Messages that were dropped because nobody read them in time.
    public var droppedCount: Int { inputs.droppedCount + outputs.droppedCount }

    public func send(_ bytes: [UInt8]) {
        let socket = current.withLock { $0 }
        _ = socket?.send(bytes)
    }
    public func redial() { inputs.push(.redial) }
    public func pathProven() { inputs.push(.proven) }

    /// Dials and redials until the task is cancelled. For one call; a second
    /// one returns at once, because two dialers would sit in the room twice.
    public func run() async {
        let isFirst = hasRun.withLock { hasRun in
            defer { hasRun = true }
            return !hasRun
        }
        guard isFirst else { return }
        var work = Work(machine: RelayMachine(numbers: numbers), reporter: LossReporter(log: ambient.log))
        feed(.started, to: &work)
        while !Task.isCancelled {
            if let input = inputs.poll() {
                switch input {
                case .socket(let id, let event):
                    switch event {
                    case .closed, .failed: work.sockets[id] = nil
                    case .opened, .text, .message, .pong: break
                    }
                    feed(.socket(id, event), to: &work)
                case .redial: feed(.redialRequested, to: &work)
                case .proven: feed(.pathProven, to: &work)
                }
            } else if let deadline = work.machine.deadline, deadline <= ambient.time.monotonic {
                feed(.timerFired, to: &work)
            } else {
                await waitForInput(until: work.machine.deadline)
            }
        }
        current.withLock { $0 = nil }
        inputs.finish()
        for socket in work.sockets.values { socket.close() }
        for socket in work.sockets.values { await socket.waitUntilEnded() }
        outputs.finish()
    }

    /// What belongs to one `run()`.
    private struct Work {
        var machine: RelayMachine
        var reporter: LossReporter
        var sockets: [Int: any RelaySocket] = [:]
        var dialled = 0
    }

    private func moment() -> RelayMachine.Moment {
        .init(monotonic: ambient.time.monotonic, wall: ambient.time.wall, chance: ambient.chance())
    }

    private func waitForInput(until deadline: Duration?) async {
        guard let deadline else { return await inputs.waitForMore() }
        let (inputs, time) = (self.inputs, ambient.time)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await inputs.waitForMore() }
            group.addTask { try? await time.sleep(until: deadline) }
            await group.next()
            group.cancelAll()
        }
    }

    private func feed(_ event: RelayMachine.Event, to work: inout Work) {
        for action in work.machine.handle(event, at: moment()) {
            switch action {
            case .dial(let id, let epoch):
                work.dialled = id
                guard let path = path(epoch) else {
                    feed(.roomUnknown(id), to: &work)
                    continue
                }
                let inputs = self.inputs
                work.sockets[id] = dialer.dial(path: path) { inputs.push(.socket(id, $0)) }
            case .close(let id):
                current.withLock { $0 = nil }
                work.sockets[id]?.close()
            case .ping(let id): _ = work.sockets[id]?.ping()
            case .emit(let event):
                switch event {
                // Only now: what was sent before the room was joined is dropped (FTW wire §1.8).
                case .joined:
                    let socket = work.sockets[work.dialled]
                    current.withLock { $0 = socket }
                case .lost: current.withLock { $0 = nil }
                case .ready, .gone, .message: break
                }
                work.reporter.note(event)
                outputs.push(event)
            }
        }
    }
}

/// One log line when the relay goes and one when it is back.
private struct LossReporter {
    let log: Log
    private var last: CarrierLoss.Cause?

    init(log: Log) { self.log = log }

    mutating func note(_ event: CarrierEvent) {
        switch event {
        case .joined:
            if last != .rotated { log.notice("relay: connected") }
            last = nil
        case .lost(let loss) where loss.cause == .rotated:
            log.debug("relay: \(loss.sentence)")
            last = last ?? .rotated
        case .lost(let loss):
            if last != loss.cause { log.warning("relay: \(loss.sentence)") }
            last = loss.cause
        case .ready, .gone, .message: break
        }
    }
}

private struct NetworkDialer: RelayDialer {
    let loop: WebSocketLoop
    let url: WebSocketURL
    let caFile: String?

    func dial(path: String, handler: @escaping @Sendable (WebSocketEvent) -> Void) -> any RelaySocket {
        loop.connect(to: url, path: path, caFile: caFile, handler: handler)
    }
}
