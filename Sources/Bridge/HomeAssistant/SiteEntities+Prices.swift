import EnergyModel

/// Prices, plan and energy, on the site's device.
///
/// A price is no `monetary` value: that class is for amounts and takes no unit
/// with `/kWh`. Published prices hold while the box is away, so they need the
/// bridge only; plan and energy need the box too.
extension SiteEntities {
    var prices: [Entity] {
        (shape.presence.hasPrices ? priceEntities : []) + (shape.presence.hasPlan ? planEntities : [])
            + (shape.presence.hasEnergy ? energyEntities : [])
    }

    private var priceEntities: [Entity] {
        var entities = [
            price(
                "price", say("Price", "Elpris"), "total", icon: "mdi:cash", attributes: .init(.priceSeries)),
            price("price_next", say("Next price", "Nästa elpris"), "next", icon: "mdi:cash-fast"),
            Entity(
                key: "price_changes", platform: .sensor, name: say("Price changes", "Priset ändras"),
                place: .init(.priceNow), template: "{{ value_json.end }}", layers: .bridge,
                deviceClass: "timestamp"),
            Entity(
                key: "price_level", platform: .sensor, name: say("Price level", "Prisnivå"),
                place: .init(.priceNow), template: "{{ value_json.level }}", layers: .bridge,
                stateClass: "measurement", icon: "mdi:stairs"),
            Entity(
                key: "cheap_now", platform: .binarySensor, name: say("Cheap now", "Billigt nu"),
                place: .init(.cheapNow), template: "{{ value if value in ('ON', 'OFF') else none }}",
                layers: .bridge, icon: "mdi:piggy-bank"),
            Entity(
                key: "tomorrow_known", platform: .binarySensor,
                name: say("Tomorrow's prices known", "Morgondagens priser kända"), place: .init(.priceSeries),
                template: "{{ none if value_json.tomorrow_known is none else 'ON' if "
                    + "value_json.tomorrow_known else 'OFF' }}",
                layers: .bridge, icon: "mdi:calendar-check"),
        ]
        for hours in shape.cheapHours {
            let place = TopicTree.Place(.cheapest, StatePublisher.level(hours: hours))
            entities += [
                Entity(
                    key: "cheapest_\(hours)h_start", platform: .sensor,
                    name: say("Cheapest \(hours) h start", "Billigaste \(hours) h börjar"), place: place,
                    template: "{{ value_json.start }}", layers: .bridge, deviceClass: "timestamp",
                    hasAttributes: true),
                Entity(
                    key: "cheapest_\(hours)h_end", platform: .sensor,
                    name: say("Cheapest \(hours) h end", "Billigaste \(hours) h slutar"), place: place,
                    template: "{{ value_json.end }}", layers: .bridge, deviceClass: "timestamp"),
            ]
        }
        return entities
    }

    private func price(
        _ key: String, _ name: String, _ member: String, icon: String, attributes: TopicTree.Place? = nil
    ) -> Entity {
        Entity(
            key: key, platform: .sensor, name: name, place: .init(.priceNow),
            template: "{{ value_json.\(member) }}", layers: .bridge, stateClass: "measurement",
            unit: SiteDocuments.unit(shape.presence.currency), precision: 2, attributesPlace: attributes,
            icon: icon)
    }

    private var planEntities: [Entity] {
        [
            Entity(
                key: "plan", platform: .sensor, name: say("Plan", "Plan"), place: .init(.planNow),
                template: "{{ value_json.action }}", layers: .box(sources: []), deviceClass: "enum",
                options: PlanStep.allCases.map(\.rawValue), attributesPlace: .init(.planSeries),
                icon: "mdi:battery-clock"),
            Entity(
                key: "plan_until", platform: .sensor, name: say("Plan until", "Plan till"),
                place: .init(.planNow), template: "{{ value_json.until }}", layers: .box(sources: []),
                deviceClass: "timestamp", hasAttributes: true),
        ]
    }

    private var energyEntities: [Entity] {
        var entities = [
            energy("grid_import_energy", say("Grid import energy", "Köpt energi"), "import"),
            energy("grid_export_energy", say("Grid export energy", "Såld energi"), "export"),
            energy("house_energy", say("House energy", "Husets energi"), "house"),
        ]
        if shape.presence.hasSolar {
            entities.append(energy("solar_energy", say("Solar energy", "Solenergi"), "solar"))
        }
        if shape.presence.hasBattery {
            entities += [
                energy(
                    "battery_charge_energy", say("Battery charge energy", "Energi in i batteriet"),
                    "battery_in"),
                energy(
                    "battery_discharge_energy", say("Battery discharge energy", "Energi ur batteriet"),
                    "battery_out"),
            ]
        }
        if shape.presence.hasCar {
            entities.append(energy("car_energy", say("Car energy", "Bilens energi"), "car"))
        }
        return entities
    }

    private func energy(_ key: String, _ name: String, _ member: String) -> Entity {
        Entity(
            key: key, platform: .sensor, name: name, place: .init(.energy),
            template: "{{ value_json.\(member) }}", layers: .box(sources: []), deviceClass: "energy",
            stateClass: "total_increasing", unit: "kWh", precision: 2)
    }
}
