import MQTTTypes
import Synchronization

/// Events that wait for their reader. Pure.
///
/// Messages are bounded, the oldest give way and are counted. News of the
/// connection is never lost to a burst of messages; what is outdated by newer
/// news is.
struct EventQueue {
    private let messageLimit: Int
    private let newsLimit = 64
    private var waiting: [BrokerEvent] = []
    private var messages = 0
    private(set) var dropped: UInt64 = 0

    init(messageLimit: Int) { self.messageLimit = max(1, messageLimit) }

    var count: Int { waiting.count }

    mutating func put(_ event: BrokerEvent) {
        switch event {
        case .message:
            if messages >= messageLimit, let oldest = waiting.firstIndex(where: \.isMessage) {
                waiting.remove(at: oldest)
                messages -= 1
                dropped += 1
            }
            messages += 1
        case .disconnected:
            // Of attempt after attempt in vain only the newest says when the next one is.
            if case .disconnected = waiting.last { waiting.removeLast() }
        case .connected: break
        }
        waiting.append(event)
        if waiting.count - messages > newsLimit { dropOldestNews() }
    }

    mutating func take() -> BrokerEvent? {
        guard !waiting.isEmpty else { return nil }
        let event = waiting.removeFirst()
        if event.isMessage { messages -= 1 }
        return event
    }

    /// One `connected` and the `disconnected` after it, so that what is left still alternates.
    private mutating func dropOldestNews() {
        for _ in 0..<2 {
            if let oldest = waiting.firstIndex(where: { !$0.isMessage }) { waiting.remove(at: oldest) }
        }
    }
}

extension BrokerEvent {
    fileprivate var isMessage: Bool {
        if case .message = self { return true }
        return false
    }
}

/// The queue of events between the network thread and its one reader.
final class EventChannel: Sendable {
    private struct State {
        var queue: EventQueue
        var reader: CheckedContinuation<BrokerEvent?, Never>?
        var finished = false
    }
    private let state: Mutex<State>

    init(messageLimit: Int) { state = Mutex(State(queue: EventQueue(messageLimit: messageLimit))) }

    /// For one consumer; ends once the client has ended and everything was read.
    var stream: AsyncStream<BrokerEvent> {
        AsyncStream {
            await self.next()
        } onCancel: { @Sendable in
            self.abandon()
        }
    }

    var dropped: UInt64 { state.withLock { $0.queue.dropped } }

    func put(_ event: BrokerEvent) {
        let reader = state.withLock { state -> CheckedContinuation<BrokerEvent?, Never>? in
            guard !state.finished else { return nil }
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            state.queue.put(event)
            return nil
        }
        reader?.resume(returning: event)
    }

    func finish() {
        let reader = state.withLock { state in
            state.finished = true
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }

    private func next() async -> BrokerEvent? {
        await withCheckedContinuation { (reader: CheckedContinuation<BrokerEvent?, Never>) in
            let now = state.withLock { state -> BrokerEvent?? in
                if let event = state.queue.take() { return .some(event) }
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
