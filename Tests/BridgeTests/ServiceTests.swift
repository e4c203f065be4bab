import Ambient
import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Synchronization
import TestSupport
import Testing

@testable import Bridge

/// A box that says what the test says.
final class FakeBox: BoxPort {
    let states: AsyncStream<SiteState>
    private let sink: AsyncStream<SiteState>.Continuation

    init() { (states, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func say(_ state: SiteState) { sink.yield(state) }

    /// How often it was told that somebody starts looking.
    let looks = Mutex(0)
    func someoneLooks() async { looks.withLock { $0 += 1 } }

    /// A box that takes no orders.
    func perform(_ order: BoxOrder) async -> AsyncStream<BoxProgress> {
        let (progress, input) = AsyncStream.makeStream(of: BoxProgress.self)
        input.yield(.ended(.refused(BoxRefusalReason(kind: .unsupported))))
        input.finish()
        return progress
    }

    func readBack(_ order: BoxOrder) async -> BoxReadBack { .unknown }
}

/// A broker in memory: it keeps what is retained, and lets a test wait for what comes.
final class FakeBroker: BrokerPort {
    private struct State {
        var sent: [Message] = []
        var steps: [String] = []
    }
    let events: AsyncStream<BrokerEvent>
    private let sink: AsyncStream<BrokerEvent>.Continuation
    private let state = Mutex(State())
    private let grants: Bool

    init(grants: Bool = true) {
        self.grants = grants
        (events, sink) = AsyncStream.makeStream()
    }

    func happen(_ event: BrokerEvent) { sink.yield(event) }
    func end() { sink.finish() }

    func subscribe(_ filters: [String]) async -> [Bool] {
        note("subscribe \(filters.joined(separator: " "))")
        return filters.map { _ in grants }
    }

    func publish(_ message: Message) {
        state.withLock { $0.sent.append(message) }
        note("publish \(message.topic)")
    }

    func drain(limit: Duration) async { note("drain") }

    private func note(_ step: String) { state.withLock { $0.steps.append(step) } }

    var steps: [String] { state.withLock(\.steps) }
    var sent: [Message] { state.withLock(\.sent) }

    /// Returns once something was done for which that holds, with the number of steps up to it.
    ///
    /// - Throws: ``NeverCame`` when it is not done in very many turns.
    func step(_ step: String, after: Int = 0, sourceLocation: SourceLocation = #_sourceLocation)
        async throws -> Int
    {
        try await turns(until: step, sourceLocation: sourceLocation) {
            let steps = steps
            return steps.dropFirst(after).firstIndex(of: step).map { $0 + 1 }
        }
    }
}

/// Something that a test waited for did not happen.
struct NeverCame: Error {}

/// Lets other tasks run until there is something; fails by name after very many turns,
/// which a busy machine does not need and a regression always takes.
func turns<Value: Sendable>(
    until what: String, sourceLocation: SourceLocation = #_sourceLocation, _ find: () -> Value?
) async throws -> Value {
    for _ in 0..<2_000_000 {
        if let value = find() { return value }
        await Task.yield()
    }
    Issue.record("never came: \(what)", sourceLocation: sourceLocation)
    throw NeverCame()
}

final class FakeMemory: BridgeMemory {
    private let values = Mutex<[String: JSONValue]>([:])
    func load(_ name: String) -> JSONValue? { values.withLock { $0[name] } }
    func save(_ name: String, _ value: JSONValue) { values.withLock { $0[name] = value } }
}

@Suite struct ServiceTests {
    let time = ManualTime(wall: morning)
    let box = FakeBox()
    let broker = FakeBroker()
    let memory = FakeMemory()

    func service(hooks: BridgeHooks = BridgeHooks()) -> BridgeService {
        BridgeService(
            settings: settings(), box: box, broker: broker, memory: memory, hooks: hooks,
            ambient: Ambient(time: time, chance: { 0.5 }))
    }

    /// Ends the service when the body returned or threw.
    func running(_ service: BridgeService, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await service.run() }
            try await body()
            group.cancelAll()
        }
    }

    func looks(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        _ = try await turns(until: "look \(count) at the box", sourceLocation: sourceLocation) {
            box.looks.withLock { $0 } >= count ? true : nil
        }
    }

    @Test func subscribesThenPublishesThenIsOnline() async throws {
        try await running(service()) {
            box.say(house())
            broker.happen(.connected(BrokerSession(version: .v5)))
            _ = try await broker.step("publish ftw/home/bridge/availability")
            #expect(broker.steps.first == "subscribe ftw/home/# homeassistant/status")
            #expect(broker.steps.filter { $0.hasPrefix("subscribe") }.count == 1)
            #expect(broker.sent.last { $0.topic == "ftw/home/bridge/availability" }?.text == "online")
        }
    }

    @Test func renewsWhenItsTimeHasCome() async throws {
        try await running(service()) {
            broker.happen(.connected(BrokerSession(version: .v5)))
            var seen = try await broker.step("publish ftw/home/bridge/availability")
            for round in 1...5 {
                try #require(await time.hasSleepers(), "the service never waited, round \(round)")
                time.advance(by: .seconds(60))
                seen = try await broker.step("publish ftw/home/bridge/availability", after: seen)
            }
        }
    }

    @Test func asksForHealthAndReloads() async throws {
        let service = service(
            hooks: BridgeHooks(
                health: { HealthFacts(memoryBytes: 42, dropped: 0) }, reload: { "All taken over." }))
        try await running(service) {
            broker.happen(.connected(BrokerSession(version: .v5)))
            let seen = try await broker.step("publish ftw/home/bridge/availability")
            _ = try await broker.step("publish ftw/home/bridge/health", after: seen)
            #expect(broker.sent.documents("bridge/health").last?["memory_bytes"] == 42)
            broker.happen(.message(Message("ftw/home/bridge/request/reload", "")))
            let first = try await broker.step("publish ftw/home/result")
            _ = try await broker.step("publish ftw/home/result", after: first)
            #expect(broker.sent.documents("result").last?["text"] == "All taken over.")
        }
    }

    @Test func theBoxHearsWhenSomebodyStartsLooking() async throws {
        try await running(service()) {
            broker.happen(.connected(BrokerSession(version: .v5)))
            try await looks(1)
            broker.happen(.message(Message("homeassistant/status", "offline")))
            broker.happen(.message(Message("homeassistant/status", "online", retained: true)))
            broker.happen(.message(Message("homeassistant/status", "online")))
            try await looks(2)
            broker.happen(.connected(BrokerSession(version: .v5)))
            try await looks(3)
            // Neither the goodbye nor the kept birth was taken for a start.
            #expect(box.looks.withLock { $0 } == 3)
        }
    }

    @Test func remembersFromRunToRun() async throws {
        let first = service()
        try await running(first) {
            broker.happen(.connected(BrokerSession(version: .v5)))
            let seen = try await broker.step("publish ftw/home/bridge/availability")
            box.say(house())
            _ = try await broker.step("publish ftw/home/power", after: seen)
            await first.goodbye()
        }
        #expect(broker.steps.suffix(2) == ["publish ftw/home/bridge/availability", "drain"])
        #expect(broker.sent.last?.text == "offline")
        #expect(memory.load("picture")?["power"]?["grid"]?.doubleValue == 1_200)
        #expect(memory.load("announced")?["identity"] == "0123456789abcdef")
    }

    @Test func endsWhenTheBrokersEventsEnd() async throws {
        let service = service()
        broker.end()
        let hasEnded = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await service.run()
                return true
            }
            group.addTask {
                for _ in 0..<2_000_000 where !Task.isCancelled { await Task.yield() }
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        #expect(hasEnded, "the service went on")
    }
}
