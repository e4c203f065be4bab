public import Ambient
public import BoxLink
import FoundationEssentials
import Synchronization

/// A relay without sockets: the whole stack in one process, on a clock that a
/// test moves.
///
/// The carriers are real ones with their real rules; only the network between
/// them and the rooms is missing. What one end sends is in the other end's
/// inbox when `send` returns.
public final class InMemoryRelay: Sendable {
    private struct Member {
        var handler: @Sendable (WebSocketEvent) -> Void
        var end: RelaySettings.End
        var room: String
    }
    private struct State {
        var rooms: RelayRooms
        var members: [Int: Member] = [:]
        var nextID = 0
        var epochShift: Int64 = 0
        var turnedAt: Duration?
        var unreachable: Set<RelaySettings.End> = []
        var dials = 0
        var lastBeat: Duration
    }
    private let state: Mutex<State>
    private let ambient: Ambient

    /// - Parameters:
    ///   - ambient: The clocks of the relay and of the carriers it hands out.
    ///   - limits: By default those of the real relay, but without any per address.
    public init(ambient: Ambient = Ambient(), limits: RelayRooms.Limits = .oneAddress) {
        self.ambient = ambient
        let rooms = RelayRooms(limits: limits, epoch: Rendezvous.epoch(at: ambient.time.wall))
        state = Mutex(State(rooms: rooms, lastBeat: ambient.time.monotonic))
    }

    /// A carrier for one end of a room. It joins when it is run.
    ///
    /// - Parameters:
    ///   - room: Any text; ends with the same text meet.
    ///   - end: Client or box.
    ///   - ambient: The carrier's own clocks and chance; those of the relay if `nil`.
    public func carrier(room: String, end: RelaySettings.End, ambient: Ambient? = nil) -> any Carrier {
        RelayCarrier(
            dialer: Dialer(relay: self, room: room, end: end), numbers: .init(end: end),
            ambient: ambient ?? self.ambient,
            path: { epoch in
                let digest = Primitives.sha256(Array("\(room)/\(epoch)".utf8)).prefix(16)
                let digits = Array("0123456789abcdef")
                let handle = String(digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
                return Rendezvous.path(epoch: epoch, handle: handle, end: end)
            })
    }

    /// How many sockets are joined: of one end, or of both.
    public func socketCount(end: RelaySettings.End? = nil) -> Int {
        state.withLock { $0.rooms.peers(end: end).count }
    }

    /// How often a carrier dialled.
    public var dialCount: Int { state.withLock { $0.dials } }

    /// Ends sockets with a close code, as the relay or the network might; 1006 is a cut.
    public func dropSockets(
        end: RelaySettings.End? = nil, room: String? = nil, code: UInt16 = 1006, reason: String = ""
    ) {
        state.withLock { state in
            let ids = state.members.filter {
                (end == nil || $0.value.end == end) && (room == nil || $0.value.room == room)
            }.keys.sorted()
            for id in ids { drop(id, .closed(code: code, reason: reason), &state) }
        }
    }

    /// Whether dials of that end succeed; its sockets are cut when they no longer do.
    public func setReachable(_ reachable: Bool, end: RelaySettings.End) {
        state.withLock { state in
            guard !reachable else {
                state.unreachable.remove(end)
                return
            }
            state.unreachable.insert(end)
            for id in state.members.filter({ $0.value.end == end }).keys.sorted() {
                drop(id, .closed(code: 1006, reason: ""), &state)
            }
        }
    }

    /// Whether the box can be in its room: `false` cuts it off, `true` lets it come back.
    public func setBoxPresent(_ present: Bool) { setReachable(present, end: .box) }

    /// Says `word` to every client, true or not; for words no relay of today sends.
    public func say(_ word: String) {
        state.withLock { state in
            for id in state.rooms.peers(end: .app) { state.members[id]?.handler(.text(word)) }
        }
    }

    /// Sends every client a message that did not come from its box, as a room
    /// with other clients in it does.
    public func broadcastForeign(_ bytes: [UInt8]) {
        state.withLock { state in
            for id in state.rooms.peers(end: .app) { state.members[id]?.handler(.message(bytes)) }
        }
    }

    /// Turns the hour now and closes the old rooms at once.
    ///
    /// - Parameter delta: By how many hours; clients follow to at most one from their clock.
    public func rotate(by delta: Int64 = 1) {
        state.withLock { state in
            state.epochShift &+= delta
            state.turnedAt = ambient.time.monotonic - .seconds(3_600)
            beat(&state)
        }
    }

    /// What the relay does every 15 s; see `run()`.
    public func heartbeat() { state.withLock { beat(&$0) } }

    /// Keeps the heart beating until cancelled. Without it the relay notices a
    /// new hour only when somebody dials, and never closes a room for it.
    public func run() async {
        while !Task.isCancelled {
            try? await ambient.time.sleep(for: Contract.Relay.heartbeat)
            if !Task.isCancelled { heartbeat() }
        }
    }

    private func beat(_ state: inout State) {
        let wall = ambient.time.wall
        let now = ambient.time.monotonic
        state.lastBeat = now
        let hourSeconds = wall.timeIntervalSince1970 - Double(Rendezvous.epoch(at: wall)) * 3_600
        let sinceTurn = state.turnedAt.map { now - $0 } ?? .seconds(hourSeconds)
        let epoch = Rendezvous.epoch(at: wall) &+ state.epochShift
        perform(state.rooms.heartbeat(at: now, epoch: epoch, sinceTurn: sinceTurn), &state)
    }

    private func perform(_ actions: [RelayRooms.Action], _ state: inout State) {
        for action in actions {
            switch action {
            case .sendText(let id, let word): state.members[id]?.handler(.text(word))
            case .send(let id, let bytes): state.members[id]?.handler(.message(bytes))
            case .ping(let id): state.rooms.pong(from: id)
            case .close(let id, let code, let reason):
                state.members.removeValue(forKey: id)?.handler(.closed(code: code, reason: reason))
            case .terminate(let id):
                state.members.removeValue(forKey: id)?.handler(.closed(code: 1006, reason: ""))
            }
        }
    }

    private func drop(_ id: Int, _ event: WebSocketEvent, _ state: inout State) {
        guard let member = state.members.removeValue(forKey: id) else { return }
        member.handler(event)
        perform(state.rooms.left(id), &state)
    }

    fileprivate struct Dialer: RelayDialer {
        let relay: InMemoryRelay
        let room: String
        let end: RelaySettings.End

        func dial(path: String, handler: @escaping @Sendable (WebSocketEvent) -> Void) -> any RelaySocket {
            let relay = self.relay
            let id = relay.state.withLock { state -> Int in
                state.nextID += 1
                state.dials += 1
                let id = state.nextID
                guard !state.unreachable.contains(end) else {
                    handler(.failed(WebSocketFailure(kind: .unreachable, detail: "no route")))
                    return id
                }
                state.members[id] = Member(handler: handler, end: end, room: room)
                handler(.opened)
                let now = relay.ambient.time.monotonic
                if now - state.lastBeat >= Contract.Relay.heartbeat { relay.beat(&state) }
                relay.perform(
                    state.rooms.connected(id, path: path, address: "memory", at: now), &state)
                return id
            }
            return Socket(relay: relay, id: id)
        }
    }

    fileprivate struct Socket: RelaySocket {
        let relay: InMemoryRelay
        let id: Int

        func send(_ bytes: [UInt8]) -> Bool {
            relay.state.withLock { state in
                guard state.members[id] != nil else { return false }
                relay.perform(
                    state.rooms.received(bytes, from: id, at: relay.ambient.time.monotonic), &state)
                return true
            }
        }
        func ping() -> Bool {
            relay.state.withLock { state in
                state.members[id]?.handler(.pong)
                return state.members[id] != nil
            }
        }
        func close() {
            relay.state.withLock { relay.drop(id, .closed(code: 1000, reason: ""), &$0) }
        }
        func waitUntilEnded() async {}
    }
}
