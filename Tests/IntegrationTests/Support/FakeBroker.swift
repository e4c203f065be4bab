import Glibc
import Synchronization

/// Something that listens like a broker and behaves as no good broker does.
final class FakeBroker: Sendable {
    /// What it does with a CONNECT that asks for a protocol level (4 is 3.1.1, 5 is 5).
    enum Answer: Sendable {
        case bytes([UInt8])
        case bytesThenClose([UInt8])
        case close
        case silence
    }
    private struct State {
        var levels: [UInt8] = []
        var taken = 0
        var stopped = false
        var ended = false
    }
    let port: Int
    private let listener: Int32
    private let readsOn: Bool
    private let answer: @Sendable (UInt8) -> Answer
    private let state = Mutex(State())

    /// - Parameter readsOn: Whether it reads anything after the CONNECT.
    init(port: Int = 0, readsOn: Bool = true, answer: @escaping @Sendable (_ level: UInt8) -> Answer) throws {
        (listener, self.port) = try Loopback.listen(port: port)
        self.readsOn = readsOn
        self.answer = answer
        TestThread.start { [self] in serve() }
    }

    /// CONNACK of MQTT 5 and of 3.1.1 that says yes.
    static let accept5: [UInt8] = [0x20, 3, 0, 0, 0]
    static let accept311: [UInt8] = [0x20, 2, 0, 0]

    /// The protocol levels it was asked for, in order.
    var levels: [UInt8] { state.withLock { $0.levels } }
    var connections: Int { state.withLock { $0.taken } }

    /// Ends its thread and closes its port; returns once it has.
    func stop() {
        state.withLock { $0.stopped = true }
        while !state.withLock({ $0.ended }) { usleep(1_000) }
    }

    private func serve() {
        var open: [Int32] = []
        var greeted: Set<Int32> = []
        while !state.withLock({ $0.stopped }) {
            var polled = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
            for socket in open where readsOn || !greeted.contains(socket) {
                polled.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0))
            }
            _ = poll(&polled, nfds_t(polled.count), 5)
            for entry in polled where entry.revents != 0 {
                if entry.fd == listener {
                    let socket = accept(listener, nil, nil)
                    guard socket >= 0 else { continue }
                    open.append(socket)
                    state.withLock { $0.taken += 1 }
                } else if !read(entry.fd, &greeted) {
                    close(entry.fd)
                    open.removeAll { $0 == entry.fd }
                    greeted.remove(entry.fd)
                }
            }
        }
        for socket in open { close(socket) }
        close(listener)
        state.withLock { $0.ended = true }
    }

    private func read(_ socket: Int32, _ greeted: inout Set<Int32>) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = recv(socket, &bytes, bytes.count, 0)
        guard count > 0 else { return false }
        guard greeted.insert(socket).inserted else { return true }
        // CONNECT: type, length (one or two bytes here), "MQTT" with its length, level.
        // Anything else, a TLS handshake for one, counts as level 0.
        var level: UInt8 = 0
        if let name = bytes.prefix(16).firstIndex(of: UInt8(ascii: "M")), name + 4 < count {
            level = bytes[name + 4]
        }
        state.withLock { $0.levels.append(level) }
        switch answer(level) {
        case .bytes(let reply): return write(socket, reply)
        case .bytesThenClose(let reply):
            _ = write(socket, reply)
            return false
        case .close: return false
        case .silence: return true
        }
    }

    private func write(_ socket: Int32, _ bytes: [UInt8]) -> Bool {
        send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }
}
