import JSONText

/// The device payloads that tell Home Assistant about a site.
struct Discovery {
    let settings: BridgeSettings
    let shape: HomeShape

    /// One device: where it is announced and what it has.
    struct Device {
        var topic: String
        let head: [String: JSONValue]
        var components: [(key: String, entity: Entity)]
        let tree: TopicTree
        let uniqueStem: String
        let entityStem: String
        /// One component on a topic of its own, so that a release without its
        /// platform loses one entity and not the device.
        var isSingle = false

        /// Every component's platform, by its key.
        var platforms: [String: String] {
            Dictionary(
                components.map { ($0.key, $0.entity.platform.rawValue) },
                uniquingKeysWith: { first, _ in first })
        }

        /// The states each enum may have, by component key.
        var options: [String: [String]] {
            Dictionary(
                components.filter { !$0.entity.options.isEmpty }.map { ($0.key, $0.entity.options) },
                uniquingKeysWith: { first, _ in first })
        }

        /// The whole payload.
        ///
        /// - Parameter gone: Components that were announced and are no more, with
        ///   their platforms. Leaving them out would not remove them.
        func payload(gone: [String: String]) -> JSONValue {
            if isSingle, let (key, entity) = self.components.first {
                var component =
                    entity.component(
                        tree: tree, uniqueID: "\(uniqueStem)_\(key)",
                        entityID: entityID(key, entity)
                    ).objectValue ?? [:]
                component["platform"] = nil
                return .object(head.merging(component) { _, new in new })
            }
            var components: [String: JSONValue] = gone.mapValues { ["platform": .string($0)] }
            for (key, entity) in self.components {
                components[key] = entity.component(
                    tree: tree, uniqueID: "\(uniqueStem)_\(key)",
                    entityID: entityID(key, entity))
            }
            return .object(head.merging(["components": .object(components)]) { _, new in new })
        }

        /// Each component on a topic of its own, for a broker that does not take the whole.
        ///
        /// Home Assistant takes the topic's parts for the same names as the device
        /// payload's, so nothing changes for whoever uses the entities.
        var singles: [Device] {
            let parts = topic.split(separator: "/")
            guard parts.count >= 3, let prefix = topic.firstRange(of: "/device/") else { return [self] }
            let object = parts[parts.count - 2]
            return components.map { key, entity in
                var single = self
                single.isSingle = true
                single.components = [(key, entity)]
                single.topic =
                    "\(topic[..<prefix.lowerBound])/\(entity.platform.rawValue)/\(object)/\(key)/config"
                return single
            }
        }

        private func entityID(_ key: String, _ entity: Entity) -> String {
            "\(entity.platform.rawValue).\(entityStem)_\(key.replacing("-", with: "_"))"
        }
    }

    /// All devices that there should be.
    var devices: [Device] {
        guard settings.discovery else { return [] }
        let entities = SiteEntities(shape: shape, language: settings.language)
        let battery = entities.battery
        var devices = [
            device(
                nil, name: settings.siteName, model: LocalText("Home energy box", "Energibox"),
                entities.site
                    + SiteControls(modes: shape.modes, language: settings.language, open: open).all)
        ]
        if !battery.isEmpty {
            let name = LocalText("Home battery", "Hemmabatteri")
            devices.append(device("battery", name: name[settings.language], model: name, battery))
        }
        for car in shape.cars {
            let controls = CarControls(
                car: car, root: settings.tree.root, language: settings.language, open: open)
            let name = LocalText("Car charging", "Billaddningen")[settings.language]
            var whole = device(
                "car_\(car.level)", name: shape.cars.count > 1 ? "\(name) \(car.name)" : name,
                model: LocalText("Charging point", "Laddpunkt"),
                CarEntities(car: car, root: settings.tree.root, language: settings.language).all
                    + controls.all, ownIDs: true)
            devices.append(whole)
            for entity in controls.alone {
                whole.components = [(entity.key, entity)]
                whole.isSingle = true
                whole.topic =
                    "\(settings.discoveryPrefix)/\(entity.platform.rawValue)/"
                    + "\(whole.uniqueStem)_\(entity.key)/config"
                devices.append(whole)
            }
        }
        return devices
    }

    /// The commands that are worth a control.
    private var open: Set<CommandName> { settings.isReadOnly ? [] : settings.commands }

    /// Stem of every id of ours in Home Assistant: from the box, so that base
    /// topic, names and language may change without a second set of entities.
    private var stem: String { "ftw_\(shape.identity)" }

    /// - Parameter ownIDs: Keys are unique in the device only, so ids carry its part.
    private func device(
        _ part: String?, name: String, model: LocalText, _ entities: [Entity], ownIDs: Bool = false
    ) -> Device {
        let id = part.map { "\(stem)_\($0)" } ?? stem
        var about: [String: JSONValue] = [
            "identifiers": [.string(id)], "name": .string(name), "manufacturer": "FTW",
            "model": .string(model[settings.language]),
        ]
        if part != nil { about["via_device"] = .string(stem) }
        if part == nil, let build = shape.boxBuild { about["sw_version"] = .string(build) }
        var origin: [String: JSONValue] = ["name": "ftw-mqtt", "sw_version": .string(settings.version)]
        if let url = settings.supportURL { origin["support_url"] = .string(url) }
        let tree = settings.tree
        return Device(
            topic: "\(settings.discoveryPrefix)/device/\(id)/config",
            head: [
                "device": .object(about),
                "origin": .object(origin),
                "availability": Availability.topics(tree, Availability.device),
                "availability_mode": "all",
            ],
            components: entities.map { ($0.key, $0) }, tree: tree, uniqueStem: ownIDs ? id : stem,
            entityStem: (["ftw", settings.siteID] + (ownIDs ? [part ?? ""] : [])).joined(separator: "_")
                .replacing("-", with: "_"))
    }
}
