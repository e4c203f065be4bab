import Synchronization

/// A queue between threads and one reader, which never grows past its bound.
///
/// When it is full, the oldest droppable element goes first: a ciphertext that
/// waited too long is worth nothing, since its sender repeats the state every
/// second. What may not be dropped (`ready`, `gone`, the loss of a socket) is
/// kept, except that everything before the last `isBreak` element is history
/// and goes before anything else.
final class BoundedInbox<Element: Sendable>: Sendable {
    enum Weight { case droppable, kept, breaking }

    private struct State {
        var elements: [Element] = []
        var head = 0
        var finished = false
        var dropped = 0
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]

        var count: Int { elements.count - head }
    }
    private let state = Mutex(State())
    private let bound: Int
    private let weigh: @Sendable (Element) -> Weight

    /// - Parameters:
    ///   - bound: The most elements that wait at any time, at least 2.
    ///   - weigh: What may be lost when the reader is too slow.
    init(bound: Int, weigh: @escaping @Sendable (Element) -> Weight) {
        self.bound = max(2, bound)
        self.weigh = weigh
    }

    /// How many elements were dropped so far.
    var droppedCount: Int { state.withLock { $0.dropped } }

    func push(_ element: Element) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard !state.finished else { return [] }
            if state.count >= bound { makeRoom(&state) }
            state.elements.append(element)
            return takeWaiters(&state)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The oldest element, or `nil` when there is none now.
    func poll() -> Element? {
        state.withLock { state in
            guard state.head < state.elements.count else { return nil }
            let element = state.elements[state.head]
            state.head += 1
            if state.head == state.elements.count {
                state.elements.removeAll(keepingCapacity: state.head <= 256)
                state.head = 0
            } else if state.head > 256 {
                state.elements.removeFirst(state.head)
                state.head = 0
            }
            return element
        }
    }

    /// Waits for the next element; `nil` once finished and empty, or when the
    /// task is cancelled.
    func next() async -> Element? {
        while !Task.isCancelled {
            if let element = poll() { return element }
            if state.withLock({ $0.finished && $0.count == 0 }) { return nil }
            await waitForMore()
        }
        return nil
    }

    /// Returns when there is something to poll, at the end, or when cancelled.
    func waitForMore() async {
        let id = state.withLock { state -> Int in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
                let now = state.withLock { state -> Bool in
                    if state.count > 0 || state.finished || Task.isCancelled { return true }
                    state.waiters[id] = waiter
                    return false
                }
                if now { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }

    /// Accepts nothing more; what is queued can still be read.
    func finish() {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.finished = true
            return takeWaiters(&state)
        }
        for waiter in waiters { waiter.resume() }
    }

    private func takeWaiters(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        defer { state.waiters.removeAll() }
        return Array(state.waiters.values)
    }

    private func makeRoom(_ state: inout State) {
        state.elements.removeFirst(state.head)
        state.head = 0
        if let last = state.elements.lastIndex(where: { weigh($0) == .breaking }), last > 0 {
            state.elements.removeFirst(last)
            state.dropped += last
        } else {
            let oldest = state.elements.firstIndex { weigh($0) == .droppable }
            // Nothing but words: the oldest word says least about now.
            state.elements.remove(at: oldest ?? min(1, state.elements.count - 1))
            state.dropped += 1
        }
    }
}
