public import FoundationEssentials
import Glibc
public import JSONText

/// What was found under a name that should hold one of our documents.
public enum LoadedDocument: Sendable, Equatable {
    case none
    /// `format` is the version it was written in, at most the one asked for.
    case document(JSONValue, format: Int)
    /// It was there but could not be used, and has another name now.
    case setAside(SetAside)
}

/// A file that was moved out of the way because it could not be used.
public struct SetAside: Sendable, Equatable, CustomStringConvertible {
    public enum Reason: Sendable, Equatable {
        /// Not a whole document, or not with the members it should have.
        case damaged
        /// A document, but of another kind.
        case foreign
        /// Written by a later version of the bridge.
        case newer(format: Int)
        /// It was set aside some time ago; its new name says when.
        case earlier
    }
    /// Absolute path of the folder.
    public var folder: String
    public var name: String
    /// Under which name it lies now.
    public var newName: String
    public var reason: Reason

    /// One sentence for the log.
    public var description: String {
        let why =
            switch reason {
            case .damaged: "is damaged"
            case .foreign: "is not what belongs there"
            case .newer(let format): "was written by a newer version (format \(format))"
            case .earlier: "could not be used earlier"
            }
        return "\(folder)/\(name) \(why); it is kept as \(newName) and the bridge goes on without it"
    }
}

extension StateFolder {
    /// Reads a document that ``save(_:kind:format:_:)`` wrote.
    ///
    /// Anything else under that name is set aside as `<name>.damaged-<time>`,
    /// never overwritten: it may be all that is left of a key.
    ///
    /// - Parameters:
    ///   - kind: What it must be, such as `pairing`.
    ///   - format: The newest version that the caller understands, from 1.
    ///   - now: Dates the new name of a file that is set aside.
    ///   - check: A closer look at the body; `false` counts as damaged.
    /// - Throws: `StateError` when the file cannot be read or moved.
    public func load(
        _ name: String, kind: String, format: Int = 1, now: Date = Date(),
        check: (JSONValue) -> Bool = { _ in true }
    ) throws(StateError) -> LoadedDocument {
        let bytes: [UInt8]
        do throws(StateError) {
            guard let found = try read(name) else { return .none }
            bytes = found
        } catch .system(_, _, EFBIG) {
            return .setAside(try setAside(name, .damaged, now))
        }
        switch Self.opened(bytes, kind: kind, format: format) {
        case .success(let (body, version)):
            return check(body)
                ? .document(body, format: version) : .setAside(try setAside(name, .damaged, now))
        case .failure(let misfit):
            return .setAside(try setAside(name, misfit.reason, now))
        }
    }

    /// Writes a document, replacing what was there as a whole.
    ///
    /// - Throws: `StateError`; the old document is then still there.
    public func save(_ name: String, kind: String, format: Int = 1, _ body: JSONValue) throws(StateError) {
        let document: JSONValue = ["kind": .string(kind), "format": .int(Int64(format)), "body": body]
        try write(name, document.bytes + [UInt8(ascii: "\n")])
    }

    private struct Misfit: Error { var reason: SetAside.Reason }

    private static func opened(
        _ bytes: [UInt8], kind: String, format: Int
    ) -> Result<(JSONValue, Int), Misfit> {
        guard bytes.last == UInt8(ascii: "\n"), let document = try? JSONValue(parsing: bytes),
            let members = document.objectValue
        else { return .failure(Misfit(reason: .damaged)) }
        guard let found = document["kind"]?.stringValue, case .int(let version)? = document["format"],
            version > 0
        else { return .failure(Misfit(reason: members["kind"] == nil ? .foreign : .damaged)) }
        guard found == kind else { return .failure(Misfit(reason: .foreign)) }
        guard version <= format else {
            return .failure(Misfit(reason: .newer(format: Int(clamping: version))))
        }
        guard members.count == 3, let body = members["body"] else {
            return .failure(Misfit(reason: .damaged))
        }
        return .success((body, Int(clamping: version)))
    }

    private func setAside(
        _ name: String, _ reason: SetAside.Reason, _ now: Date
    ) throws(StateError) -> SetAside {
        let newName = try moveAside(name, suffix: "damaged-" + UTCText.compact(now))
        return SetAside(folder: path, name: name, newName: newName, reason: reason)
    }
}

/// Times as text, in UTC.
enum UTCText {
    /// `20261130T074402Z`
    static func compact(_ date: Date) -> String { format(date, "%Y%m%dT%H%M%SZ") }

    /// `2026-11-30T07:44:02Z`
    static func extended(_ date: Date) -> String { format(date, "%Y-%m-%dT%H:%M:%SZ") }

    /// Reads what ``extended(_:)`` wrote; `nil` for anything else.
    static func date(_ text: String) -> Date? {
        let numbers = text.split { !$0.isASCII || !$0.isNumber }.compactMap { Int32($0) }
        guard text.utf8.count == 20, numbers.count == 6 else { return nil }
        var parts = tm()
        parts.tm_year = numbers[0] - 1_900
        parts.tm_mon = numbers[1] - 1
        (parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec) = (
            numbers[2], numbers[3], numbers[4], numbers[5]
        )
        let date = Date(timeIntervalSince1970: Double(timegm(&parts)))
        return extended(date) == text ? date : nil
    }

    private static func format(_ date: Date, _ pattern: String) -> String {
        // Years 1970 to 9999; what a clock says beyond that is of no use as a name.
        var seconds = time_t(min(max(date.timeIntervalSince1970.rounded(.down), 0), 253_402_300_799))
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "unknown" }
        var buffer = [CChar](repeating: 0, count: 32)
        let count = strftime(&buffer, buffer.count, pattern, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
