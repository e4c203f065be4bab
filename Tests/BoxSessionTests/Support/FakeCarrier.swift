import BoxLink
import Synchronization

/// A carrier whose far end is the test.
final class FakeCarrier: Carrier {
    let events: AsyncStream<CarrierEvent>
    private let input: AsyncStream<CarrierEvent>.Continuation
    private struct State {
        var sent: [[UInt8]] = []
        var redials = 0
        var proven = 0
        var hasEnded = false
    }
    private let state = Mutex(State())

    init() { (events, input) = AsyncStream.makeStream() }

    func send(_ bytes: [UInt8]) { state.withLock { $0.sent.append(bytes) } }
    func redial() { state.withLock { $0.redials += 1 } }
    func pathProven() { state.withLock { $0.proven += 1 } }
    func run() async {
        // Nothing ever comes: this returns when the task is cancelled.
        let (never, end) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        end.finish()
        state.withLock { $0.hasEnded = true }
    }

    func deliver(_ event: CarrierEvent) { input.yield(event) }
    /// What was sent since the last call.
    func taken() -> [[UInt8]] {
        state.withLock { state in
            defer { state.sent = [] }
            return state.sent
        }
    }
    var sentCount: Int { state.withLock { $0.sent.count } }
    var redials: Int { state.withLock { $0.redials } }
    var proven: Int { state.withLock { $0.proven } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }
}
