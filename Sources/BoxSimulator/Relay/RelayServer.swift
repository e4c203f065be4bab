public import Ambient
public import BoxLink
import FoundationEssentials
import Synchronization

/// Where a relay listens and how strict it is.
public struct RelayServerSettings: Sendable {
    /// Address, port and certificate.
    public var server = WebSocketServerSettings()
    public var limits = RelayRooms.Limits()
    /// How often sockets are pinged and the hour is looked at.
    public var heartbeat = Contract.Relay.heartbeat
    /// By how many hours the relay's hour is off the clock's; for tests.
    public var epochShift: Int64 = 0

    public init() {}
}

/// A whole relay on loopback (FTW wire §1), for `demo` and for tests.
///
/// The rules are those of `RelayRooms`; here are sockets, clock and heartbeat.
public final class RelayServer: Sendable {
    /// What a relay has seen since it was made.
    public struct Counters: Sendable, Equatable {
        /// Sockets that were opened, the refused ones included.
        public var opened = 0
        /// Close codes that were sent, and how often.
        public var closed: [UInt16: Int] = [:]
        /// Binary messages from a client to a box and the other way; broadcasts count once per client.
        public var forwarded = 0
    }
    private struct State {
        var rooms: RelayRooms
        var sockets: [Int: WebSocketConnection] = [:]
        var ids: [ObjectIdentifier: Int] = [:]
        var nextID = 0
        var epochShift: Int64
        var turnedAt: Duration?
        var counters = Counters()
        var server: WebSocketServer?
        var heart: Task<Void, Never>?
        var fixedPort: Int?
    }

    private let loop: WebSocketLoop
    private let settings: RelayServerSettings
    private let ambient: Ambient
    private let state: Mutex<State>

    /// - Parameters:
    ///   - loop: The loop whose thread serves the sockets.
    ///   - settings: Where to listen, limits, hour.
    ///   - ambient: Clocks and log.
    public init(loop: WebSocketLoop, settings: RelayServerSettings = .init(), ambient: Ambient = Ambient()) {
        self.loop = loop
        self.settings = settings
        self.ambient = ambient
        let epoch = Rendezvous.epoch(at: ambient.time.wall) &+ settings.epochShift
        state = Mutex(
            State(
                rooms: RelayRooms(limits: settings.limits, epoch: epoch), epochShift: settings.epochShift))
    }

    /// The port it listens on, or 0 while it does not.
    public var port: Int { state.withLock { $0.server }?.port ?? 0 }
    /// What it has seen so far.
    public var counters: Counters { state.withLock { $0.counters } }
    /// How many sockets are in rooms: of one end, or of both.
    public func socketCount(end: RelaySettings.End? = nil) -> Int {
        state.withLock { $0.rooms.peers(end: end).count }
    }
    /// The relay's hour.
    public var epoch: Int64 { state.withLock { $0.rooms.epoch } }

    /// Listens and begins to beat; does nothing while it already does. After `stop()` it may be started again, and
    /// then takes the same port as before.
    ///
    /// - Throws: `WebSocketServerError`.
    public func start() async throws(WebSocketServerError) {
        guard state.withLock({ $0.server == nil }) else { return }
        var serverSettings = settings.server
        if let port = state.withLock({ $0.fixedPort }) { serverSettings.port = port }
        serverSettings.limits = WebSocketLimits(
            messageBytes: settings.limits.messageBytes, queuedBytes: Contract.Relay.maxQueued,
            queuedMessages: .max)
        let server = WebSocketServer(
            loop: loop, settings: serverSettings,
            answer: { path in
                path == "/healthz"
                    ? .init(status: 200, body: "ok\n") : .init(status: 426, body: "Upgrade Required\n")
            },
            handler: { [weak self] socket, event in self?.handle(socket, event) })
        // Before it listens: whoever joins in between would be in no room, and never notice.
        state.withLock { state in
            state.rooms = RelayRooms(
                limits: settings.limits, epoch: Rendezvous.epoch(at: ambient.time.wall) &+ state.epochShift)
        }
        try await server.start()
        // Ended by `stop()`, which waits for it.
        let heart = Task { [weak self, ambient, settings] in
            while !Task.isCancelled {
                try? await ambient.time.sleep(for: settings.heartbeat)
                guard !Task.isCancelled, let self else { return }
                self.beat()
            }
        }
        state.withLock { state in
            state.server = server
            state.heart = heart
            state.fixedPort = server.port
        }
    }

    /// Drops everybody without a close frame and stops listening.
    public func stop() async {
        let (server, heart) = state.withLock { state in
            defer {
                state.server = nil
                state.heart = nil
            }
            return (state.server, state.heart)
        }
        heart?.cancel()
        dropAll()
        await server?.stop()
        await heart?.value
    }

    /// Cuts every socket without a close frame, as a crash would; goes on listening.
    public func dropAll() {
        state.withLock { state in perform(state.rooms.dropAll(), &state) }
    }

    /// Turns the hour now and closes the rooms of the old one at once.
    ///
    /// - Parameter delta: By how many hours. Clients follow a relay to at most
    ///   one hour from their own clock; turn back with −1.
    public func rotate(by delta: Int64 = 1) {
        state.withLock { state in
            state.epochShift &+= delta
            state.turnedAt = ambient.time.monotonic - settings.limits.rotationSpread
            turn(&state)
        }
    }

    /// One heartbeat now, out of turn.
    public func beat() { state.withLock { turn(&$0) } }

    private func turn(_ state: inout State) {
        let wall = ambient.time.wall
        let now = ambient.time.monotonic
        let sinceHour = wall.timeIntervalSince1970 - Double(Rendezvous.epoch(at: wall)) * 3_600
        let sinceTurn = state.turnedAt.map { now - $0 } ?? .seconds(sinceHour)
        let epoch = Rendezvous.epoch(at: wall) &+ state.epochShift
        perform(state.rooms.heartbeat(at: now, epoch: epoch, sinceTurn: sinceTurn), &state)
    }

    private func handle(_ socket: WebSocketConnection, _ event: WebSocketEvent) {
        let now = ambient.time.monotonic
        state.withLock { state in
            let key = ObjectIdentifier(socket)
            if case .opened = event {
                state.nextID += 1
                let id = state.nextID
                state.ids[key] = id
                state.sockets[id] = socket
                state.counters.opened += 1
                let actions = state.rooms.connected(id, path: socket.path, address: socket.peer, at: now)
                return perform(actions, &state)
            }
            guard let id = state.ids[key] else { return }
            switch event {
            case .opened: break
            case .text: perform(state.rooms.receivedText(from: id), &state)
            case .message(let bytes): perform(state.rooms.received(bytes, from: id, at: now), &state)
            case .pong: state.rooms.pong(from: id)
            case .closed(let code, _):
                // An oversize message is found and closed by the socket itself.
                if code == 1009 { state.counters.closed[code, default: 0] += 1 }
                forget(id, &state)
                perform(state.rooms.left(id), &state)
            case .failed:
                forget(id, &state)
                perform(state.rooms.left(id), &state)
            }
        }
    }

    private func forget(_ id: Int, _ state: inout State) {
        if let socket = state.sockets.removeValue(forKey: id) { state.ids[ObjectIdentifier(socket)] = nil }
    }

    /// Under the lock, so that two threads cannot swap `gone` and `ready`; a
    /// socket only queues what it is given and calls nobody back.
    private func perform(_ actions: [RelayRooms.Action], _ state: inout State) {
        for action in actions {
            switch action {
            case .sendText(let id, let word): state.sockets[id]?.sendText(word)
            case .send(let id, let bytes):
                guard let socket = state.sockets[id] else { continue }
                if socket.send(bytes) {
                    state.counters.forwarded += 1
                } else {
                    perform(state.rooms.readsTooSlowly(id), &state)
                }
            case .ping(let id): state.sockets[id]?.ping()
            case .close(let id, let code, let reason):
                state.counters.closed[code, default: 0] += 1
                state.sockets[id]?.close(code: code, reason: reason)
                forget(id, &state)
            case .terminate(let id):
                state.sockets[id]?.terminate()
                forget(id, &state)
            }
        }
    }
}
