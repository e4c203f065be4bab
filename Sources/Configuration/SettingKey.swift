/// What is known about one key of the configuration file.
///
/// All of them stand in one table, `SettingKey.all`. Reading, the names of the
/// environment variables, the hints for misspelt keys, the documented example
/// and the answer to "does this need a restart?" are made from it.
public struct SettingKey: Sendable, Equatable {
    public enum Reload: Sendable, Equatable {
        /// Taken over at SIGHUP.
        case live
        /// Only read when the process starts.
        case restart
    }

    /// The names from the top of the file, with dots: `mqtt.port`. Keys of a
    /// list's items have the list's name before theirs: `sites.id`.
    public var path: String
    /// What it does, for a person; sentences.
    public var about: String
    /// What may be given, as the end of an error: `a port is a number from 1 to 65535`.
    public var allowed: String
    /// The default as written in the file; `nil` when there is none.
    public var defaultText: String?
    /// What the example shows, commented out, when there is no default.
    public var sample: String
    public var reload: Reload
    /// Its value is never shown.
    public var isSecret = false
    /// Other words people use for it.
    public var synonyms: [String] = []

    /// The last name of ``path``.
    public var name: String { path.split(separator: ".").last.map(String.init) ?? path }
    /// The names before the last one; empty at the top.
    public var section: String { path.split(separator: ".").dropLast().joined(separator: ".") }

    /// Variables that override the file, the usual one first; none for the sites and their keys.
    ///
    /// `FTW_MQTT_` and the path in capitals. The keys under `mqtt` may be
    /// written without the second `MQTT_`, which is what people try first.
    public var environmentNames: [String] {
        if section == "sites" || path == "sites" { return [] }
        let name = path.uppercased().split(separator: ".").joined(separator: "_")
        let long = EnvironmentNames.prefix + name
        return name.hasPrefix("MQTT_") ? [EnvironmentNames.prefix + name.dropFirst(5), long] : [long]
    }
}

enum EnvironmentNames {
    static let prefix = "FTW_MQTT_"
    /// Names the configuration file itself.
    static let configuration = "FTW_MQTT_CONFIG"
}

/// A value as it was written, before anything is known about its key.
enum RawValue: Sendable, Equatable {
    case text(String, plain: Bool = true, oneLine: Bool = true)
    case list([String])
    /// A section, or a list of something else than texts.
    case other(String)
    case nothing

    init(_ node: YAMLNode) {
        if node.isNull {
            self = .nothing
            return
        }
        switch node.content {
        case .scalar(let text, let plain):
            self = .text(text, plain: plain, oneLine: node.isOnOneLine)
        case .mapping:
            self = .other("a section")
        case .list(let items):
            var texts: [String] = []
            for item in items {
                guard case .scalar(let text, _) = item.content else {
                    self = .other("a list with lists or sections in it")
                    return
                }
                texts.append(text)
            }
            self = .list(texts)
        }
    }

    /// A variable's value. A list is separated by commas there.
    init(environment text: String) {
        self = .text(text, plain: false)
    }
}

/// Why a value is not taken. `found` and `reason` replace the usual halves of
/// the sentence "`path` is 70000; a port is a number from 1 to 65535".
struct Refusal: Error {
    var found: String?
    var reason: String?
}

/// A key and how its value gets into `Root`.
struct Field<Root: Sendable>: Sendable {
    var key: SettingKey
    var read: @Sendable (RawValue, inout Root) throws(Refusal) -> Void
    var same: @Sendable (Root, Root) -> Bool

    /// Puts the value into `root`, or says in a sentence why not.
    func take(_ raw: RawValue, into root: inout Root) -> String? {
        do throws(Refusal) {
            try read(raw, &root)
            return nil
        } catch {
            let found = error.found ?? Self.found(raw, secret: key.isSecret)
            return "\(key.path) \(found); \(error.reason ?? key.allowed)"
        }
    }

    private static func found(_ raw: RawValue, secret: Bool) -> String {
        switch raw {
        case .nothing: "has no value"
        case .list: "is a list"
        case .other(let what): "is \(what)"
        case .text where secret: "cannot be used"
        case .text(let text, _, let oneLine): "is \(Shown.value(text, oneLine: oneLine))"
        }
    }
}
