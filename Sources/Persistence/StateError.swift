/// Why something in the state folder cannot be used. Each says what to do about it.
public enum StateError: Error, Equatable, CustomStringConvertible {
    /// Somebody else's folder or file.
    case foreignOwner(path: String, owner: String, user: String)
    /// Group or others may enter or read it.
    case tooOpen(path: String, mode: UInt32, isFolder: Bool)
    case symbolicLink(path: String)
    case notAFolder(path: String)
    case notAFile(path: String)
    /// Another daemon works in this folder; `nil` when it did not say who it is.
    case inUse(path: String, process: Int32?)
    /// A name that is not fit for a file: ours are `a-z`, `0-9`, `.`, `_`, `-`.
    case badName(String)
    /// The system refused. `code` is an `errno`.
    case system(operation: String, path: String, code: Int32)

    public var description: String {
        switch self {
        case .foreignOwner(let path, let owner, let user):
            "\(path) belongs to \(owner), but this runs as \(user); run it as \(owner) "
                + "(sudo -u \(owner) ftw-mqtt …, or as root: runuser -u \(owner) -- ftw-mqtt …) "
                + "or name another state_dir"
        case .tooOpen(let path, let mode, let isFolder):
            "\(path) is open to other users (mode \(Self.octal(mode))) and holds keys; "
                + "run: chmod \(isFolder ? "700" : "600") \(path)"
        case .symbolicLink(let path):
            "\(path) is a symbolic link, which is not followed here; put the real \(path) in its place"
        case .notAFolder(let path): "\(path) is not a folder; name another state_dir"
        case .notAFile(let path): "\(path) is not a plain file; move it away"
        case .inUse(let path, let process?):
            "\(path) is in use by another ftw-mqtt (process \(process)); stop it first or name another state_dir"
        case .inUse(let path, nil):
            "\(path) is in use by another ftw-mqtt; stop it first or name another state_dir"
        case .badName(let name): "\(name.prefix(40).debugDescription) is not a name for a state file"
        case .system(StateFolder.making, let path, let code) where SystemText.isDenial(code):
            "cannot make \(path): \(SystemText.words(code)); \(StateFolder.remedy(path))"
        case .system(let operation, let path, let code):
            "cannot \(operation) \(path): \(SystemText.words(code))\(Self.advice(code))"
        }
    }

    private static func octal(_ mode: UInt32) -> String { String(mode & 0o7777, radix: 8) }

    private static func advice(_ code: Int32) -> String {
        switch code {
        case SystemText.noSpace, SystemText.quota: "; the old file is untouched, free some space"
        case SystemText.readOnly: "; the file system is mounted read-only"
        default: ""
        }
    }
}
