/// Which sequence numbers have been seen, as the box keeps it (FTW wire §3).
///
/// Asked before a message is opened and told only after its tag verified, so
/// that nobody can move the window with a forged number.
public struct ReplayWindow: Sendable, Equatable {
    /// How far behind the highest number a late message may be.
    public static let size: UInt64 = 64

    /// The highest number accepted; `nil` before the first.
    public private(set) var highest: UInt64?
    /// Bit *n* is set if `highest − n` was accepted.
    private var mask: UInt64 = 0

    public init() {}

    /// Whether a message with this number could still be new.
    public func allows(_ sequence: UInt64) -> Bool {
        guard let highest, sequence <= highest else { return true }
        let behind = highest - sequence
        return behind < Self.size && mask & (1 << behind) == 0
    }

    /// Remembers the number of a message whose tag verified.
    public mutating func accept(_ sequence: UInt64) {
        guard let highest else {
            self.highest = sequence
            mask = 1
            return
        }
        if sequence > highest {
            let step = sequence - highest
            mask = step >= Self.size ? 1 : (mask << step) | 1
            self.highest = sequence
        } else if highest - sequence < Self.size {
            mask |= 1 << (highest - sequence)
        }
    }
}
