import TextForms

/// Fills a `Settings` from a document and from variables, and collects whatever is wrong.
///
/// Nothing stops at the first problem: somebody who mistyped three keys learns
/// of all three at once.
struct SettingsReader {
    let fileName: String
    /// Where relative paths start.
    let folder: String
    let files: FileLook

    var settings = Settings()
    var problems: [Problem] = []
    var warnings: [Problem] = []
    /// Where each key was set, the last place winning.
    var places: [String: Problem.Place] = [:]

    init(fileName: String, folder: String, files: FileLook) {
        self.fileName = fileName
        self.folder = folder
        self.files = files
    }

    private static let fields = Dictionary(
        SettingTable.fields.map { ($0.key.path, $0) }, uniquingKeysWith: { first, _ in first })
    private static let siteFields = Dictionary(
        SettingTable.siteFields.map { ($0.key.path, $0) }, uniquingKeysWith: { first, _ in first })
    /// Every `a` and `a.b` that has keys below it.
    private static let sections = Set(SettingTable.fields.map(\.key.section).filter { !$0.isEmpty })

    // MARK: The document

    mutating func read(document root: YAMLNode) {
        guard case .mapping(let members) = root.content else {
            if root.isNull { return }
            problems.append(
                Problem(place(root), "the file does not hold keys and values, such as language: en"))
            return
        }
        read(members, section: "")
    }

    private mutating func read(_ members: [YAMLNode.Member], section: String) {
        for member in unique(members, section: section) {
            // `mqtt.port: 1883` is not the same as port below mqtt.
            let path = member.key.contains(".") ? "" : Self.join(section, member.key)
            if path == "sites" {
                readSites(member)
            } else if path == "mqtt.tls" {
                readTLS(member)
            } else if let field = Self.fields[path] {
                take(field, RawValue(member.value), at: place(member.value))
                warnIfCut(field.key, member.value)
            } else if Self.sections.contains(path) {
                readSection(member, path: path)
            } else {
                problems.append(Problem(place(member), Hints.unknown(member.key, section: section)))
            }
        }
    }

    private mutating func readSection(_ member: YAMLNode.Member, path: String) {
        if case .mapping(let inner) = member.value.content {
            places[path] = place(member)
            read(inner, section: path)
        } else if !member.value.isNull {
            var text = "\(path) is a section; its keys stand below it, indented: "
            text += Values.joined(Hints.names(in: path))
            // Its text may be `password:…`, so it is not shown.
            if case .scalar(let found, _) = member.value.content, found.contains(":") {
                text += "; a colon needs a space after it"
            }
            problems.append(Problem(place(member.value), text))
        }
    }

    /// Its mere presence switches TLS on, so that nobody sends a password in
    /// the clear because all lines below it are commented out.
    private mutating func readTLS(_ member: YAMLNode.Member) {
        places["mqtt.tls"] = place(member.value)
        switch member.value.content {
        case .mapping(let inner):
            settings.mqtt.usesTLS = true
            read(inner, section: "mqtt.tls")
        default:
            if member.value.isNull {
                settings.mqtt.usesTLS = true
            } else if let field = Self.fields["mqtt.tls"] {
                take(field, RawValue(member.value), at: place(member.value))
            }
        }
    }

    /// More houses than anybody has; bounds what one file can make us do.
    static let mostSites = 1_000

    private mutating func readSites(_ member: YAMLNode.Member) {
        guard case .list(let items) = member.value.content, !items.isEmpty, items.count <= Self.mostSites
        else {
            problems.append(
                Problem(
                    place(member.value),
                    "sites is not a list of 1 to \(Self.mostSites) items; "
                        + "give a list with one item per house, each with an id"))
            return
        }
        var sites: [Settings.Site] = []
        var lines: [String: Int] = [:]
        for item in items {
            guard case .mapping(let members) = item.content else {
                problems.append(Problem(place(item), "sites holds something without keys; write - id: home"))
                continue
            }
            var site = Settings.Site()
            let known = unique(members, section: "sites")
            for member in known {
                if let field = Self.siteFields[Self.join("sites", member.key)] {
                    if let text = field.take(RawValue(member.value), into: &site) {
                        problems.append(Problem(place(member.value), text))
                    } else if member.key == "zone" {
                        checkZone(site.zone, at: place(member.value))
                    }
                } else {
                    problems.append(Problem(place(member), Hints.unknown(member.key, section: "sites")))
                }
            }
            guard known.contains(where: { $0.key == "id" }) else {
                problems.append(
                    Problem(place(item), "a site has no id; an id is \(SiteID.rule), such as home")
                )
                continue
            }
            if !known.contains(where: { $0.key == "name" }) {
                site.name = site.id.prefix(1).uppercased() + site.id.dropFirst()
            }
            if let first = lines[site.id] {
                problems.append(
                    Problem(place(item), "sites.id \(site.id) is there twice; the first is in line \(first)"))
            } else {
                lines[site.id] = item.line
                sites.append(site)
            }
        }
        places["sites"] = place(member)
        if !sites.isEmpty { settings.sites = sites }
    }

    /// The members whose key came for the first time; the others become problems.
    private mutating func unique(_ members: [YAMLNode.Member], section: String) -> [YAMLNode.Member] {
        var lines: [String: Int] = [:]
        return members.filter { member in
            guard let first = lines[member.key] else {
                lines[member.key] = member.line
                return true
            }
            let path = Self.join(section, Shown.name(member.key))
            problems.append(Problem(place(member), "\(path) is there twice; the first is in line \(first)"))
            return false
        }
    }

    private mutating func warnIfCut(_ key: SettingKey, _ node: YAMLNode) {
        if key.isSecret, node.isCutByComment {
            warnings.append(
                Problem(
                    place(node),
                    "\(key.path) ends before a #, which starts a comment; "
                        + "if the # belongs to it, put it in single quotes"))
        }
    }

    // MARK: The environment

    mutating func read(environment: [String: String]) {
        let names = environment.keys.filter { $0.hasPrefix(EnvironmentNames.prefix) }.sorted()
        for name in names where name != EnvironmentNames.configuration {
            // Compose files and units pass on variables that nobody filled in.
            guard let text = environment[name], !text.isEmpty else { continue }
            guard let field = Hints.fieldsByVariable[name] else {
                if let near = Nearest.match(name, among: Array(Hints.fieldsByVariable.keys).sorted()) {
                    problems.append(
                        Problem(.environment(name), "\(Shown.name(name)) is not known; did you mean \(near)?")
                    )
                } else {
                    warnings.append(
                        Problem(.environment(name), "this variable is not known and has no effect"))
                }
                continue
            }
            let path = field.key.path
            if case .environment(let other)? = places[path], environment[other] != text {
                problems.append(Problem(.environment(name), "\(other) sets \(path) too, to something else"))
                continue
            }
            clearRivals(of: path)
            take(field, RawValue(environment: text), at: .environment(name))
        }
        let filesNamed = places.contains { key, place in
            if case .environment = place { key.hasPrefix("mqtt.tls.") } else { false }
        }
        if filesNamed, places["mqtt.tls"] == nil { settings.mqtt.usesTLS = true }
    }

    /// Keys of which only one may be set.
    static let rivals = [
        ["mqtt.password", "mqtt.password_file"],
        ["prices.cheap_now.level", "prices.cheap_now.under", "prices.cheap_now.window"],
    ]

    /// A variable replaces what the file said with another key of its group.
    private mutating func clearRivals(of path: String) {
        for rival in Self.rivals.first(where: { $0.contains(path) }) ?? [] where rival != path {
            guard case .file? = places[rival] else { continue }
            places[rival] = nil
            switch rival {
            case "mqtt.password": settings.mqtt.password = nil
            case "mqtt.password_file": settings.mqtt.passwordFile = nil
            case "prices.cheap_now.level": settings.prices.cheapLevel = nil
            case "prices.cheap_now.under": settings.prices.cheapUnder = nil
            default: settings.prices.cheapWindow = nil
            }
        }
    }

    // MARK: Common

    private mutating func take(_ field: Field<Settings>, _ raw: RawValue, at place: Problem.Place) {
        places[field.key.path] = place
        if let text = field.take(raw, into: &settings) { problems.append(Problem(place, text)) }
    }

    private static func join(_ section: String, _ name: String) -> String {
        section.isEmpty ? name : "\(section).\(name)"
    }

    private func place(_ node: YAMLNode) -> Problem.Place {
        .file(fileName, line: node.line, column: node.column)
    }

    private func place(_ member: YAMLNode.Member) -> Problem.Place {
        .file(fileName, line: member.line, column: member.column)
    }
}
