import Glibc
import Synchronization

/// A pipe that wakes the network thread out of `poll`.
///
/// A pipe and not an eventfd, because the `Glibc` module has the one and not the
/// other. Any number of calls between two looks cost one byte.
final class Wakeup: Sendable {
    /// To be polled for reading; -1 when the machine had no descriptors left,
    /// which `poll` ignores: then a wake-up is noticed at the next tick.
    let readEnd: Int32
    private let writeEnd: Int32
    private let pending = Atomic<Bool>(false)

    init() {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) == 0 {
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
        }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        if readEnd >= 0 { close(readEnd) }
        if writeEnd >= 0 { close(writeEnd) }
    }

    func wake() {
        guard !pending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var byte = UInt8(1)
        _ = write(writeEnd, &byte, 1)
    }

    /// To be called before looking at what one was woken for.
    func clear() {
        var bytes: [UInt8] = Array(repeating: 0, count: 16)
        _ = read(readEnd, &bytes, bytes.count)
        pending.store(false, ordering: .sequentiallyConsistent)
    }
}
