public import Ambient
public import FoundationEssentials
import Synchronization

/// A clock that moves only when a test moves it.
public final class ManualTime: TimeSource {
    private struct State {
        var monotonic = Duration.zero
        var wall: Date
        var nextID = 0
        var sleepers: [Int: (deadline: Duration, wake: CheckedContinuation<Void, any Error>)] = [:]
    }
    private let state: Mutex<State>

    public init(wall: Date = Date(timeIntervalSince1970: 1_796_023_000)) {
        state = Mutex(State(wall: wall))
    }

    public var monotonic: Duration { state.withLock { $0.monotonic } }
    public var wall: Date { state.withLock { $0.wall } }
    /// How many tasks are waiting for time to pass.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Lets other tasks run until so many wait for time to pass; `false` when very many turns,
    /// which a busy machine does not need, did not bring that.
    public func hasSleepers(_ count: Int = 1) async -> Bool {
        for _ in 0..<2_000_000 {
            if sleeperCount >= count { return true }
            await Task.yield()
        }
        return false
    }

    /// Moves both clocks and wakes whoever is due, earliest first.
    public func advance(by duration: Duration) {
        let due = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
            state.monotonic += duration
            state.wall += duration / .seconds(1)
            let ready = state.sleepers.filter { $0.value.deadline <= state.monotonic }
            for id in ready.keys { state.sleepers[id] = nil }
            return ready.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(
                \.value.wake)
        }
        for wake in due { wake.resume() }
    }

    /// Sets the wall clock alone, as a time server or a person would.
    public func setWall(_ date: Date) { state.withLock { $0.wall = date } }

    public func sleep(until deadline: Duration) async throws {
        let id = state.withLock { state -> Int in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (wake: CheckedContinuation<Void, any Error>) in
                let now = state.withLock { state -> Bool in
                    if state.monotonic >= deadline || Task.isCancelled { return true }
                    state.sleepers[id] = (deadline, wake)
                    return false
                }
                if now { wake.resume() }
            }
            try Task.checkCancellation()
        } onCancel: {
            let wake = state.withLock { $0.sleepers.removeValue(forKey: id)?.wake }
            wake?.resume(throwing: CancellationError())
        }
    }
}
