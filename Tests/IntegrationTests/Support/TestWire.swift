import Glibc
import Synchronization

/// A wire between a client and a broker that a test can cut or freeze.
///
/// To cut it is what a lost network looks like to both ends: the connection is
/// gone and nobody said goodbye.
final class TestWire: Sendable {
    private struct State {
        var upstream: Int
        var pairs: [(near: Int32, far: Int32)] = []
        var cut = false
        var frozen = false
        var stopped = false
        var accepted = 0
        var ended = false
    }
    let port: Int
    private let listener: Int32
    private let state: Mutex<State>

    init(to upstream: Int) throws {
        (listener, port) = try Loopback.listen()
        state = Mutex(State(upstream: upstream))
        TestThread.start { [self] in
            while turn() {}
        }
    }

    /// Connections taken so far.
    var accepted: Int { state.withLock { $0.accepted } }
    /// Ends every connection that stands; new ones are taken.
    func cut() { state.withLock { $0.cut = true } }
    /// Passes nothing on in either direction, and takes no new connection, until `thaw`.
    func freeze() { state.withLock { $0.frozen = true } }
    func thaw() { state.withLock { $0.frozen = false } }

    /// To be called at the end of the test; ends the thread.
    func stop() { state.withLock { $0.stopped = true } }

    private func turn() -> Bool {
        let (stopped, frozen) = state.withLock { state in
            if state.cut || state.stopped {
                for pair in state.pairs {
                    close(pair.near)
                    close(pair.far)
                }
                state.pairs = []
                state.cut = false
            }
            return (state.stopped, state.frozen)
        }
        if stopped {
            close(listener)
            return false
        }
        if frozen {
            usleep(5_000)
            return true
        }
        let pairs = state.withLock { $0.pairs }
        var polled = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
        for pair in pairs {
            polled.append(pollfd(fd: pair.near, events: Int16(POLLIN), revents: 0))
            polled.append(pollfd(fd: pair.far, events: Int16(POLLIN), revents: 0))
        }
        _ = poll(&polled, nfds_t(polled.count), 5)
        if polled[0].revents != 0 { take() }
        for (place, pair) in pairs.enumerated() {
            let near = polled[1 + 2 * place].revents != 0
            let far = polled[2 + 2 * place].revents != 0
            if near && !pass(pair.near, pair.far) || far && !pass(pair.far, pair.near) { drop(pair) }
        }
        return true
    }

    private func take() {
        let near = accept(listener, nil, nil)
        guard near >= 0 else { return }
        guard let far = Loopback.connect(port: state.withLock { $0.upstream }) else {
            close(near)
            return
        }
        state.withLock { state in
            state.pairs.append((near, far))
            state.accepted += 1
        }
    }

    private func drop(_ pair: (near: Int32, far: Int32)) {
        close(pair.near)
        close(pair.far)
        state.withLock { $0.pairs.removeAll { $0 == pair } }
    }

    private func pass(_ from: Int32, _ to: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(from, &bytes, bytes.count, 0)
        guard count > 0 else { return false }
        var sent = 0
        while sent < count {
            let written = bytes[sent..<count].withUnsafeBytes {
                send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard written > 0 else { return false }
            sent += written
        }
        return true
    }
}

/// A thread for a test's own sockets; ends when its closure returns.
enum TestThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    static func start(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body)).toOpaque()
        let rc = pthread_create(
            &thread, nil,
            { @Sendable context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            }, work)
        if rc == 0 { pthread_detach(thread) }
    }
}
