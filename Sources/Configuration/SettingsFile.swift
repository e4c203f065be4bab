/// Reads the configuration: a YAML file, then `FTW_MQTT_*` variables over it.
public enum SettingsFile {
    public static let defaultPath = "/etc/ftw-mqtt/config.yaml"

    /// A configuration that can be used.
    public struct Loaded: Sendable, Equatable {
        public var settings: Settings
        /// Worth telling, not worth stopping for.
        public var warnings: [Problem] = []
        /// The file that was read; `nil` when there was none and defaults are used.
        public var path: String?
    }

    /// Reads the file and the variables.
    ///
    /// - Parameters:
    ///   - path: The file to read. `nil`: what `FTW_MQTT_CONFIG` names, else
    ///     ``defaultPath``, which may be missing; then the defaults hold.
    ///   - environment: All variables of the process; only `FTW_MQTT_*` matter.
    ///   - files: How to look at files.
    /// - Throws: `SettingsError` with every problem found.
    public static func load(
        path: String? = nil, environment: [String: String] = [:], files: FileLook = .disk
    ) throws(SettingsError) -> Loaded {
        let named = path ?? environment[EnvironmentNames.configuration].flatMap { $0.isEmpty ? nil : $0 }
        let file = named ?? defaultPath
        switch files.read(file, YAMLReader.maxBytes + 1) {
        case .success(let bytes):
            var loaded = try parse(bytes, name: file, environment: environment, files: files)
            if case .success(let facts) = files.facts(file) {
                if !facts.isRegular {
                    throw SettingsError(problems: [
                        Problem(.file(file, line: 0, column: 0), "this is not a file")
                    ])
                }
                warnIfOpen(facts, file, &loaded)
            }
            loaded.path = file
            return loaded
        case .failure(.missing) where named == nil:
            return try parse([], name: file, environment: environment, files: files)
        case .failure(let failure):
            throw SettingsError(problems: [Problem(.file(file, line: 0, column: 0), sentence(failure))])
        }
    }

    /// Reads a configuration that is already in memory.
    ///
    /// - Parameters:
    ///   - bytes: The file's content.
    ///   - name: Its path: shown in errors, and relative paths in it start at its folder.
    /// - Throws: `SettingsError` with every problem found.
    public static func parse(
        _ bytes: [UInt8], name: String = "config.yaml", environment: [String: String] = [:],
        files: FileLook = .disk
    ) throws(SettingsError) -> Loaded {
        let folder = name.lastIndex(of: "/").map { String(name[..<$0]) } ?? ""
        var reader = SettingsReader(fileName: name, folder: folder, files: files)
        do throws(YAMLProblem) {
            if let root = try YAMLReader.read(bytes) { reader.read(document: root) }
        } catch {
            throw SettingsError(
                problems: [Problem(.file(name, line: error.line, column: error.column), error.text)])
        }
        reader.read(environment: environment)
        reader.finish()
        let secret = reader.settings.mqtt.password
        guard reader.problems.isEmpty else {
            throw SettingsError(problems: tidy(reader.problems, secret))
        }
        return Loaded(settings: reader.settings, warnings: tidy(reader.warnings, secret))
    }

    /// In reading order, and with the password cut out should it have got in
    /// (as the user name as well, say).
    private static func tidy(_ problems: [Problem], _ secret: Secret?) -> [Problem] {
        let password = secret.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
        let sorted = problems.enumerated().sorted { a, b in
            (order(a.element.place), a.offset) < (order(b.element.place), b.offset)
        }
        return sorted.map { _, problem in
            var problem = problem
            if password.utf8.count >= 4 { problem.text = problem.text.replacing(password, with: "***") }
            return problem
        }
    }

    private static func order(_ place: Problem.Place) -> Int {
        switch place {
        // Columns stay below the limit of the file's size.
        case .file(_, let line, let column): line << 21 | column
        case .environment: .max
        }
    }

    private static func warnIfOpen(_ facts: FileLook.Facts, _ file: String, _ loaded: inout Loaded) {
        guard loaded.settings.mqtt.password != nil, loaded.settings.mqtt.passwordFile == nil,
            facts.mode & 0o007 != 0
        else { return }
        loaded.warnings.append(
            Problem(
                .file(file, line: 0, column: 0),
                "everybody on this machine can read the password in it; run: chmod 640 \(file)"))
    }

    private static func sentence(_ failure: FileLook.Failure) -> String {
        switch failure {
        case .missing: "there is no such file"
        case .notPermitted: "this user may not read it"
        case .other(let words): "cannot be read: \(words)"
        }
    }
}
