public import FoundationEssentials
public import JSONText
import Synchronization

/// The memory of one site's bridge: values under names, each in its own file.
///
/// Loading and saving never fail for the caller. What went wrong is reported
/// once when it begins and once when it is over, because a full disk must not
/// stop the house from being shown.
public final class StateFile: Sendable {
    /// What the owner should tell people about.
    public enum Report: Sendable, Equatable, CustomStringConvertible {
        case setAside(SetAside)
        case failed(StateError)
        /// Saving works again.
        case recovered

        /// One sentence for the log.
        public var description: String {
            switch self {
            case .setAside(let file): file.description
            case .failed(let error): error.description
            case .recovered: "the state folder can be written again"
            }
        }
    }

    private struct State {
        /// What is on the disk, to spare it a write of the same.
        var saved: [String: JSONValue] = [:]
        var failing = false
    }

    private static let kind = "memory"
    private let folder: StateFolder
    private let site: String
    private let now: @Sendable () -> Date
    private let report: @Sendable (Report) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - site: The site's id, part of each file's name.
    ///   - report: Called on the thread that loads or saves.
    public init(
        _ folder: StateFolder, site: String, now: @escaping @Sendable () -> Date = { Date() },
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.folder = folder
        self.site = site
        self.now = now
        self.report = report
    }

    /// What was last saved under that name; `nil` when nothing was, or it could
    /// not be used and was set aside.
    public func load(_ name: String) -> JSONValue? {
        do throws(StateError) {
            switch try folder.load(fileName(name), kind: Self.kind, now: now()) {
            case .none: return nil
            case .document(let body, _): return body
            case .setAside(let file):
                report(.setAside(file))
                return nil
            }
        } catch {
            report(.failed(error))
            return nil
        }
    }

    /// Whether ``load(_:)`` gives what was saved, or would give nothing for another reason.
    ///
    /// - Throws: `StateError` when there is a file and it cannot be read now.
    public func check(_ name: String) throws(StateError) { _ = try folder.read(fileName(name)) }

    /// Saves a value; on return it is on the disk, or a failure was reported.
    ///
    /// - Returns: Whether it is on the disk.
    @discardableResult
    public func save(_ name: String, _ value: JSONValue) -> Bool {
        // One writer at a time, so that what is remembered is what is on the disk.
        let (stored, news) = state.withLock { state -> (Bool, Report?) in
            if state.saved[name] == value { return (true, nil) }
            do throws(StateError) {
                try folder.save(fileName(name), kind: Self.kind, value)
                state.saved[name] = value
                defer { state.failing = false }
                return (true, state.failing ? .recovered : nil)
            } catch {
                state.saved[name] = nil
                defer { state.failing = true }
                return (false, state.failing ? nil : .failed(error))
            }
        }
        if let news { report(news) }
        return stored
    }

    /// Forgets everything of this site.
    public func removeAll() throws(StateError) {
        try state.withLock { (state: inout State) throws(StateError) in
            state.saved = [:]
            for name in try folder.names() where name.hasPrefix("memory-\(site).") {
                try folder.remove(name)
            }
        }
    }

    private func fileName(_ name: String) -> String { "memory-\(site).\(name).json" }
}
