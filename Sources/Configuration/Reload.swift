/// What changed between two configurations, by key.
public struct ReloadDifference: Sendable, Equatable {
    /// Can be taken over while running.
    public var live: [String] = []
    /// Needs a restart to have an effect.
    public var restart: [String] = []

    public var isEmpty: Bool { live.isEmpty && restart.isEmpty }
}

/// Compares two configurations key by key, in table order.
///
/// A site's own keys are compared between sites of the same id. Sites that came
/// or went are the key `sites`, which needs a restart.
public func reloadDifference(_ old: Settings, _ new: Settings) -> ReloadDifference {
    var difference = ReloadDifference()
    func note(_ key: SettingKey) {
        switch key.reload {
        case .live: difference.live.append(key.path)
        case .restart: difference.restart.append(key.path)
        }
    }
    for field in SettingTable.fields {
        if field.key.path != "sites" {
            if !field.same(old, new) { note(field.key) }
            continue
        }
        if old.sites.map(\.id) != new.sites.map(\.id) { note(field.key) }
        let before = Dictionary(old.sites.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let pairs = new.sites.compactMap { site in before[site.id].map { ($0, site) } }
        for siteField in SettingTable.siteFields where pairs.contains(where: { !siteField.same($0, $1) }) {
            note(siteField.key)
        }
    }
    return difference
}

extension Settings {
    /// These settings with everything from `new` that can be taken over while running.
    public func reloaded(from new: Settings) -> Settings {
        var settings = self
        settings.readOnly = new.readOnly
        settings.log.level = new.log.level
        settings.commands = new.commands
        settings.car = new.car
        settings.prices = new.prices
        for index in settings.sites.indices {
            if let site = new.sites.first(where: { $0.id == settings.sites[index].id }) {
                settings.sites[index].readOnly = site.readOnly
            }
        }
        return settings
    }
}
