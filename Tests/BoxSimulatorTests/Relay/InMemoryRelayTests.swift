import Ambient
import BoxLink
import BoxSimulator
import TestSupport
import Testing

@Suite struct InMemoryRelayTests {
    let time = ManualTime()
    let relay: InMemoryRelay

    init() { relay = InMemoryRelay(ambient: Ambient(time: time, chance: { 0 })) }

    /// Runs the carriers while `body` runs.
    private func running(_ carriers: [any Carrier], _ body: () async throws -> Void) async throws {
        let tasks = carriers.map { carrier in Task { await carrier.run() } }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        try result.get()
    }

    private struct EndedEarly: Error {}
    private func take(_ count: Int, from carrier: any Carrier) async throws -> [CarrierEvent] {
        var seen: [CarrierEvent] = []
        for await event in carrier.events {
            seen.append(event)
            if seen.count == count { return seen }
        }
        throw EndedEarly()
    }
    private func lossCause(_ event: CarrierEvent) -> CarrierLoss.Cause? {
        if case .lost(let loss) = event { loss.cause } else { nil }
    }

    @Test func endsMeetAndTalk() async throws {
        let app = relay.carrier(room: "home", end: .app)
        let box = relay.carrier(room: "home", end: .box)
        try await running([app, box]) {
            let first = try await take(2, from: app)
            #expect(first == [.joined, .ready])
            let boxFirst = try await take(1, from: box)
            #expect(boxFirst == [.joined])
            app.send([1])
            let up = try await take(1, from: box)
            #expect(up == [.message([1])])
            box.send([2])
            let down = try await take(1, from: app)
            #expect(down == [.message([2])])
        }
        #expect(relay.socketCount() == 0)
    }

    @Test func aBoxThatGoesAndComesIsTold() async throws {
        let app = relay.carrier(room: "home", end: .app)
        let box = relay.carrier(room: "home", end: .box, ambient: Ambient(time: time, chance: { 0.5 }))
        try await running([app, box]) {
            _ = try await take(2, from: app)
            relay.setBoxPresent(false)
            let gone = try await take(1, from: app)
            #expect(gone == [.gone])
            relay.setBoxPresent(true)
            box.redial()
            let ready = try await take(1, from: app)
            #expect(ready == [.ready])
        }
    }

    @Test func aCutIsALossAndTheCarrierComesBack() async throws {
        let app = relay.carrier(room: "home", end: .app)
        try await running([app]) {
            _ = try await take(1, from: app)
            relay.dropSockets(end: .app, code: 4429, reason: "slow down")
            let seen = try await take(2, from: app)
            #expect(lossCause(seen[0]) == .refused(code: 4429))
            #expect(seen[1] == .joined)
        }
        #expect(relay.dialCount == 2)
    }

    @Test(arguments: [1, -1] as [Int64])
    func aTurnedHourIsFollowed(delta: Int64) async throws {
        let app = relay.carrier(room: "home", end: .app)
        let box = relay.carrier(room: "home", end: .box)
        try await running([app, box]) {
            _ = try await take(2, from: app)
            relay.rotate(by: delta)
            let seen = try await take(3, from: app)
            #expect(lossCause(seen[0]) == .rotated)
            #expect(seen.dropFirst() == [.joined, .ready])
        }
    }

    @Test func whatIsSentWithoutASocketIsDropped() async throws {
        let app = relay.carrier(room: "home", end: .app)
        let box = relay.carrier(room: "home", end: .box)
        app.send([1])
        try await running([app, box]) {
            _ = try await take(2, from: app)
            app.send([2])
            let seen = try await take(2, from: box)
            #expect(seen == [.joined, .message([2])])
        }
    }

    @Test func foreignMessagesAndNewWordsAreWhatTheyAre() async throws {
        let app = relay.carrier(room: "home", end: .app)
        try await running([app]) {
            _ = try await take(1, from: app)
            relay.say("later")
            relay.broadcastForeign([7])
            let seen = try await take(1, from: app)
            #expect(seen == [.message([7])])
        }
    }

    @Test func eventsEndWithTheRun() async throws {
        let app = relay.carrier(room: "home", end: .app)
        try await running([app]) { _ = try await take(1, from: app) }
        var rest: [CarrierEvent] = []
        for await event in app.events { rest.append(event) }
        #expect(rest == [])
    }
}
