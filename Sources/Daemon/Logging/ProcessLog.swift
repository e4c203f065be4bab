import Ambient
import Glibc
import Synchronization

/// The log of the process: one line per change, to standard error.
final class ProcessLog: Sendable {
    enum Style: Equatable, Sendable {
        /// `<5>text`: the journal adds time and name and reads the priority (sd-daemon(3)).
        case journal
        /// `2026-11-30 07:44:02 notice  text`
        case plain
        /// As `plain`, with the level in colour.
        case colour
    }

    /// Secrets that must not get through.
    let redactor = Redactor()

    private let style: Style
    private let threshold: Atomic<Int>
    private let now: @Sendable () -> String
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - now: The time as it stands in a line.
    ///   - write: Takes one whole line with its end.
    init(
        style: Style, threshold: LogLevel = .info, now: @escaping @Sendable () -> String = LocalTime.now,
        write: @escaping @Sendable ([UInt8]) -> Void = StandardError.write
    ) {
        self.style = style
        self.threshold = Atomic(threshold.rawValue)
        self.now = now
        self.write = write
    }

    /// Can be changed while running.
    var level: LogLevel {
        get { LogLevel(rawValue: threshold.load(ordering: .relaxed)) ?? .info }
        set { threshold.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// What the parts of the bridge are handed. Follows ``level``.
    var log: Log {
        Log(threshold: { self.level }, sink: { self.line($0, $1) })
    }

    /// For the person at the terminal, whatever ``level`` is; in a journal a line like any other.
    func complain(_ text: String, as level: LogLevel = .error) {
        guard style != .journal else { return line(level, text) }
        write(Array("ftw-mqtt: \(redactor.redact(text))\n".utf8))
    }

    private func line(_ level: LogLevel, _ text: String) {
        let safe = Self.oneLine(redactor.redact(text))
        let line =
            switch style {
            case .journal: "<\(level.rawValue)>\(safe)"
            case .plain: "\(now()) \(Self.padded(level)) \(safe)"
            case .colour: "\(now()) \(Self.coloured(level)) \(safe)"
            }
        write(Array((line + "\n").utf8))
    }

    /// Line ends would let a message forge the next line, escapes would reach the terminal.
    private static func oneLine(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "\n" {
                out.append(contentsOf: " / ".unicodeScalars)
            } else {
                out.append(isControl(scalar) ? " " : scalar)
            }
        }
        return String(out)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        }
    }

    private static func padded(_ level: LogLevel) -> String {
        let name = "\(level)"
        return name + String(repeating: " ", count: max(0, 7 - name.count))
    }

    private static func coloured(_ level: LogLevel) -> String {
        let code =
            switch level {
            case .error: "31"
            case .warning: "33"
            case .notice: "1"
            case .info: "0"
            case .debug: "2"
            }
        return "\u{1B}[\(code)m\(padded(level))\u{1B}[0m"
    }
}

extension ProcessLog {
    /// What stands behind standard error.
    struct Destination: Equatable, Sendable {
        var device: UInt64
        var inode: UInt64
    }

    /// The style that fits where standard error goes.
    ///
    /// `JOURNAL_STREAM` names the device and inode of the journal's socket
    /// (systemd.exec(5)). A service whose standard error was sent elsewhere
    /// inherits the variable too, so it is compared. Without it, a service
    /// manager that waits for our readiness is taken for one with a journal.
    static func style(
        environment: [String: String], destination: Destination?, terminal: Terminal
    ) -> Style {
        if terminal.isTerminal { return terminal.hasColour ? .colour : .plain }
        if let stream = environment["JOURNAL_STREAM"], !stream.isEmpty {
            let parts = stream.split(separator: ":").map { UInt64($0) }
            guard parts.count == 2, let destination else { return .plain }
            return parts == [destination.device, destination.inode] ? .journal : .plain
        }
        return (environment["NOTIFY_SOCKET"] ?? "").isEmpty ? .plain : .journal
    }

    /// Where this process's standard error goes; `nil` when it is closed.
    static func standardError() -> Destination? {
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return nil }
        return Destination(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}

/// Writes whole lines to standard error. A line nobody takes is lost; the
/// bridge does not stop for its log.
enum StandardError {
    static func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

/// The wall clock in the machine's own zone.
enum LocalTime {
    /// `2026-11-30 08:44:02`
    static func now() -> String {
        var seconds = time(nil)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "" }
        var buffer = [CChar](repeating: 0, count: 32)
        let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
