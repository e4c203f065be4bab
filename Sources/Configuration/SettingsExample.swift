/// The documented example file, made from the table of keys.
///
/// `config/config.yaml` is this text; a test compares them, so the file can
/// neither miss a key nor show a default that is not the default.
public enum SettingsExample {
    public static var text: String {
        var lines = head
        var open: [String] = []
        for key in SettingKey.all {
            let sections = key.section.isEmpty ? [] : key.section.split(separator: ".").map(String.init)
            let shared = zip(open, sections).prefix { $0 == $1 }.count
            open = Array(open.prefix(shared))
            lines.append("")
            for section in sections.dropFirst(shared) where section != "tls" && section != "sites" {
                lines.append(indent(open.count) + section + ":")
                open.append(section)
            }
            if open != sections { open = sections }
            lines += entry(key, depth: sections.count)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let head = [
        "# Configuration of ftw-mqtt, with every key and its default.",
        "#",
        "# A line that starts with #, with no space after it, is a setting without effect: take the # away.",
        "# `ftw-mqtt check` says whether the file is right. After a change restart the service; the keys",
        "# marked (reload) are also taken over by `systemctl reload ftw-mqtt` or SIGHUP.",
        "#",
        "# A variable overrides the file: FTW_MQTT_ and the key's path in capitals, such as",
        "# FTW_MQTT_RELAY_URL or FTW_MQTT_LOG_LEVEL. Keys under mqtt go without a second MQTT_:",
        "# FTW_MQTT_HOST, FTW_MQTT_PASSWORD. Lists are separated by commas, an empty variable is none,",
        "# sites stand in the file only. FTW_MQTT_CONFIG names the file itself.",
    ]

    private static func entry(_ key: SettingKey, depth: Int) -> [String] {
        // The keys of a list's items stand two columns further in, after the dash.
        let isSiteKey = key.section == "sites"
        let margin = indent(isSiteKey ? 2 : depth)
        let about = key.about + (key.reload == .live ? " (reload)" : "")
        let comment = wrapped(about, width: 98 - margin.count).map { "\(margin)# \($0)" }
        switch (key.path, key.defaultText) {
        case ("sites", _): return comment + ["sites:"]
        case ("mqtt.tls", _): return comment + ["\(margin)#tls:"]
        case ("sites.id", let value?): return comment + ["\(indent(1))- \(key.name): \(value)"]
        case (_, let value?): return comment + ["\(margin)\(key.name): \(value)"]
        case (_, nil): return comment + ["\(margin)#\(key.name): \(key.sample)"]
        }
    }

    private static func indent(_ depth: Int) -> String { String(repeating: "  ", count: depth) }

    private static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
