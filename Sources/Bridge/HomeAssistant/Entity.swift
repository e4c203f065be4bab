import JSONText

/// One entity of Home Assistant, made of what one of our topics carries.
struct Entity: Sendable, Equatable {
    enum Platform: String, Sendable {
        case sensor
        case binarySensor = "binary_sensor"
        case button, event, number, select, text, time
        case `switch`
    }
    /// What a person can do with it.
    struct Control: Sendable, Equatable {
        /// Where the command goes.
        var place: TopicTree.Place
        /// How the payload is made of what was chosen; `nil`: it is that.
        var template: String?
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
    /// `nil`: the device's own name, which is what people say.
    var name: String?
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
    /// `nil` for what only shows something.
    var control: Control?
    /// Whether it shows anything; a button does not.
    var hasState = true
    /// What it needs beside its layers.
    var needs: [Need] = []
    /// Whether the states it may have are named beside ``options``' other use.
    var eventTypes: [String] = []
    /// Members that only this platform has.
    var extra: [String: JSONValue] = [:]

    /// Something that must hold for a control to be of use.
    struct Need: Sendable, Equatable {
        var place: TopicTree.Place
        /// How `online` is found in the payload; `nil`: it is the payload.
        var template: String?

        /// The box takes that command.
        static func taken(_ place: TopicTree.Place, _ name: CommandName) -> Need {
            Need(
                place: place,
                template: "{{ 'online' if value_json.\(name.rawValue) else 'offline' }}")
        }
    }

    /// A command that nobody took so long is not wanted any more, in seconds.
    static let patience: Int64 = 30

    static func == (a: Entity, b: Entity) -> Bool {
        a.key == b.key && a.platform == b.platform && a.name == b.name && a.place == b.place
            && a.template == b.template && a.layers == b.layers && a.isDiagnostic == b.isDiagnostic
            && a.deviceClass == b.deviceClass && a.stateClass == b.stateClass && a.unit == b.unit
            && a.precision == b.precision && a.options == b.options
            && a.hasAttributes == b.hasAttributes && a.attributesPlace == b.attributesPlace
            && a.icon == b.icon && a.onOff?.on == b.onOff?.on
            && a.onOff?.off == b.onOff?.off && a.control == b.control && a.hasState == b.hasState
            && a.needs == b.needs && a.eventTypes == b.eventTypes && a.extra == b.extra
    }

    /// The component of a device payload. Box and bridge are the device's own
    /// availability; only what differs from that is said here.
    func component(tree: TopicTree, uniqueID: String, entityID: String) -> JSONValue {
        var members: [String: JSONValue] = [
            "platform": .string(platform.rawValue), "name": name.map(JSONValue.string) ?? .null,
            "unique_id": .string(uniqueID), "default_entity_id": .string(entityID),
        ]
        if hasState { members["state_topic"] = .string(tree.topic(place)) }
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
        if !eventTypes.isEmpty { members["event_types"] = .array(eventTypes.map(JSONValue.string)) }
        if let control {
            members["command_topic"] = .string(tree.topic(control.place))
            members["qos"] = 1
            members["message_expiry_interval"] = .int(Self.patience)
            set("command_template", control.template)
        }
        members.merge(extra) { _, new in new }
        if !needs.isEmpty {
            guard case .array(let device) = Availability.topics(tree, Availability.device) else {
                return .object(members)
            }
            members["availability"] = .array(
                device
                    + needs.map { need in
                        var entry: [String: JSONValue] = ["topic": .string(tree.topic(need.place))]
                        if let template = need.template { entry["value_template"] = .string(template) }
                        return .object(entry)
                    })
            return .object(members)
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
