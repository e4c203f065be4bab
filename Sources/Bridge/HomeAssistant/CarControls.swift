import EnergyModel
import JSONText

/// What a person can do with one loadpoint.
///
/// Every state is what the box read back, never the wish. A control is
/// unavailable while the box would refuse it: it is out of reach, we may only
/// look, or, where it takes a car, none is plugged in.
struct CarControls {
    let car: HomeShape.Car
    /// First levels of every topic of the site.
    let root: String
    let language: Language
    let open: Set<CommandName>

    /// On the car's device, in the order in which they are announced.
    var all: [Entity] { control + level + goal + switches + outcome }

    /// On topics of their own: `time` is not in every release.
    var alone: [Entity] {
        guard open.contains(.goal) else { return [] }
        return [
            entity(
                "goal_time", .time, say("Ready by (choose)", "Klar till (välj)"), .carGoal,
                "{{ value_json.by if value_json.live and value_json.by is not none else none }}", .carGoalSet,
                icon: "mdi:clock-edit"
            ) { $0.control?.template = #"{"by":"{{ value }}"}"# }
        ]
    }

    private func say(_ en: String, _ sv: String) -> String { LocalText(en, sv)[language] }

    private func entity(
        _ key: String, _ platform: Entity.Platform, _ name: String?, _ state: TopicName, _ template: String?,
        _ command: TopicName, wantsCar: Bool = false, icon: String? = nil,
        _ more: (inout Entity) -> Void = { _ in }
    ) -> Entity {
        var entity = Entity(
            key: key, platform: platform, name: name, place: .init(state, car.level), template: template,
            layers: .box(sources: []), icon: icon, control: .init(place: .init(command, car.level)))
        entity.needs = [.init(place: .init(.carCommands, car.level))]
        if let taken = Self.command[command] {
            entity.needs.append(Entity.Need.taken(.init(.carTakes, car.level), taken))
        }
        if wantsCar {
            entity.needs.append(
                .init(
                    place: .init(.carState, car.level),
                    template: "{{ 'online' if value_json.plugged_in and value_json.live else 'offline' }}"))
        }
        more(&entity)
        return entity
    }

    /// Which member of what the box takes tells of each command.
    private static let command: [TopicName: CommandName] = [
        .carLevelSet: .level, .carLevelAdjust: .level, .carControlSet: .control, .carGoalSet: .goal,
        .carSurplusOnlySet: .surplusOnly, .carBoostSet: .boost,
    ]

    private func button(
        _ key: String, _ name: String, _ command: TopicName, _ payload: String, wantsCar: Bool, icon: String
    ) -> Entity {
        entity(key, .button, name, command, nil, command, wantsCar: wantsCar, icon: icon) {
            $0.hasState = false
            $0.extra["payload_press"] = .string(payload)
        }
    }

    // MARK: Charge now, pause, plan

    /// The words of the select; commands are read in every language.
    private var words: [(word: String, name: String)] {
        [
            ("plan", say("Plan", "Planen")), ("charge_now", say("Charge now", "Ladda nu")),
            ("paused", say("Paused", "Pausad")),
        ]
    }

    private var control: [Entity] {
        guard open.contains(.control) else { return [] }
        let names = words.map { "'\($0.word)':'\($0.name)'" }.joined(separator: ",")
        return [
            // Without a name it is called what the device is called, and that is
            // what people say to turn it on.
            entity(
                "switch", .switch, nil, .carControl,
                "{{ 'None' if value == 'unknown' else 'charge_now' if value == 'charge_now' else 'plan' }}",
                .carControlSet, wantsCar: true, icon: "mdi:ev-station"
            ) { $0.onOff = ("charge_now", "plan") },
            entity(
                "control_choice", .select, say("Choose charging mode", "Välj laddläge"), .carControl,
                "{{ {\(names)}.get(value, 'None') }}", .carControlSet, wantsCar: true,
                icon: "mdi:hand-back-right"
            ) { $0.options = words.map(\.name) },
            button(
                "charge_now", say("Charge now", "Ladda nu"), .carControlSet, "charge_now", wantsCar: true,
                icon: "mdi:flash"),
            button(
                "pause", say("Pause", "Pausa"), .carControlSet, "pause", wantsCar: true, icon: "mdi:pause"),
            button(
                "back_to_plan", say("Back to the plan", "Tillbaka till planen"), .carControlSet, "plan",
                wantsCar: false, icon: "mdi:calendar-arrow-left"),
        ]
    }

    // MARK: Level

    private static func percent(_ entity: inout Entity) {
        entity.unit = "%"
        entity.extra["min"] = 0
        entity.extra["max"] = 100
        entity.extra["step"] = 1
    }

    private var level: [Entity] {
        guard open.contains(.level) else { return [] }
        return [
            entity(
                "level_choice", .number, say("Enter level", "Ange nivå"), .carLevel,
                "{{ value_json.level | round(0) | int if value_json.live and value_json.level is not none "
                    + "else none }}",
                .carLevelSet, wantsCar: true, icon: "mdi:battery-heart-variant", Self.percent),
            button(
                "level_up", say("Level +5", "Nivå +5"), .carLevelAdjust, "+5", wantsCar: true,
                icon: "mdi:battery-plus-variant"),
            button(
                "level_down", say("Level −5", "Nivå −5"), .carLevelAdjust, "-5", wantsCar: true,
                icon: "mdi:battery-minus-variant"),
        ]
    }

    // MARK: Goal

    private var goal: [Entity] {
        guard open.contains(.goal) else { return [] }
        // A text takes every word as it is, "None" too; without a goal it is empty.
        let days =
            "{% if value_json.live and value_json.active %}"
            + "{{ 'once' if value_json.once else (value_json.days or []) | join(' ') }}{% endif %}"
        return [
            entity(
                "goal_choice", .number, say("Goal (choose)", "Mål (välj)"), .carGoal,
                "{{ value_json.level | round(0) | int if value_json.live and value_json.level is not none "
                    + "else none }}",
                .carGoalSet, icon: "mdi:battery-charging-high"
            ) {
                Self.percent(&$0)
                $0.extra["min"] = 1
                $0.control?.template = #"{"level":{{ value }}}"#
            },
            entity(
                "goal_days", .text, say("Goal days", "Målets dagar"), .carGoal, days, .carGoalSet,
                icon: "mdi:calendar-week"
            ) { $0.extra["max"] = 60 },
            button(
                "goal_clear", say("Clear goal", "Rensa mål"), .carGoalSet, "clear", wantsCar: false,
                icon: "mdi:battery-remove-outline"),
        ]
    }

    // MARK: Switches

    private var switches: [Entity] {
        func toggle(_ key: String, _ name: String, _ command: TopicName, _ member: String, _ icon: String)
            -> Entity
        {
            entity(
                key, .switch, name, .carState,
                "{{ 'None' if value_json.\(member) is none else 'ON' if value_json.\(member) else 'OFF' }}",
                command, wantsCar: member == "boost", icon: icon)
        }
        var all: [Entity] = []
        if open.contains(.surplusOnly) {
            all.append(
                toggle(
                    "surplus_only_choice", say("Charge from spare sun only", "Ladda bara av solöverskott"),
                    .carSurplusOnlySet, "surplus_only", "mdi:solar-power"))
        }
        if open.contains(.boost) {
            all.append(
                toggle(
                    "boost_choice", say("Let the home battery help", "Låt hemmabatteriet hjälpa"),
                    .carBoostSet,
                    "boost", "mdi:home-battery"))
        }
        return all
    }

    // MARK: How it ended

    private var outcome: [Entity] {
        guard !open.isEmpty else { return [] }
        let mine = "\(root)/car/\(car.level)/"
        var event = Entity(
            key: "command_result", platform: .event, name: say("Command result", "Kommandots utfall"),
            place: .init(.result),
            // What is told again fires only if it is newer than the last that was heard.
            template: "{% if value_json.final and value_json.topic.startswith('\(mine)') and "
                + "(not value_json.repeated or as_timestamp(value_json.at, 0) > "
                + "as_timestamp(this.attributes.get('at'), 0)) %}"
                + "{{ dict(value_json, event_type=value_json.stage) | tojson }}{% endif %}",
            layers: .bridge, icon: "mdi:check-decagram-outline")
        event.eventTypes = Stage.allCases.filter(\.isFinal).map(\.rawValue)
        return [event]
    }
}
