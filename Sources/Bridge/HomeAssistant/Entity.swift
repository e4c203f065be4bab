import JSONText

/// One entity of Home Assistant, made of what one of our topics carries.
struct Entity: Sendable, Equatable {
    enum Platform: String, Sendable {
        case sensor
        case binarySensor = "binary_sensor"
    }
    /// Whose absence makes it unavailable, beside the bridge's.
    enum Layers: Sendable, Equatable {
        /// Works as long as the bridge does: diagnostics.
        case bridge
        /// Needs the box too, and the sources that measure it.
        case box(sources: [TopicLevel])
    }

    /// Unique in the site; never renamed. Lower snake case, `-` of a topic level allowed.
    var key: String
    var platform: Platform
    var name: String
    var place: TopicTree.Place
    /// How the state is found in the payload; `nil`: it is the payload.
    var template: String?
    var layers: Layers
    var isDiagnostic = false
    var deviceClass: String?
    var stateClass: String?
    var unit: String?
    /// Decimals that are shown.
    var precision: Int?
    /// All states of an enum; empty for anything else.
    var options: [String] = []
    /// Whether the whole document is shown as attributes.
    var hasAttributes = false
    /// Whose document is shown as attributes, if it is another one.
    var attributesPlace: TopicTree.Place?
    var icon: String?
    /// Payloads of a binary sensor, if not `ON` and `OFF`.
    var onOff: (on: String, off: String)?

    static func == (a: Entity, b: Entity) -> Bool {
        a.key == b.key && a.platform == b.platform && a.name == b.name && a.place == b.place
            && a.template == b.template && a.layers == b.layers && a.isDiagnostic == b.isDiagnostic
            && a.deviceClass == b.deviceClass && a.stateClass == b.stateClass && a.unit == b.unit
            && a.precision == b.precision && a.options == b.options
            && a.hasAttributes == b.hasAttributes && a.attributesPlace == b.attributesPlace
            && a.icon == b.icon && a.onOff?.on == b.onOff?.on
            && a.onOff?.off == b.onOff?.off
    }

    /// The component of a device payload. Box and bridge are the device's own
    /// availability; only what differs from that is said here.
    func component(tree: TopicTree, uniqueID: String, entityID: String) -> JSONValue {
        var members: [String: JSONValue] = [
            "platform": .string(platform.rawValue), "name": .string(name),
            "unique_id": .string(uniqueID), "default_entity_id": .string(entityID),
            "state_topic": .string(tree.topic(place)),
        ]
        func set(_ name: String, _ value: String?) {
            if let value { members[name] = .string(value) }
        }
        set("value_template", template)
        set("device_class", deviceClass)
        set("state_class", stateClass)
        set("unit_of_measurement", unit)
        set("icon", icon)
        if isDiagnostic { members["entity_category"] = "diagnostic" }
        if let precision { members["suggested_display_precision"] = .int(Int64(precision)) }
        if !options.isEmpty { members["options"] = .array(options.map(JSONValue.string)) }
        if let attributes = attributesPlace ?? (hasAttributes ? place : nil) {
            members["json_attributes_topic"] = .string(tree.topic(attributes))
        }
        if let onOff {
            members["payload_on"] = .string(onOff.on)
            members["payload_off"] = .string(onOff.off)
        }
        switch layers {
        case .bridge:
            members["availability"] = Availability.topics(tree, [.init(.bridgeAvailability)])
        case .box(let sources) where !sources.isEmpty:
            members["availability"] = Availability.topics(
                tree, Availability.device + sources.map { .init(.sourceAvailability, $0) })
        case .box: break
        }
        return .object(members)
    }
}

/// The layers of availability, as Home Assistant takes them: every topic must say `online`.
enum Availability {
    /// What everything on a device needs that does not say otherwise.
    static let device: [TopicTree.Place] = [.init(.bridgeAvailability), .init(.boxAvailability)]

    static func topics(_ tree: TopicTree, _ places: [TopicTree.Place]) -> JSONValue {
        .array(places.map { ["topic": .string(tree.topic($0))] })
    }
}
