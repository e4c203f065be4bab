import CLinux
import Dispatch
import Glibc
import Synchronization

/// The lines of standard input, as they come.
///
/// Reading blocks, so it has a thread of its own. It ends with the input, or
/// soon after ``stop()``; it reads on only as fast as lines are answered.
final class ConsoleInput: Sendable {
    let lines: AsyncStream<LineSplitter.Line>
    private let output: AsyncStream<LineSplitter.Line>.Continuation
    private let isStopped = Mutex(false)
    private let room = DispatchSemaphore(value: 64)
    private static let pauseMs: Int32 = 200

    init() {
        (lines, output) = AsyncStream.makeStream(of: LineSplitter.Line.self)
        var thread = pthread_t()
        guard pthread_create(&thread, nil, inputThread, Unmanaged.passRetained(self).toOpaque()) == 0 else {
            Unmanaged.passUnretained(self).release()
            output.finish()
            return
        }
        pthread_detach(thread)
    }

    /// The last line was answered: there is room for one more.
    func answered() { room.signal() }

    func stop() { isStopped.withLock { $0 = true } }

    fileprivate func run() {
        var splitter = LineSplitter()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        reading: while !isStopped.withLock({ $0 }) {
            var wanted = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, Self.pauseMs) > 0 else { continue }
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { break }
            for line in splitter.take(buffer.prefix(count)) {
                guard hand(on: line) else { break reading }
            }
        }
        if let last = splitter.finish() { _ = hand(on: last) }
        output.finish()
    }

    private func hand(on line: LineSplitter.Line) -> Bool {
        while room.wait(timeout: .now() + .milliseconds(Int(Self.pauseMs))) == .timedOut {
            if isStopped.withLock({ $0 }) { return false }
        }
        output.yield(line)
        return true
    }
}

private func inputThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<ConsoleInput>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
