import BoxLink
import EnergyModel
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSession

/// Decoders meet what no box should send.
@Suite struct MessageDecodingTests {
    /// The recorded envelopes, one of each shape: type, and whether it was asked for.
    private static func samples(maxBytes: Int) throws -> [(type: String, bytes: [UInt8])] {
        var seen: [String: Int] = [:]
        var samples: [(String, [UInt8])] = []
        for name in Recording.sessions {
            for (message, envelope) in try Recording(name).envelopes {
                guard let whole = message.cbor else { continue }
                // Long lists are cut to two entries, so that no type is left out for its length.
                let bytes = whole.count <= maxBytes ? whole : shortened(envelope)
                guard bytes.count <= maxBytes, seen[envelope.type, default: 0] < 6 else { continue }
                seen[envelope.type, default: 0] += 1
                samples.append((envelope.type, bytes))
            }
        }
        samples.append(
            (
                "session.terminate",
                Envelope(type: "session.terminate", body: ["reason": "revoked"]).encoded(.deterministic)
            ))
        return samples
    }

    private static func shortened(_ envelope: Envelope) -> [UInt8] {
        guard case .map(var body)? = envelope.body else { return envelope.encoded(.deterministic) }
        for (key, value) in body.members {
            if case .array(let items) = value { body[key] = .array(Array(items.prefix(2))) }
        }
        var copy = envelope
        copy.body = .map(body)
        return copy.encoded(.deterministic)
    }

    @Test func noDecoderIsLeftOut() throws {
        let types = Set(try Self.samples(maxBytes: 1_200).map(\.type))
        let all = Contract.MessageType.allCases.map(\.rawValue)
        #expect(Set(all).subtracting(types) == ["event"])
    }

    /// Puts bytes through everything that reads an envelope.
    private func read(_ bytes: [UInt8], _ machine: inout SessionMachine, _ table: inout RequestTable) {
        guard let envelope = try? Envelope(decoding: bytes) else { return }
        _ = try? MessageTypes.rewritten(envelope)
        read(envelope, &machine, &table)
    }

    private func read(
        _ envelope: Envelope, _ machine: inout SessionMachine, _ table: inout RequestTable
    ) {
        var tracker = SiteTracker()
        var pending = machine
        for action in pending.received(envelope, isTruncated: true, at: .seconds(1)) {
            let wall = Date(timeIntervalSince1970: 1_796_000_000)
            switch action {
            case .greeted(let message): tracker.greeted(message, at: .seconds(1), wall: wall)
            case .snapshot(let message): tracker.applied(message, at: .seconds(1), wall: wall)
            case .delta(let message): _ = tracker.applied(message, at: .seconds(1), wall: wall)
            case .tick(let message): _ = tracker.applied(message, at: .seconds(1), wall: wall)
            default: break
            }
        }
        _ = pending.nextDeadline
        _ = tracker.site(
            link: Link(state: .live, since: Date(timeIntervalSince1970: 0)), isTableOld: false,
            at: .seconds(2), wall: Date(timeIntervalSince1970: 1_796_000_001))
        for id: UInt32 in 1...3 {
            var envelope = envelope
            envelope.id = id
            var copy = table
            _ = copy.answered(envelope, at: .seconds(1))
            _ = copy.timerFired(at: .seconds(100))
        }
    }

    private var machine: SessionMachine {
        var machine = SessionMachine(settings: .init(build: "test", beat: .second))
        _ = machine.opened(at: .zero)
        return machine
    }

    private var table: RequestTable {
        var table = RequestTable()
        table.opened(capabilities: ["api.passthrough", "plan.dispatch", "price.spot"])
        _ = table.submitted(1, .api(APIRequest(path: "/api/status", maxBytes: 64)), at: .zero)
        _ = table.submitted(2, .plan, at: .zero)
        _ = table.submitted(3, .price(PriceGetMessage(fromMs: 0, toMs: 1)), at: .zero)
        return table
    }

    @Test func everyPrefixOfEveryMessageIsRefusedOrRead() throws {
        var machine = machine
        var table = table
        for (_, bytes) in try Self.samples(maxBytes: 2_500) {
            for length in 0..<bytes.count { read(Array(bytes.prefix(length)), &machine, &table) }
        }
    }

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func damagedBytesNeverTrap(seed: UInt64) throws {
        var dice = SeededDice(seed)
        var machine = machine
        var table = table
        let samples = try Self.samples(maxBytes: 1_200)
        for round in 0..<12_500 {
            read(samples[round % samples.count].bytes.damaged(&dice), &machine, &table)
        }
    }

    @Test(arguments: [UInt64(5), 6, 7, 8])
    func distortedMembersNeverTrap(seed: UInt64) throws {
        var dice = SeededDice(seed)
        var machine = machine
        var table = table
        let samples = try Self.samples(maxBytes: 1_200).map { try Envelope(decoding: $0.bytes) }
        for round in 0..<12_500 {
            var envelope = samples[round % samples.count]
            envelope.body = envelope.body.map { dice.distort($0) }
            _ = try? MessageTypes.rewritten(envelope)
            read(envelope, &machine, &table)
        }
    }

    static let wrongBodies: [(String, CBORValue)] = [
        ("snap", CBORValue.null), ("snap", CBORValue.map([:])),
        ("delta", CBORValue.map(["seq": -1, "uptimeMs": 0, "fields": [:]])),
        ("tick", CBORValue.map(["seq": .float(1), "uptimeMs": 1])),
        ("hello_ok", CBORValue.map(["proto": 1])), ("session.terminate", CBORValue.map([:])),
        ("cmd.result", CBORValue.map(["cmdId": "a"])), ("error", CBORValue.map(["code": 1])),
        ("api.head", CBORValue.map(["status": 99])),
        ("api.chunk", CBORValue.map(["seq": 0, "data": "text"])),
    ]

    @Test(arguments: wrongBodies)
    func aBodyThatIsNotItsTypeIsRefused(type: String, body: CBORValue) {
        #expect(throws: MessageError.self) {
            try MessageTypes.rewritten(Envelope(type: type, body: body))
        }
    }

    @Test func unknownMembersAreIgnored() throws {
        let tick = try TickMessage(body: ["seq": 1, "uptimeMs": 2, "novelty": ["a": [1, 2]]])
        #expect(tick.seq == 1)
    }
}
