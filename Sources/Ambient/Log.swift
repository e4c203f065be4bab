/// How much a log line matters, as the journal counts it (sd-daemon(3)).
public enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7

    public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// Where a part of the bridge says that something changed.
///
/// One line per change, never per condition. Keys, pairing codes, rendezvous
/// secrets and passwords are not log material at any level.
public struct Log: Sendable {
    /// Lines less important than this are not even built.
    public var threshold: LogLevel { level() }
    private let level: @Sendable () -> LogLevel
    private let sink: @Sendable (LogLevel, String) -> Void

    /// - Parameters:
    ///   - threshold: The least important level that reaches `sink`.
    ///   - sink: Called on whatever thread logs; must not block for long.
    public init(threshold: LogLevel = .info, sink: @escaping @Sendable (LogLevel, String) -> Void) {
        self.init(threshold: { threshold }, sink: sink)
    }

    /// A log whose threshold may change while it is in use.
    ///
    /// - Parameters:
    ///   - threshold: Asked for each line; must be quick.
    ///   - sink: Called on whatever thread logs; must not block for long.
    public init(
        threshold: @escaping @Sendable () -> LogLevel, sink: @escaping @Sendable (LogLevel, String) -> Void
    ) {
        level = threshold
        self.sink = sink
    }

    /// A log that forgets everything.
    public static let none = Log(threshold: .error) { _, _ in }

    public func callAsFunction(_ level: LogLevel, _ line: @autoclosure () -> String) {
        if level <= threshold { sink(level, line()) }
    }
    public func error(_ line: @autoclosure () -> String) { self(.error, line()) }
    public func warning(_ line: @autoclosure () -> String) { self(.warning, line()) }
    public func notice(_ line: @autoclosure () -> String) { self(.notice, line()) }
    public func info(_ line: @autoclosure () -> String) { self(.info, line()) }
    public func debug(_ line: @autoclosure () -> String) { self(.debug, line()) }
}
