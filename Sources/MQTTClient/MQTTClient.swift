public import Ambient
import Glibc
public import MQTTTypes
import Synchronization

/// A client of one MQTT broker that keeps itself connected.
///
/// Speaks MQTT 5 and falls back to 3.1.1 when the broker refuses it. Sessions
/// are always clean: after each `connected` the reader subscribes and publishes
/// everything again, and nothing from before is sent late.
public final class MQTTClient: Sendable {
    private let state: ClientState
    /// Every event in order, for one consumer. Messages are bounded: of those with
    /// QoS 0 the oldest give way (`Bounds.inboxUnacknowledged`), and for the others the
    /// broker has to wait (`Bounds.inboxMessages`, `Bounds.inboxBytes`). News of the
    /// connection is never lost to them.
    /// Ends when `run()` has returned and everything was read.
    public let events: AsyncStream<BrokerEvent>

    public init(settings: MQTTSettings, ambient: Ambient) {
        state = ClientState(settings: settings, ambient: ambient)
        events = state.channel.stream
    }

    /// Connects, and connects again whenever the connection ends, until cancelled.
    ///
    /// On cancellation an open connection is closed with DISCONNECT, so the
    /// broker does not publish the will; what still waits is lost, so `drain`
    /// first. For one call per client; a second one returns at once.
    public func run() async {
        let first = state.shared.withLock { state in
            defer { state.running = true }
            return !state.running
        }
        guard first else { return }
        let time = state.ambient.time
        while !Task.isCancelled {
            let now = time.monotonic
            let dial = state.shared.withLock { $0.redial.dial(at: now) }
            let end = await attempt(dial)
            let endedAt = time.monotonic
            let chance = state.ambient.chance()
            let redial = state.shared.withLock { $0.redial.ended(end, at: endedAt, chance: chance) }
            if let level = redial.announce { state.ambient.log(level, redial.loss.sentence) }
            state.channel.put(.disconnected(redial.loss))
            if end == .stopped { break }
            do { try await time.sleep(for: redial.delay) } catch { break }
        }
        state.connectionEnded()
        state.channel.finish()
    }

    /// Hands a message over and never waits.
    ///
    /// Dropped and counted: without a connection, and when the bounds of the
    /// outbox are reached. Of a retained topic only the newest waiting message is
    /// sent. A topic that is not valid, and a message the broker does not take, are
    /// logged once per connection.
    public func publish(_ message: Message) {
        guard TopicName.isValid(message.topic) else {
            if state.shared.withLock({ $0.refuseTopic() }) {
                state.ambient.log.error("a message was published under a topic that is none; it is left out")
            }
            return
        }
        let taken = state.shared.withLock { state in
            guard state.session != nil else {
                state.counters.droppedWhileAway += 1
                return false
            }
            state.outbox.put(message)
            return true
        }
        if taken { state.wakeup.wake() }
    }

    /// Subscribes to all filters in one SUBSCRIBE packet, with QoS 1.
    ///
    /// - Returns: For each filter, in order, whether the broker granted it. All
    ///   false without a connection, when it ends first, and when the broker
    ///   leaves the question unanswered for 30 s.
    public func subscribe(_ filters: [String]) async -> [Bool] {
        guard !filters.isEmpty else { return [] }
        return await withCheckedContinuation { (answer: CheckedContinuation<[Bool], Never>) in
            let asked = state.shared.withLock { state in
                guard state.session != nil else { return false }
                state.subscriptions.append(.init(filters: filters, answer: answer))
                return true
            }
            if asked {
                state.wakeup.wake()
            } else {
                answer.resume(returning: filters.map { _ in false })
            }
        }
    }

    /// Returns when everything handed over so far was written (QoS 0) or
    /// acknowledged (QoS 1), when the connection ends, or after `limit`.
    public func drain(limit: Duration) async {
        let id = state.shared.withLock { state in
            state.nextDrain += 1
            return state.nextDrain
        }
        await withTaskGroup { group in
            group.addTask { await self.settled(id) }
            group.addTask { [time = state.ambient.time] in try? await time.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Whether the next event can be had without waiting.
    public var hasMoreEvents: Bool { state.channel.hasMore }

    public func counters() -> MQTTCounters {
        let unread = state.channel.dropped
        return state.shared.withLock { state in
            var counters = state.counters
            counters.dropped += state.outbox.dropped
            counters.replaced = state.outbox.replaced
            counters.queued = state.outbox.waiting
            counters.queueHighWater = state.outbox.highWater
            counters.receivedDropped += unread
            counters.version = state.session?.version
            return counters
        }
    }

    private func settled(_ id: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                let waits = state.shared.withLock { state in
                    let ticket = state.outbox.nextIndex
                    if Task.isCancelled || state.session == nil || state.outbox.settled >= ticket {
                        return false
                    }
                    state.drains.append(.init(id: id, ticket: ticket, done: done))
                    return true
                }
                if !waits { done.resume() }
            }
        } onCancel: {
            let drain = state.shared.withLock { state in
                state.drains.firstIndex { $0.id == id }.map { state.drains.remove(at: $0) }
            }
            drain?.done.resume()
        }
    }

    private func attempt(_ dial: RedialMachine.Dial) async -> ConnectionEnd {
        let outcome = Outcome()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                outcome.wait(waiter)
                let state = state
                let started = NetworkThread.start {
                    outcome.set(BrokerConnection.run(state: state, dial: dial))
                }
                if !started { outcome.set(.protocolError("the system has no thread left")) }
            }
        } onCancel: {
            if state.stop() { outcome.set(.stopped) }
        }
    }
}

/// The first answer to one question, whoever gives it.
private final class Outcome: Sendable {
    private struct State {
        var waiter: CheckedContinuation<ConnectionEnd, Never>?
        var end: ConnectionEnd?
    }
    private let state = Mutex(State())

    func wait(_ waiter: CheckedContinuation<ConnectionEnd, Never>) {
        let end = state.withLock { state in
            if state.end == nil { state.waiter = waiter }
            return state.end
        }
        if let end { waiter.resume(returning: end) }
    }

    func set(_ end: ConnectionEnd) {
        let waiter = state.withLock { state -> CheckedContinuation<ConnectionEnd, Never>? in
            guard state.end == nil else { return nil }
            state.end = end
            return state.waiter.take()
        }
        waiter?.resume(returning: end)
    }
}

/// A thread that runs one closure.
private enum NetworkThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let rc = pthread_create(&thread, nil, threadMain, work.toOpaque())
        guard rc == 0 else {
            work.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    fileprivate static func run(_ context: UnsafeMutableRawPointer) {
        Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
    }
}

private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // Signals belong to the main thread; SIGPIPE to nobody: the library writes
    // to sockets whose other end may be gone, and reads the error.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
    if let context { NetworkThread.run(context) }
    return nil
}
