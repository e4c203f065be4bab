public import BoxLink
import Synchronization

/// A carrier whose cable can be pulled: the box is then in no room, as one without power.
///
/// A carrier runs once, so each time the cable goes in there is a new one.
public final class CableCarrier: Carrier {
    private struct State {
        var isPluggedIn = true
        var carrier: (any Carrier)?
    }
    private let state = Mutex(State())
    private let make: @Sendable () -> any Carrier
    private let input: AsyncStream<CarrierEvent>.Continuation
    private let changes: AsyncStream<Void>
    private let change: AsyncStream<Void>.Continuation
    public let events: AsyncStream<CarrierEvent>

    /// - Parameter make: A new carrier into the same room.
    public init(_ make: @escaping @Sendable () -> any Carrier) {
        self.make = make
        (events, input) = AsyncStream.makeStream(
            of: CarrierEvent.self, bufferingPolicy: .bufferingOldest(1_024))
        (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    public var isPluggedIn: Bool { state.withLock { $0.isPluggedIn } }

    /// Pulls the cable, or puts it back.
    public func plug(_ isIn: Bool) {
        state.withLock { $0.isPluggedIn = isIn }
        change.yield()
    }

    public func send(_ bytes: [UInt8]) { state.withLock { $0.carrier }?.send(bytes) }
    public func redial() { state.withLock { $0.carrier }?.redial() }
    public func pathProven() { state.withLock { $0.carrier }?.pathProven() }

    public func run() async {
        var changed = changes.makeAsyncIterator()
        while !Task.isCancelled {
            if isPluggedIn {
                let carrier = make()
                state.withLock { $0.carrier = carrier }
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await carrier.run() }
                    group.addTask { for await event in carrier.events { self.input.yield(event) } }
                    while isPluggedIn {
                        guard await changed.next() != nil else { break }
                    }
                    group.cancelAll()
                }
                state.withLock { $0.carrier = nil }
                input.yield(
                    .lost(CarrierLoss(cause: .closed, sentence: "The cable was pulled.", retryIn: .zero)))
            } else {
                guard await changed.next() != nil else { break }
            }
        }
        input.finish()
    }
}
