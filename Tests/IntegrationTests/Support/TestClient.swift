import Ambient
import MQTTClient
import MQTTTypes
import Synchronization

/// Remembers log lines, so that a test can read what a person would.
final class LogLines: Sendable {
    private let lines = Mutex<[(level: LogLevel, text: String)]>([])
    var all: [(level: LogLevel, text: String)] { lines.withLock { $0 } }
    var texts: [String] { all.map(\.text) }
    var log: Log {
        Log(threshold: .debug) { level, text in self.lines.withLock { $0.append((level, text)) } }
    }
    func containing(_ words: String) -> [String] { texts.filter { $0.contains(words) } }
}

/// An `MQTTClient` with its `run()` under way and its events remembered in order.
///
/// End it with `close()`, which says goodbye to the broker.
final class TestClient: Sendable {
    let client: MQTTClient
    let lines = LogLines()
    private let events = EventLog()
    private let running: Task<Void, Never>
    private let reading: Task<Void, Never>

    /// Dials again after the shortest wait unless `chance` says otherwise.
    init(_ settings: MQTTSettings, chance: Double = 0) {
        let client = MQTTClient(settings: settings, ambient: Ambient(log: lines.log, chance: { chance }))
        self.client = client
        // Ended by `close()`, or with this value; the stream of events ends with `run()`.
        running = Task { await client.run() }
        reading = Task { [events] in
            for await event in client.events { events.append(event) }
            events.finish()
        }
    }

    deinit { running.cancel() }

    func close() async {
        await client.drain(limit: .seconds(5))
        await abandon()
    }

    /// Ends without waiting for what is under way.
    func abandon() async {
        running.cancel()
        await running.value
        await reading.value
    }

    var seen: [BrokerEvent] { events.all }

    @discardableResult
    func connected() async throws -> BrokerSession {
        try await events.next("a connection") {
            if case .connected(let session) = $0 { session } else { nil }
        }
    }

    @discardableResult
    func lost() async throws -> BrokerLoss {
        try await events.next("a loss") { if case .disconnected(let loss) = $0 { loss } else { nil } }
    }

    @discardableResult
    func message(_ topic: String) async throws -> Message {
        try await events.next("a message on \(topic)") {
            if case .message(let message) = $0, message.topic == topic { message } else { nil }
        }
    }

    /// The next unread message that is wanted.
    func next(_ what: String, _ isWanted: @escaping @Sendable (Message) -> Bool) async throws -> Message {
        try await events.next(what) {
            if case .message(let message) = $0, isWanted(message) { message } else { nil }
        }
    }

    /// Connects, and subscribes to `filters`.
    static func subscribed(_ settings: MQTTSettings, to filters: [String]) async throws -> TestClient {
        let client = TestClient(settings)
        try await client.connected()
        let granted = await client.client.subscribe(filters)
        guard granted.allSatisfy(\.self) else { throw TestSetupError("not granted: \(filters) \(granted)") }
        return client
    }

    /// Every retained message that matches `filter`, by topic.
    ///
    /// The broker sends them on the subscription and then, in order, a marker
    /// that is published after it was granted; so nothing is waited for by time.
    static func retained(
        _ settings: MQTTSettings, filter: String = "#"
    ) async throws -> [String: Message] {
        var settings = settings
        settings.clientID = "dump-\(UInt64.random(in: 0...UInt64.max))"
        settings.bounds.inboundPacketBytes = 4 << 20
        settings.bounds.inboxUnacknowledged = 1 << 20
        settings.will = nil
        let marker = "test/marker/\(settings.clientID)"
        let client = try await subscribed(settings, to: [filter, marker])
        client.client.publish(Message(marker, "end"))
        try await client.message(marker)
        let messages = client.seen.compactMap { event -> Message? in
            if case .message(let message) = event, message.retained { message } else { nil }
        }
        await client.close()
        return Dictionary(messages.map { ($0.topic, $0) }) { _, newer in newer }
    }
}

/// Events as they came, read by one test that waits for the ones it wants.
final class EventLog: Sendable {
    private struct State {
        var events: [BrokerEvent] = []
        var read = 0
        var finished = false
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())
    /// Long, for a machine that is busy; a passing test never waits for it.
    private static let limit = Duration.seconds(30)

    var all: [BrokerEvent] { state.withLock { $0.events } }

    func append(_ event: BrokerEvent) { wake { $0.events.append(event) } }
    func finish() { wake { $0.finished = true } }

    /// The next unread event that `pick` wants; those before it count as read.
    func next<T: Sendable>(_ what: String, _ pick: @escaping @Sendable (BrokerEvent) -> T?) async throws -> T
    {
        let found = await withTaskGroup(of: T?.self) { group in
            group.addTask { await self.search(pick) }
            group.addTask {
                try? await Task.sleep(for: Self.limit)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        guard let found else { throw TestSetupError("\(what) did not come; seen: \(all.suffix(12))") }
        return found
    }

    private func search<T>(_ pick: (BrokerEvent) -> T?) async -> T? {
        while !Task.isCancelled {
            let (found, ended) = state.withLock { state -> (T?, Bool) in
                while state.read < state.events.count {
                    let event = state.events[state.read]
                    state.read += 1
                    if let wanted = pick(event) { return (wanted, false) }
                }
                return (nil, state.finished)
            }
            if found != nil || ended { return found }
            await more()
        }
        return nil
    }

    private func more() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
                let waits = state.withLock { state in
                    if state.read < state.events.count || state.finished || Task.isCancelled { return false }
                    state.waiter = waiter
                    return true
                }
                if !waits { waiter.resume() }
            }
        } onCancel: {
            wake { _ in }
        }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            return state.waiter.take()
        }
        waiter?.resume()
    }
}
