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

    private let given = Mutex<[BoxOrder]>([])
    var orders: [BoxOrder] { given.withLock(\.self) }

    /// A box that takes no orders.
    func perform(_ order: BoxOrder) async -> AsyncStream<BoxProgress> {
        given.withLock { $0.append(order) }
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
        var drained = 0
        var waiters: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []
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

    private func note(_ step: String) {
        let ready = state.withLock { state in
            state.steps.append(step)
            let ready = state.waiters.filter { $0.count <= state.steps.count }
            state.waiters.removeAll { $0.count <= state.steps.count }
            return ready
        }
        for waiter in ready { waiter.wake.resume() }
    }

    var steps: [String] { state.withLock(\.steps) }
    var sent: [Message] { state.withLock(\.sent) }

    /// Returns once something was done for which `isIt` holds.
    func step(after: Int = 0, where isIt: (String) -> Bool) async -> Int {
        var seen = after
        while true {
            let steps = steps
            if let index = steps[seen...].firstIndex(where: isIt) { return index + 1 }
            seen = steps.count
            await withCheckedContinuation { (wake: CheckedContinuation<Void, Never>) in
                let isThere = state.withLock { state in
                    if state.steps.count > seen { return true }
                    state.waiters.append((seen + 1, wake))
                    return false
                }
                if isThere { wake.resume() }
            }
        }
    }
}

final class FakeMemory: BridgeMemory {
    private let values = Mutex<[String: JSONValue]>([:])
    private let full = Mutex(false)
    /// The disk has no room.
    var isFull: Bool {
        get { full.withLock { $0 } }
        set { full.withLock { $0 = newValue } }
    }
    func load(_ name: String) -> JSONValue? { values.withLock { $0[name] } }
    func save(_ name: String, _ value: JSONValue) -> Bool {
        guard !isFull else { return false }
        values.withLock { $0[name] = value }
        return true
    }
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

    /// A command that the disk does not know of would be done again after a restart.
    @Test func onAFullDiskNothingIsCarriedOut() async {
        let service = service()
        await withTaskGroup { group in
            group.addTask { await service.run() }
            box.say(houseWithCars())
            broker.happen(.connected(BrokerSession(version: .v5)))
            _ = await broker.step { $0 == "publish ftw/home/bridge/availability" }
            memory.isFull = true
            let topic = "ftw/home/car/garage/control/set"
            broker.happen(.message(Message(topic, #"{"id":"k","value":"pause"}"#)))
            func results() -> [JSONValue] {
                broker.sent.filter { $0.topic == "ftw/home/result" }.compactMap {
                    try? JSONValue(parsing: $0.payload)
                }
            }
            while results().last?["final"] != true { await Task.yield() }
            #expect(results().map { $0["stage"] } == ["received", "refused"])
            #expect(results().last?["text"]?.stringValue?.contains("state folder") == true)
            let health = broker.sent.last { $0.topic == "ftw/home/bridge/health" }
            let document = health.flatMap { try? JSONValue(parsing: $0.payload) }
            #expect(document?["last_error"]?["code"] == "state_not_saved")
            #expect(box.orders.isEmpty)
            memory.isFull = false
            broker.happen(.message(Message(topic, #"{"id":"l","value":"pause"}"#)))
            while box.orders.isEmpty { await Task.yield() }
            #expect(box.orders.map(\.id) == ["l"])
            group.cancelAll()
        }
    }

    @Test func subscribesThenPublishesThenIsOnline() async {
        let service = service()
        await withTaskGroup { group in
            group.addTask { await service.run() }
            box.say(house())
            broker.happen(.connected(BrokerSession(version: .v5)))
            _ = await broker.step { $0 == "publish ftw/home/bridge/availability" }
            #expect(broker.steps.first == "subscribe ftw/home/# homeassistant/status")
            #expect(broker.steps.filter { $0.hasPrefix("subscribe") }.count == 1)
            #expect(broker.sent.last { $0.topic == "ftw/home/bridge/availability" }?.text == "online")
            group.cancelAll()
        }
    }

    @Test func renewsWhenItsTimeHasCome() async {
        let service = service()
        await withTaskGroup { group in
            group.addTask { await service.run() }
            broker.happen(.connected(BrokerSession(version: .v5)))
            var seen = await broker.step { $0 == "publish ftw/home/bridge/availability" }
            for _ in 0..<5 {
                while time.sleeperCount == 0 { await Task.yield() }
                time.advance(by: .seconds(60))
                seen = await broker.step(after: seen) { $0 == "publish ftw/home/bridge/availability" }
            }
            group.cancelAll()
        }
    }

    @Test func asksForHealthAndReloads() async {
        let service = service(
            hooks: BridgeHooks(
                health: { HealthFacts(memoryBytes: 42, dropped: 0) }, reload: { "All taken over." }))
        await withTaskGroup { group in
            group.addTask { await service.run() }
            broker.happen(.connected(BrokerSession(version: .v5)))
            let seen = await broker.step { $0 == "publish ftw/home/bridge/availability" }
            _ = await broker.step(after: seen) { $0 == "publish ftw/home/bridge/health" }
            #expect(broker.sent.documents("bridge/health").last?["memory_bytes"] == 42)
            broker.happen(.message(Message("ftw/home/bridge/request/reload", "")))
            let first = await broker.step { $0 == "publish ftw/home/result" }
            _ = await broker.step(after: first) { $0 == "publish ftw/home/result" }
            #expect(broker.sent.documents("result").last?["text"] == "All taken over.")
            group.cancelAll()
        }
    }

    @Test func theBoxHearsWhenSomebodyStartsLooking() async {
        let service = service()
        await withTaskGroup { group in
            group.addTask { await service.run() }
            broker.happen(.connected(BrokerSession(version: .v5)))
            while box.looks.withLock({ $0 }) < 1 { await Task.yield() }
            broker.happen(.message(Message("homeassistant/status", "offline")))
            broker.happen(.message(Message("homeassistant/status", "online", retained: true)))
            broker.happen(.message(Message("homeassistant/status", "online")))
            while box.looks.withLock({ $0 }) < 2 { await Task.yield() }
            broker.happen(.connected(BrokerSession(version: .v5)))
            while box.looks.withLock({ $0 }) < 3 { await Task.yield() }
            // Neither the goodbye nor the kept birth was taken for a start.
            #expect(box.looks.withLock { $0 } == 3)
            group.cancelAll()
        }
    }

    @Test func remembersFromRunToRun() async {
        let first = service()
        await withTaskGroup { group in
            group.addTask { await first.run() }
            broker.happen(.connected(BrokerSession(version: .v5)))
            let seen = await broker.step { $0 == "publish ftw/home/bridge/availability" }
            box.say(house())
            _ = await broker.step(after: seen) { $0 == "publish ftw/home/power" }
            await first.goodbye()
            group.cancelAll()
        }
        #expect(broker.steps.suffix(2) == ["publish ftw/home/bridge/availability", "drain"])
        #expect(broker.sent.last?.text == "offline")
        #expect(memory.load("picture")?["power"]?["grid"]?.doubleValue == 1_200)
        #expect(memory.load("announced")?["identity"] == "0123456789abcdef")
    }

    @Test func endsWhenTheBrokersEventsEnd() async {
        let service = service()
        broker.end()
        await service.run()
    }
}
