public import BoxLink

/// The relay without its sockets: who is in which room, what each is told, and
/// who is sent away with which code (FTW wire §1).
///
/// Pure, and the heart of both the relay on loopback and the one in memory, so
/// that these cannot differ. Peers are numbers that the shell chooses.
public struct RelayRooms: Sendable {
    /// The numbers of FTW wire §1.6.
    public struct Limits: Sendable, Equatable {
        public var clientsPerRoom = Contract.Relay.clientsPerRoom
        public var sockets = Contract.Relay.maxSockets
        public var socketsPerAddress = Contract.Relay.socketsPerAddress
        /// Connection attempts from one address within 60 seconds.
        public var attemptsPerMinute = Contract.Relay.attemptsPerMinute
        public var messageBytes = Contract.Relay.maxMessage
        public var frameBurst = Contract.Relay.frameBurst
        public var framesPerSecond = Contract.Relay.framesPerSecond
        public var byteBurst = Contract.Relay.byteBurst
        public var bytesPerSecond = Contract.Relay.bytesPerSecond
        /// Over how long after the hour the old rooms are closed.
        public var rotationSpread = Duration.milliseconds(Contract.Relay.roomSpreadMs)

        public init() {}

        /// No bound on attempts and sockets per address, for tests and a demo
        /// in which everybody has the same one.
        public static var oneAddress: Limits {
            var limits = Limits()
            limits.socketsPerAddress = .max
            limits.attemptsPerMinute = .max
            return limits
        }
    }

    public enum Action: Sendable, Equatable {
        case sendText(Int, String)
        case send(Int, [UInt8])
        case ping(Int)
        /// The peer is no longer known when this is returned.
        case close(Int, code: UInt16, reason: String)
        /// Without a close frame; the peer is no longer known.
        case terminate(Int)
    }

    private struct Name: Hashable {
        var epoch: Int64
        var handle: String
    }
    private struct Room {
        var box: Int?
        var clients: [Int] = []
        var closesAt: Duration?
    }
    private struct Peer {
        var name: Name
        var end: Rendezvous.End
        var address: String
        /// What this socket was last told about the box; everybody starts with "absent".
        var toldPresent = false
        var awaitsPong = false
        var frames: TokenBucket
        var bytes: TokenBucket
    }

    public let limits: Limits
    /// The hour the relay believes in; only a heartbeat moves it on.
    public private(set) var epoch: Int64
    private var rooms: [Name: Room] = [:]
    private var peers: [Int: Peer] = [:]
    private var attempts: [String: [Duration]] = [:]

    public init(limits: Limits = .init(), epoch: Int64) {
        self.limits = limits
        self.epoch = epoch
    }

    /// Everybody who is connected.
    public var peerCount: Int { peers.count }
    public var roomCount: Int { rooms.count }

    /// The connected peers of one end, or of both, in the order of their numbers.
    public func peers(end: Rendezvous.End? = nil) -> [Int] {
        peers.filter { end == nil || $0.value.end == end }.keys.sorted()
    }

    // MARK: coming and going

    /// A socket was opened; refusals come after the upgrade, as close codes.
    public mutating func connected(_ id: Int, path: String, address: String, at now: Duration) -> [Action] {
        guard peers[id] == nil else { return [] }
        var recent = (attempts[address] ?? []).filter { $0 > now - .seconds(60) }
        // One more than allowed is enough to know; more is not kept.
        if recent.count <= limits.attemptsPerMinute, limits.attemptsPerMinute < .max { recent.append(now) }
        attempts[address] = recent.isEmpty ? nil : recent
        let busy = Contract.CloseCode.busy.rawValue
        guard peers.count < limits.sockets,
            peers.values.lazy.filter({ $0.address == address }).count < limits.socketsPerAddress
        else { return [.close(id, code: busy, reason: "full")] }
        guard recent.count <= limits.attemptsPerMinute else {
            return [.close(id, code: busy, reason: "slow down")]
        }
        guard let (name, end) = Self.parse(path) else {
            return [.close(id, code: Contract.CloseCode.join.rawValue, reason: "join")]
        }
        guard name.epoch == epoch else {
            return [.close(id, code: Contract.CloseCode.epoch.rawValue, reason: String(epoch))]
        }
        var room = rooms[name] ?? Room()
        switch end {
        case .box:
            guard room.box == nil else { return [.close(id, code: busy, reason: "uplink")] }
            room.box = id
        case .app:
            guard room.clients.count < limits.clientsPerRoom else {
                return [.close(id, code: busy, reason: "streams")]
            }
            room.clients.append(id)
        }
        rooms[name] = room
        peers[id] = Peer(
            name: name, end: end, address: address,
            frames: TokenBucket(burst: limits.frameBurst, perSecond: limits.framesPerSecond, at: now),
            bytes: TokenBucket(burst: limits.byteBurst, perSecond: limits.bytesPerSecond, at: now))
        return tellPresence(in: name)
    }

    /// A socket ended by itself.
    public mutating func left(_ id: Int) -> [Action] {
        guard let peer = peers.removeValue(forKey: id), var room = rooms[peer.name] else { return [] }
        if room.box == id { room.box = nil }
        room.clients.removeAll { $0 == id }
        rooms[peer.name] = room.box == nil && room.clients.isEmpty ? nil : room
        return tellPresence(in: peer.name)
    }

    /// Sends words only to those who were last told something else.
    private mutating func tellPresence(in name: Name) -> [Action] {
        guard let room = rooms[name] else { return [] }
        var actions: [Action] = []
        for client in room.clients where peers[client]?.toldPresent != (room.box != nil) {
            peers[client]?.toldPresent = room.box != nil
            let word: Contract.ControlWord = room.box != nil ? .ready : .gone
            actions.append(.sendText(client, word.rawValue))
        }
        return actions
    }

    private mutating func close(_ id: Int, _ code: UInt16, _ reason: String) -> [Action] {
        guard peers[id] != nil else { return [] }
        return [.close(id, code: code, reason: reason)] + left(id)
    }

    // MARK: messages

    /// A binary message: from a client to the box, from the box to every client.
    public mutating func received(_ bytes: [UInt8], from id: Int, at now: Duration) -> [Action] {
        guard var peer = peers[id] else { return [] }
        // The relay's library closes with 1009 before the relay could say 4400 "oversize".
        guard bytes.count <= limits.messageBytes else { return close(id, 1009, "") }
        let allowed = peer.frames.take(1, at: now) && peer.bytes.take(bytes.count, at: now)
        peers[id] = peer
        guard allowed else { return close(id, Contract.CloseCode.busy.rawValue, "rate") }
        guard let room = rooms[peer.name] else { return [] }
        switch peer.end {
        case .app: return room.box.map { [.send($0, bytes)] } ?? []
        case .box: return room.clients.map { .send($0, bytes) }
        }
    }

    /// Text: from a client an offence, from the box a word of its own that goes nowhere.
    public mutating func receivedText(from id: Int) -> [Action] {
        peers[id]?.end == .app ? close(id, Contract.CloseCode.join.rawValue, "binary only") : []
    }

    /// A ping was answered.
    public mutating func pong(from id: Int) { peers[id]?.awaitsPong = false }

    /// More than 8 MiB wait for this socket.
    public mutating func readsTooSlowly(_ id: Int) -> [Action] {
        close(id, Contract.CloseCode.busy.rawValue, "slow reader")
    }

    // MARK: time

    /// Every 15 s: drops who did not answer, pings the others, turns the hour.
    ///
    /// - Parameters:
    ///   - epoch: The hour it is now.
    ///   - sinceTurn: How long it has been that hour; old rooms close after
    ///     their part of the spread, counted from the turn (FTW wire §1.5).
    public mutating func heartbeat(at now: Duration, epoch: Int64, sinceTurn: Duration) -> [Action] {
        var actions: [Action] = []
        for id in peers.keys.sorted() {
            guard let peer = peers[id] else { continue }
            if peer.awaitsPong {
                actions += [.terminate(id)] + left(id)
            } else {
                peers[id]?.awaitsPong = true
                actions.append(.ping(id))
            }
        }
        attempts = attempts.mapValues { $0.filter { $0 > now - .seconds(60) } }.filter { !$0.value.isEmpty }
        self.epoch = epoch
        for (name, room) in rooms where name.epoch != epoch && room.closesAt == nil {
            let delayMs = Rendezvous.closingDelayMs(handle: name.handle) ?? 0
            let part = Double(delayMs) / Double(Contract.Relay.roomSpreadMs)
            rooms[name]?.closesAt = now - sinceTurn + limits.rotationSpread * part
        }
        return actions + closeDueRooms(at: now)
    }

    /// The next moment at which an old room closes; `nil` while there is none.
    public var nextClosing: Duration? { rooms.values.compactMap(\.closesAt).min() }

    /// Closes the old rooms whose time has come, box and clients together.
    public mutating func closeDueRooms(at now: Duration) -> [Action] {
        let due = rooms.filter { $0.value.closesAt.map { $0 <= now } ?? false }
        var actions: [Action] = []
        for (name, room) in due.sorted(by: { $0.key.handle < $1.key.handle }) {
            rooms[name] = nil
            for id in room.clients + (room.box.map { [$0] } ?? []) {
                peers[id] = nil
                actions.append(
                    .close(id, code: Contract.CloseCode.rotated.rawValue, reason: String(epoch)))
            }
        }
        return actions
    }

    /// Forgets everybody, as a crash does.
    public mutating func dropAll() -> [Action] {
        let ids = peers.keys.sorted()
        rooms = [:]
        peers = [:]
        attempts = [:]
        return ids.map { .terminate($0) }
    }

    // MARK: paths

    /// `/r/<epoch>/<handle>/<end>`; a query is ignored.
    private static func parse(_ path: String) -> (Name, Rendezvous.End)? {
        let bare = path.prefix { $0 != "?" }
        let parts = bare.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "r" else { return nil }
        let digits = parts[2].hasPrefix("-") ? parts[2].dropFirst() : parts[2]
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let epoch = Int64(parts[2]),
            parts[3].utf8.count == 32,
            parts[3].utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
            let end = Rendezvous.End(rawValue: String(parts[4]))
        else { return nil }
        return (Name(epoch: epoch, handle: String(parts[3])), end)
    }
}

/// So much at once, so much per second after that.
struct TokenBucket: Sendable {
    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    private var last: Duration

    init(burst: Int, perSecond: Int, at now: Duration) {
        self.burst = Double(burst)
        self.perSecond = Double(perSecond)
        tokens = Double(burst)
        last = now
    }

    /// Takes `count` tokens, or none and returns `false`.
    mutating func take(_ count: Int, at now: Duration) -> Bool {
        tokens = min(burst, tokens + max(0, (now - last) / .seconds(1)) * perSecond)
        last = max(last, now)
        guard tokens >= Double(count) else { return false }
        tokens -= Double(count)
        return true
    }
}
