/// What to say about a key that does not exist.
enum Hints {
    static let fieldsByVariable = Dictionary(
        SettingTable.fields.flatMap { field in
            field.key.environmentNames.map { ($0, field) }
        }, uniquingKeysWith: { first, _ in first })

    /// Names of keys and sections directly below a section, in table order.
    static func names(in section: String) -> [String] {
        let prefix = section.isEmpty ? "" : section + "."
        var names: [String] = []
        for path in SettingKey.all.map(\.path) where path.hasPrefix(prefix) {
            let name = path.dropFirst(prefix.count).prefix { $0 != "." }
            if !name.isEmpty, !names.contains(String(name)) { names.append(String(name)) }
        }
        return names
    }

    static func unknown(_ name: String, section: String) -> String {
        if name.contains("."), let key = SettingKey.all.first(where: { $0.path == name }) {
            return "\(name) is not a key of its own; write \(key.name): indented below \(key.section):"
        }
        let shown = section.isEmpty ? Shown.name(name) : "\(section).\(Shown.name(name))"
        if let meant = meant(name, section: section) {
            return "\(shown) is not a setting; did you mean \(meant)?"
        }
        let place = section.isEmpty ? "known are" : "known under \(section) are"
        return "\(shown) is not a setting; \(place) \(Values.joined(names(in: section)))"
    }

    private static func meant(_ name: String, section: String) -> String? {
        let all = SettingKey.all
        let here = all.filter { $0.section == section }
        let folded = Nearest.fold(name)
        func isMeant(_ key: SettingKey) -> Bool {
            Nearest.fold(key.name) == folded || key.synonyms.contains { Nearest.fold($0) == folded }
        }
        if let key = here.first(where: isMeant) { return key.path }
        if let near = Nearest.match(name, among: names(in: section)) {
            return section.isEmpty ? near : "\(section).\(near)"
        }
        // Right word, wrong place: a section forgotten or indented wrongly.
        if let key = all.first(where: { $0.path == name || Nearest.fold($0.path) == folded }) {
            return key.path
        }
        if let key = all.first(where: { Nearest.fold($0.name) == folded }) ?? all.first(where: isMeant) {
            return key.path
        }
        return Nearest.match(name, among: all.map(\.path))
    }
}
