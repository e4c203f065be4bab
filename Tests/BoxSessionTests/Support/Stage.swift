import Ambient
import BoxLink
import EnergyModel
import FoundationEssentials
import Synchronization
import TestSupport
import Testing

@testable import BoxSession

/// A session, its carrier, its clock and a box, moved by hand.
final class Stage {
    let time: ManualTime
    let carrier = FakeCarrier()
    let box: FakeBox
    let session: BoxSession
    let lines = Lines()

    /// Log lines, for checking what never reaches them.
    final class Lines: Sendable {
        private let state = Mutex<[String]>([])
        func add(_ line: String) { state.withLock { $0.append(line) } }
        var all: [String] { state.withLock { $0 } }
    }

    /// - Parameters:
    ///   - box: One that was met before; `nil`: another one.
    ///   - memory: What earlier runs kept; with one, prices and energy are read.
    init(
        code: [UInt8]? = nil, beat: Beat = .second, chance: Double = 0.5, box known: FakeBox? = nil,
        memory: (any SessionMemory)? = nil, time: ManualTime = ManualTime()
    ) throws {
        let box = try known ?? FakeBox()
        self.box = box
        self.time = time
        var settings = BoxSessionSettings(
            identity: try X25519KeyPair(), boxKey: box.keys.publicKey, code: code.map { SecretBytes($0) },
            build: "test", beat: beat)
        settings.memory = memory
        settings.wantsBoards = memory != nil
        session = BoxSession(
            settings: settings, carrier: carrier,
            ambient: Ambient(
                time: time, log: Log(threshold: .debug) { [lines] _, line in lines.add(line) },
                chance: { chance }))
    }

    func advance(_ duration: Duration) async {
        time.advance(by: duration)
        await session.timerFired()
    }

    /// Envelopes sent since the last look.
    func sent() throws -> [(frame: Frame, envelope: Envelope)] { try carrier.taken().map(box.open) }

    func types() throws -> [String] { try sent().map(\.envelope.type) }

    func say(_ type: String, id: UInt32? = nil, _ body: CBORValue?, flags: UInt8 = 0) async throws {
        await session.handle(.message(try box.seal(type, id: id, body, flags: flags)))
    }

    /// Answers the message 1 that lies on the wire.
    func shakeHands() async throws {
        let message1 = try #require(carrier.taken().last)
        await session.handle(.message(try box.answer(message1)))
    }

    /// From nothing to a session with live frames; the question for roles is answered.
    func goLive(roles: Bool = true) async throws {
        await session.handle(.joined)
        await session.handle(.ready)
        try await greet(roles: roles)
    }

    /// Handshake, greeting and first snapshot.
    func greet(roles: Bool = true) async throws {
        try await shakeHands()
        _ = carrier.taken()
        try await say("hello_ok", box.helloOK())
        try await say("snap", box.snap())
        if roles { try await answerRoles() }
    }

    static let status = """
        {"drivers":{"meter":{"meter_w":3.8},"roof":{"pv_w":-1500},"store":{"bat_w":63,"bat_soc":0.5},\
        "car":{"ev_w":0}}}
        """

    /// Answers a question for `GET /api/status`, if one was asked.
    func answerRoles(_ body: String = Stage.status) async throws {
        for (_, envelope) in try sent() where envelope.body?["path"] == "/api/status" {
            try await answer(envelope.id, body: Array(body.utf8))
        }
    }

    func answer(_ id: UInt32?, status: Int64 = 200, body: [UInt8]) async throws {
        try await say("api.head", id: id, ["status": .int(status), "headers": [:], "len": .null])
        try await say("api.chunk", id: id, ["seq": 0, "data": .bytes(body)])
        try await say("api.end", id: id, ["bytes": .int(Int64(body.count)), "truncated": false])
    }

    var site: SiteState {
        get async { await session.siteNow() }
    }
}

/// Lets other tasks run until a condition holds; gives up after many turns.
func eventually(_ condition: () async -> Bool) async -> Bool {
    for _ in 0..<200_000 {
        if await condition() { return true }
        await Task.yield()
    }
    return false
}
