import Ambient
import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import BoxSimulator

/// A carrier that keeps what the box sends.
final class FakeCarrier: Carrier {
    let events: AsyncStream<CarrierEvent>
    private let input: AsyncStream<CarrierEvent>.Continuation
    private let state = Mutex((sent: [[UInt8]](), redials: 0))

    init() { (events, input) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(16)) }
    var redials: Int { state.withLock { $0.redials } }
    func take() -> [[UInt8]] {
        state.withLock { state in
            defer { state.sent = [] }
            return state.sent
        }
    }
    func send(_ bytes: [UInt8]) { state.withLock { $0.sent.append(bytes) } }
    func redial() { state.withLock { $0.redials += 1 } }
    func pathProven() {}
    func run() async {}
}

/// One client on the bench, driven by hand.
final class BenchPhone {
    var link: PhoneLink
    var heard: [PhoneLink.Heard] = []
    init(link: PhoneLink) { self.link = link }
}

/// A box on a bench: no sockets, time by hand, every frame looked at.
final class BoxBench {
    let time: ManualTime
    let carrier = FakeCarrier()
    let house: SimulatedHouse
    let box: SimulatedBox
    var phones: [BenchPhone] = []

    /// - Parameter wall: Monday 30 November 2026, 08:16:40 in the house, unless said otherwise.
    init(
        _ vintage: BoxVintage = .base, wall: Date = Date(timeIntervalSince1970: 1_796_023_000),
        house settings: SimulatedHouseSettings = SimulatedHouseSettings(), uptime: Duration = .seconds(600),
        keys: SimulatedBoxSettings? = nil
    ) throws {
        time = ManualTime(wall: wall)
        house = SimulatedHouse(settings: settings, clock: HouseClock(following: time))
        var boxSettings = try keys ?? SimulatedBoxSettings(seed: 7)
        boxSettings.vintage = vintage
        boxSettings.uptimeAtStart = uptime
        box = SimulatedBox(
            settings: boxSettings, house: house, carrier: carrier, ambient: Ambient(time: time))
    }

    static func keys(_ number: UInt8) throws -> X25519KeyPair {
        try X25519KeyPair(secret: Array(repeating: number, count: 31) + [9])
    }

    /// A client that is enrolled and has a session.
    func join(_ role: BoxRole = .owner, key: UInt8 = 1) async throws -> BenchPhone {
        let identity = try Self.keys(key)
        await box.enrol(clientKey: identity.publicKey, role: role)
        return try await shake(identity)
    }

    /// A client that tries a handshake, with or without a code.
    func shake(_ identity: X25519KeyPair, code: [UInt8] = []) async throws -> BenchPhone {
        let phone = BenchPhone(link: PhoneLink(identity: identity, boxKey: box.settings.identity.publicKey))
        let message1 = try phone.link.begin(code: code)
        phones.append(phone)
        await box.receive(message1)
        deliver()
        return phone
    }

    /// Sends one message and gives what that client hears in answer.
    @discardableResult
    func say(
        _ phone: BenchPhone, _ type: String, id: UInt32? = nil, _ body: CBORValue? = nil
    ) async throws -> [PhoneLink.Heard] {
        let bytes = try #require(phone.link.message(type, id: id, body))
        await box.receive(bytes)
        return listen(phone)
    }

    /// Lets whole seconds pass, one by one, and gives what that client hears.
    @discardableResult
    func beat(_ count: Int = 1, _ phone: BenchPhone) async -> [PhoneLink.Heard] {
        for _ in 0..<count {
            time.advance(by: .seconds(1))
            await box.beat()
        }
        return listen(phone)
    }

    func listen(_ phone: BenchPhone) -> [PhoneLink.Heard] {
        deliver()
        defer { phone.heard = [] }
        return phone.heard
    }

    private func deliver() {
        for bytes in carrier.take() {
            for phone in phones {
                if let frame = phone.link.take(bytes) { phone.heard.append(frame) }
            }
        }
    }

    // MARK: Usual things to say

    static let hello: CBORValue = [
        "proto": ["min": 0, "max": 1], "app": ["build": "1", "ua": "native"], "locales": ["en"],
        "sub": ["bucket": 512, "hz": 1],
    ]

    /// Says hello with a folded subscription; gives greeting and snapshot.
    @discardableResult
    func greet(_ phone: BenchPhone) async throws -> [PhoneLink.Heard] {
        try await say(phone, "hello", Self.hello)
    }

    func command(
        _ phone: BenchPhone, _ op: String, _ args: CBORValue, id: String = "c1", rev: Int64 = 1,
        validFor: Int64 = 120_000, guards: CBORValue = []
    ) async throws -> [PhoneLink.Heard] {
        let uptime = await box.uptimeMs
        return try await say(
            phone, "cmd",
            [
                "cmdId": .text(id), "op": .text(op), "args": args, "notValidAfterMs": .int(uptime + validFor),
                "expect": ["rev": .int(rev), "guards": guards],
            ])
    }

    func get(
        _ phone: BenchPhone, _ path: String, query: [(String, CBORValue)] = [], method: String = "GET",
        body: String? = nil, stepUp: Bool = false, id: UInt32 = 9
    ) async throws -> (status: Int64, json: JSONValue) {
        let answer = try await call(
            phone, path, query: query, method: method, body: body, stepUp: stepUp, id: id)
        let head = try #require(answer.first { $0.type == "api.head" }, "\(answer.map(\.body))")
        let bytes = answer.filter { $0.type == "api.chunk" }.flatMap { $0.body["data"]?.bytesValue ?? [] }
        return (try #require(head.body["status"]?.intValue), try JSONValue(parsing: bytes))
    }

    func call(
        _ phone: BenchPhone, _ path: String, query: [(String, CBORValue)] = [], method: String = "GET",
        body: String? = nil, stepUp: Bool = false, id: UInt32 = 9
    ) async throws -> [PhoneLink.Heard] {
        var members: [(String, CBORValue)] = [("method", .text(method)), ("path", .text(path))]
        if !query.isEmpty { members.append(("query", .map(CBORMap(query)))) }
        if let body { members.append(("body", .bytes(Array(body.utf8)))) }
        if stepUp { members.append(("stepUp", true)) }
        return try await say(phone, "api.req", id: id, .map(CBORMap(members)))
    }

    func loadpoint(_ phone: BenchPhone, _ index: Int = 0) async throws -> JSONValue {
        let answer = try await get(phone, "/api/loadpoints")
        return try #require(answer.json["loadpoints"]?[index])
    }
}
