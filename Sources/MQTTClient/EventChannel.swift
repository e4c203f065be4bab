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

/// The queue of events between the network thread and its one reader.
final class EventChannel: Sendable {
    private struct State {
        var queue: EventQueue
        var reader: CheckedContinuation<Arrival?, Never>?
        var finished = false
        /// Nothing is read until there is room again.
        var isFull = false
    }
    private let state: Mutex<State>
    private let wakeup: Wakeup

    /// - Parameter wakeup: Wakes whoever puts events in, once there is room again.
    init(bounds: MQTTSettings.Bounds, wakeup: Wakeup) {
        state = Mutex(State(queue: EventQueue(bounds: bounds)))
        self.wakeup = wakeup
    }

    /// Nothing more should be put in for now.
    var isFull: Bool { state.withLock { $0.isFull } }

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
            state.isFull = state.isFull || state.queue.isFull
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
            var hasRoomAgain = false
            let now = state.withLock { state -> Arrival?? in
                if let arrival = state.queue.take() {
                    hasRoomAgain = state.isFull && state.queue.hasRoom
                    if hasRoomAgain { state.isFull = false }
                    return .some(arrival)
                }
                if state.finished || Task.isCancelled || state.reader != nil { return .some(nil) }
                state.reader = reader
                return nil
            }
            if hasRoomAgain { wakeup.wake() }
            if let now { reader.resume(returning: now) }
        }
    }

    private func abandon() {
        let reader = state.withLock { $0.reader.take() }
        reader?.resume(returning: nil)
    }
}
