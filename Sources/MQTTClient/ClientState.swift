import Ambient
import MQTTTypes
import Synchronization

/// What the client's callers and its network thread share.
///
/// Callers leave messages and questions here and wake the thread; the library
/// itself is touched by the thread alone, so a caller never waits for a socket.
final class ClientState: Sendable {
    struct Subscription {
        var filters: [String]
        var answer: CheckedContinuation<[Bool], Never>
    }
    struct Drain {
        var id: Int
        /// Settled once everything before this index is.
        var ticket: Int
        var done: CheckedContinuation<Void, Never>
    }
    struct Shared {
        var session: BrokerSession?
        var outbox: Outbox
        var subscriptions: [Subscription] = []
        var drains: [Drain] = []
        var nextDrain = 0
        var counters = MQTTCounters()
        var stopping = false
        var resolving = false
        var running = false
        var redial: RedialMachine
        /// A topic that is none was spoken of since the last connection began.
        var saidNoTopic = false

        /// A message under a topic that is none.
        ///
        /// - Returns: Whether to say so.
        mutating func refuseTopic() -> Bool {
            counters.refused += 1
            defer { saidNoTopic = true }
            return !saidNoTopic
        }

        /// A connection begins: what was said before may be said again.
        mutating func begin(_ session: BrokerSession) {
            outbox.clear()
            self.session = session
            counters.connects += 1
            saidNoTopic = false
        }
    }

    let settings: MQTTSettings
    let ambient: Ambient
    let shared: Mutex<Shared>
    let channel: EventChannel
    let wakeup = Wakeup()

    init(settings: MQTTSettings, ambient: Ambient) {
        self.settings = settings
        self.ambient = ambient
        channel = EventChannel(bounds: settings.bounds, wakeup: wakeup)
        shared = Mutex(
            Shared(outbox: Outbox(bounds: settings.bounds), redial: RedialMachine(settings: settings)))
    }

    var isStopping: Bool { shared.withLock { $0.stopping } }

    /// The thread ends at its next look.
    ///
    /// - Returns: Whether the thread is waiting for the resolver, which cannot be
    ///   called off: then nobody should wait for the thread.
    func stop() -> Bool {
        let resolving = shared.withLock { state in
            state.stopping = true
            return state.resolving
        }
        wakeup.wake()
        return resolving
    }

    /// From here on messages are taken, and the reader is told.
    func accepted(_ session: BrokerSession) {
        let now = ambient.time.monotonic
        let speak = shared.withLock { state in
            state.begin(session)
            return state.redial.accepted(at: now)
        }
        if speak {
            ambient.log.notice(
                "broker \(settings.host):\(settings.port) connected, MQTT \(session.version.rawValue)")
        }
        channel.put(.connected(session))
    }

    /// Nothing that waits outlives its connection.
    func connectionEnded() {
        let (subscriptions, drains) = shared.withLock { state in
            state.session = nil
            state.outbox.clear()
            defer {
                state.subscriptions = []
                state.drains = []
            }
            return (state.subscriptions, state.drains)
        }
        for subscription in subscriptions {
            subscription.answer.resume(returning: subscription.filters.map { _ in false })
        }
        for drain in drains { drain.done.resume() }
    }

    /// Wakes those whose messages have all gone.
    func settleDrains() {
        let done = shared.withLock { state -> [Drain] in
            guard !state.drains.isEmpty else { return [] }
            let settled = state.outbox.settled
            let done = state.drains.filter { $0.ticket <= settled }
            state.drains.removeAll { $0.ticket <= settled }
            return done
        }
        for drain in done { drain.done.resume() }
    }
}
