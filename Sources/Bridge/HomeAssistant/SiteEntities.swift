import EnergyModel

/// The entities of a site, in the order in which they are announced.
///
/// A power that is not live is unknown to Home Assistant, even if an old
/// document still carries it. The topic keeps the box's signs; production is
/// shown as people and Home Assistant's dashboards count it, positive.
struct SiteEntities {
    let shape: HomeShape
    let language: Language

    func say(_ en: String, _ sv: String) -> String { LocalText(en, sv)[language] }

    /// The site itself.
    var site: [Entity] { house + steering + prices + diagnostics + sources }

    /// The home battery, a device of its own; empty if there is none.
    var battery: [Entity] {
        guard shape.presence.hasBattery else { return [] }
        let layers = layers([.battery])
        return [
            Entity(
                key: "battery_level", platform: .sensor, name: say("Level", "Nivå"), place: .init(.battery),
                template: "{{ value_json.level if value_json.live else none }}", layers: layers,
                deviceClass: "battery", stateClass: "measurement", unit: "%", precision: 0),
            power("battery_power", say("Power", "Effekt"), .signed("battery"), layers),
            power("battery_charge_power", say("Charging power", "Laddeffekt"), .positive("battery"), layers),
            power(
                "battery_discharge_power", say("Discharging power", "Urladdningseffekt"),
                .negative("battery"), layers),
        ]
    }

    private var house: [Entity] {
        let grid = layers([.meter])
        var entities = [
            power("grid_power", say("Grid power", "Näteffekt"), .signed("grid"), grid),
            power("grid_import_power", say("Grid import power", "Köpt effekt"), .positive("grid"), grid),
            power("grid_export_power", say("Grid export power", "Såld effekt"), .negative("grid"), grid),
            power(
                "house_power", say("House power", "Husets effekt"), .signed("house"),
                layers(Set(Source.Role.allCases))),
        ]
        if shape.presence.hasSolar {
            entities.append(
                power(
                    "solar_power", say("Solar power", "Solcellseffekt"), .negative("solar"), layers([.solar]))
            )
        }
        if shape.presence.hasCar {
            entities.append(
                power("car_power", say("Car power", "Bilens effekt"), .signed("car"), layers([.charger])))
        }
        return entities
    }

    private var steering: [Entity] {
        [
            Entity(
                key: "in_control", platform: .binarySensor, name: say("FTW in control", "FTW styr"),
                place: .init(.control),
                template:
                    "{{ none if value_json.in_control is none else 'ON' if value_json.in_control else 'OFF' }}",
                layers: .box(sources: []), deviceClass: "running", hasAttributes: true),
            Entity(
                key: "control", platform: .sensor, name: say("Control", "Styrning"), place: .init(.control),
                template: "{{ value_json.sentence }}", layers: .bridge, hasAttributes: true,
                icon: "mdi:home-lightning-bolt"),
            Entity(
                key: "mode", platform: .sensor, name: say("Mode", "Driftläge"), place: .init(.mode),
                template: "{{ value_json.label if value_json.live else none }}", layers: .box(sources: []),
                deviceClass: "enum", options: shape.modes, icon: "mdi:tune"),
        ]
    }

    private var diagnostics: [Entity] {
        [
            Entity(
                key: "box_connected", platform: .binarySensor, name: say("Box connected", "Box ansluten"),
                place: .init(.boxAvailability), layers: .bridge, isDiagnostic: true,
                deviceClass: "connectivity", onOff: ("online", "offline")),
            Entity(
                key: "box_link", platform: .sensor, name: say("Box link", "Länk till boxen"),
                place: .init(.boxLink), template: "{{ value_json.state }}", layers: .bridge,
                isDiagnostic: true, deviceClass: "enum", options: Link.State.allCases.map(\.rawValue),
                hasAttributes: true),
            Entity(
                key: "box_link_since", platform: .sensor, name: say("Box link since", "Länk sedan"),
                place: .init(.boxLink), template: "{{ value_json.since }}", layers: .bridge,
                isDiagnostic: true, deviceClass: "timestamp"),
            Entity(
                key: "box_version", platform: .sensor, name: say("Box version", "Boxens version"),
                place: .init(.bridgeInfo), template: "{{ value_json.box_build }}", layers: .bridge,
                isDiagnostic: true, icon: "mdi:information-outline"),
            Entity(
                key: "bridge_version", platform: .sensor, name: say("Bridge version", "Bryggans version"),
                place: .init(.bridgeInfo), template: "{{ value_json.version }}", layers: .bridge,
                isDiagnostic: true, icon: "mdi:information-outline"),
            Entity(
                key: "last_error", platform: .sensor, name: say("Last error", "Senaste fel"),
                place: .init(.bridgeHealth),
                template: "{{ none if value_json.last_error is none else value_json.last_error.code }}",
                layers: .bridge, isDiagnostic: true, hasAttributes: true, icon: "mdi:alert-circle-outline"),
        ]
    }

    private var sources: [Entity] {
        shape.sources.flatMap { source in
            [
                Entity(
                    key: "source_\(source.level)", platform: .binarySensor, name: source.name,
                    place: .init(.sourceAvailability, source.level), layers: .box(sources: []),
                    isDiagnostic: true, deviceClass: "connectivity", onOff: ("online", "offline")),
                Entity(
                    key: "source_\(source.level)_state", platform: .sensor,
                    name: "\(source.name) \(say("state", "status"))", place: .init(.source, source.level),
                    template: "{{ value_json.state }}", layers: .box(sources: []), isDiagnostic: true,
                    deviceClass: "enum", options: Source.State.allCases.map(\.rawValue), hasAttributes: true),
            ]
        }
    }

    /// Every source that measures one of these. The values need all of them,
    /// because the box adds them up. With roles unknown it is none, and a value
    /// that cannot be trusted is `null` instead.
    private func layers(_ roles: Set<Source.Role>) -> Entity.Layers {
        .box(sources: shape.sources.filter { !$0.roles.isDisjoint(with: roles) }.map(\.level))
    }

    private enum Side {
        case signed(String), positive(String), negative(String)
    }

    private func power(_ key: String, _ name: String, _ side: Side, _ layers: Entity.Layers) -> Entity {
        let member: String
        let value: String
        switch side {
        case .signed(let name): (member, value) = (name, "value_json.\(name)")
        case .positive(let name): (member, value) = (name, "[value_json.\(name), 0] | max")
        case .negative(let name): (member, value) = (name, "[-value_json.\(name), 0] | max")
        }
        return Entity(
            key: key, platform: .sensor, name: name, place: .init(.power),
            template: "{{ \(value) if value_json.live and value_json.\(member) is not none else none }}",
            layers: layers, deviceClass: "power", stateClass: "measurement", unit: "W", precision: 0)
    }
}
