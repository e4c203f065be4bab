import FoundationEssentials

/// This run of the bridge, told apart from every other.
struct BridgeRun: Sendable, Equatable {
    let started: Date
    /// Sorts by start: of two copies, the one with the smaller instance was first.
    let instance: String

    /// - Parameter chance: A number from 0 up to 1 that another run would not have.
    init(started: Date, chance: Double) {
        self.started = started
        let milliseconds = UInt64(exactly: (started.timeIntervalSince1970 * 1_000).rounded()) ?? 0
        let die = UInt32(exactly: (min(max(chance, 0), 1) * Double(UInt32.max)).rounded()) ?? 0
        instance = "\(Self.hex(milliseconds, 12))-\(Self.hex(UInt64(die), 8))"
    }

    private static func hex(_ value: UInt64, _ width: Int) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
