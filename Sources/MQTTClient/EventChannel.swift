import MQTTTypes
import Synchronization

/// An event, and since when it may have lain unread.
struct Arrival: Sendable {
    var event: BrokerEvent
    /// The last look at the socket that found it empty.
    var since: ContinuousClock.Instant

    /// A connection is looked at each second. Only a wait that this does not explain
    /// means that the program or its machine stood still.
    static let unremarkable = Duration.seconds(3)

    /// The event as it is handed on at `now`: a message that lay for longer says so.
    func handed(at now: ContinuousClock.Instant) -> BrokerEvent {
        guard case .message(var message) = event else { return event }
        let waited = since.duration(to: now)
        message.waited = waited > Self.unremarkable ? waited : .zero
        return .message(message)
    }
}

/// Events that wait for their reader. Pure.
///
/// Messages are bounded; those of QoS 0 give way first, then the oldest, and are counted. News of the
/// connection is never lost to a burst of messages; what is outdated by newer
/// news is.
struct EventQueue {
    private let messageLimit: Int
    private let newsLimit = 64
    private var waiting: [Arrival] = []
    private var messages = 0
    private(set) var dropped: UInt64 = 0

    init(messageLimit: Int) { self.messageLimit = max(1, messageLimit) }

    var count: Int { waiting.count }

    mutating func put(_ arrival: Arrival) {
        switch arrival.event {
        case .message:
            // What was acknowledged stays longer: nobody sends it again.
            if messages >= messageLimit,
                let oldest = waiting.firstIndex(where: \.event.isUnacknowledged)
                    ?? waiting.firstIndex(where: \.event.isMessage)
            {
                waiting.remove(at: oldest)
                messages -= 1
                dropped += 1
            }
            messages += 1
        case .disconnected:
            // Of attempt after attempt in vain only the newest says when the next one is.
            if case .disconnected = waiting.last?.event { waiting.removeLast() }
        case .connected: break
        }
        waiting.append(arrival)
        if waiting.count - messages > newsLimit { dropOldestNews() }
    }

    mutating func take() -> Arrival? {
        guard !waiting.isEmpty else { return nil }
        let arrival = waiting.removeFirst()
        if arrival.event.isMessage { messages -= 1 }
        return arrival
    }

    /// One `connected` and the `disconnected` after it, so that what is left still alternates.
    private mutating func dropOldestNews() {
        for _ in 0..<2 {
            if let oldest = waiting.firstIndex(where: { !$0.event.isMessage }) { waiting.remove(at: oldest) }
        }
    }
}

extension BrokerEvent {
    fileprivate var isMessage: Bool {
        if case .message = self { return true }
        return false
    }

    fileprivate var isUnacknowledged: Bool {
        if case .message(let message) = self { return message.qos == .atMostOnce }
        return false
    }
}

/// The queue of events between the network thread and its one reader.
final class EventChannel: Sendable {
    private struct State {
        var queue: EventQueue
        var reader: CheckedContinuation<Arrival?, Never>?
        var finished = false
    }
    private let state: Mutex<State>

    init(messageLimit: Int) { state = Mutex(State(queue: EventQueue(messageLimit: messageLimit))) }

    /// For one consumer; ends once the client has ended and everything was read.
    var stream: AsyncStream<BrokerEvent> {
        AsyncStream {
            // Looked up here, where the reader goes on: it may have stood still until now.
            await self.next()?.handed(at: .now)
        } onCancel: { @Sendable in
            self.abandon()
        }
    }

    var dropped: UInt64 { state.withLock { $0.queue.dropped } }
    var hasMore: Bool { state.withLock { $0.queue.count > 0 } }

    /// - Parameter since: The last look at the socket that found it empty.
    func put(_ event: BrokerEvent, since: ContinuousClock.Instant = .now) {
        let arrival = Arrival(event: event, since: since)
        let reader = state.withLock { state -> CheckedContinuation<Arrival?, Never>? in
            guard !state.finished else { return nil }
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            state.queue.put(arrival)
            return nil
        }
        reader?.resume(returning: arrival)
    }

    func finish() {
        let reader = state.withLock { state in
            state.finished = true
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }

    private func next() async -> Arrival? {
        await withCheckedContinuation { (reader: CheckedContinuation<Arrival?, Never>) in
            let now = state.withLock { state -> Arrival?? in
                if let arrival = state.queue.take() { return .some(arrival) }
                if state.finished || Task.isCancelled || state.reader != nil { return .some(nil) }
                state.reader = reader
                return nil
            }
            if let now { reader.resume(returning: now) }
        }
    }

    private func abandon() {
        let reader = state.withLock { $0.reader.take() }
        reader?.resume(returning: nil)
    }
}
