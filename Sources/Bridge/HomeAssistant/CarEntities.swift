import EnergyModel
import JSONText

/// The entities of one loadpoint and the car on it.
///
/// What the charger measures, and the level, becomes unavailable when the
/// charger is silent. Who said the level, when, and the sentences stay as long
/// as the bridge works: they say themselves how old they are. What the box holds
/// (goal, orders, limits) and its verdict on the plan need only the box.
struct CarEntities {
    let car: HomeShape.Car
    /// First levels of every topic of the site.
    let root: String
    let language: Language

    /// In the order in which they are announced.
    var all: [Entity] { level + cable + orders + outlook + words + limits }

    private func say(_ en: String, _ sv: String) -> String { LocalText(en, sv)[language] }

    /// The box, and the charger where the stream has it.
    private var charger: Entity.Layers { .box(sources: car.source.map { [$0] } ?? []) }
    private var box: Entity.Layers { .box(sources: []) }

    private func entity(
        _ key: String, _ platform: Entity.Platform, _ name: String, _ topic: TopicName, _ template: String?,
        _ layers: Entity.Layers, icon: String? = nil, _ more: (inout Entity) -> Void = { _ in }
    ) -> Entity {
        var entity = Entity(
            key: key, platform: platform, name: name, place: .init(topic, car.level), template: template,
            layers: layers, icon: icon)
        more(&entity)
        return entity
    }

    private static func value(_ member: String) -> String { "{{ value_json.\(member) }}" }
    private static func live(_ member: String) -> String {
        "{{ value_json.\(member) if value_json.live else none }}"
    }
    private static func flag(_ member: String, whenLive: Bool = false) -> String {
        let unknown = "value_json.\(member) is none" + (whenLive ? " or not value_json.live" : "")
        return "{{ none if \(unknown) else 'ON' if value_json.\(member) else 'OFF' }}"
    }

    private static func percent(_ entity: inout Entity) {
        (entity.unit, entity.precision) = ("%", 0)
        entity.stateClass = "measurement"
    }

    /// A word that automations compare with. The same is there in sentences, in the
    /// person's language, so a page that makes itself shows those first.
    private static func key(_ entity: inout Entity) {
        (entity.deviceClass, entity.isDiagnostic) = ("enum", true)
    }

    // MARK: Level

    private var level: [Entity] {
        [
            entity("level", .sensor, say("Level", "Nivå"), .carLevel, Self.live("level"), charger) {
                Self.percent(&$0)
                $0.deviceClass = "battery"
            },
            entity(
                "level_measured", .sensor, say("Level measured", "Nivå mätt"), .carLevel, Self.value("at"),
                .bridge
            ) { $0.deviceClass = "timestamp" },
            entity(
                "level_outdated", .binarySensor, say("Level outdated", "Nivån är gammal"), .carLevel,
                Self.flag("outdated"), .bridge
            ) { $0.deviceClass = "problem" },
            entity(
                "level_origin", .sensor, say("Level origin", "Nivåns ursprung"), .carLevel,
                Self.value("origin"), .bridge, icon: "mdi:account-question"
            ) {
                Self.key(&$0)
                $0.options = CarLevel.Origin.allCases.map(\.rawValue)
                $0.hasAttributes = true
            },
            entity(
                "plan_level", .sensor, say("Level the plan counts from", "Nivå som planen räknar från"),
                .carLevel, Self.live("plan_level"), charger, icon: "mdi:battery-clock", Self.percent),
            entity(
                "person_level", .sensor, say("Level entered", "Angiven nivå"), .carLevel,
                Self.value("person_level"), box, icon: "mdi:battery-heart-outline", Self.percent),
            entity(
                "needs_real_level", .binarySensor, say("Real level wanted", "Rätt nivå behövs"), .carLevel,
                Self.flag("needs_real_level", whenLive: true), box, icon: "mdi:battery-unknown"),
        ]
    }

    // MARK: Cable and power

    private var cable: [Entity] {
        [
            entity(
                "plugged_in", .binarySensor, say("Cable", "Kabel"), .carState,
                Self.flag("plugged_in", whenLive: true), charger
            ) { $0.deviceClass = "plug" },
            entity(
                "charging", .binarySensor, say("Charging", "Laddar"), .carState,
                Self.flag("charging", whenLive: true), charger
            ) { $0.deviceClass = "battery_charging" },
            entity(
                "activity", .sensor, say("Charging status", "Laddstatus"), .carState, Self.live("activity"),
                charger, icon: "mdi:ev-station"
            ) {
                Self.key(&$0)
                $0.options = ChargingState.tokens
            },
            entity("power", .sensor, say("Power", "Effekt"), .carState, Self.live("power"), charger) {
                ($0.deviceClass, $0.stateClass, $0.unit, $0.precision) = ("power", "measurement", "W", 0)
            },
            entity(
                "session_energy", .sensor, say("Energy since plugged in", "Energi sedan inkoppling"),
                .carState, Self.live("session_kwh"), charger
            ) {
                ($0.deviceClass, $0.stateClass) = ("energy", "total_increasing")
                ($0.unit, $0.precision) = ("kWh", 2)
            },
        ]
    }

    // MARK: Orders and goal

    private var orders: [Entity] {
        [
            entity(
                "control", .sensor, say("Charging mode", "Laddläge"), .carControl,
                "{{ none if value == 'unknown' else value }}", box, icon: "mdi:hand-back-right"
            ) {
                Self.key(&$0)
                $0.options = Sentence.Intention.allCases.map(\.rawValue)
                // Who asked for it and until when, so that an automation ends only what it began.
                $0.attributesPlace = .init(.carHold, car.level)
                $0.extra["json_attributes_template"] = .string(withTopic)
            },
            entity(
                "surplus_only", .binarySensor, say("Spare sun only", "Bara solöverskott"), .carState,
                Self.flag("surplus_only"), box, icon: "mdi:solar-power"),
            entity(
                "boost", .binarySensor, say("Home battery helps", "Hemmabatteriet hjälper"), .carState,
                Self.flag("boost"), box, icon: "mdi:home-battery"),
            entity(
                "goal", .sensor, say("Goal", "Mål"), .carGoal, Self.live("level"), box,
                icon: "mdi:battery-charging-high"
            ) { ($0.unit, $0.precision) = ("%", 0) },
            entity(
                "goal_deadline", .sensor, say("Ready by", "Klar till"), .carGoal, Self.live("next_deadline"),
                box, icon: "mdi:clock-end"
            ) { $0.deviceClass = "timestamp" },
        ]
    }

    // MARK: Readiness

    private var outlook: [Entity] {
        [
            entity(
                "ready", .sensor, say("Ready in time", "Klar i tid"), .carReady, Self.value("state"), box,
                icon: "mdi:car-clock"
            ) {
                Self.key(&$0)
                $0.options = Readiness.State.allCases.map(\.rawValue)
                $0.hasAttributes = true
            },
            entity(
                "expected_level", .sensor, say("Expected level", "Väntad nivå"), .carReady,
                Self.value("expected"), box, icon: "mdi:battery-arrow-up", Self.percent),
            entity(
                "shortfall", .sensor, say("Shortfall", "Fattas"), .carReady,
                "{{ none if value_json.shortfall_wh is none else value_json.shortfall_wh / 1000 }}", box,
                icon: "mdi:battery-alert"
            ) { ($0.deviceClass, $0.unit, $0.precision) = ("energy", "kWh", 1) },
            entity(
                "charging_start", .sensor, say("Charging starts", "Laddning börjar"), .carReady,
                Self.value("charging_start"), box, icon: "mdi:clock-start"
            ) { $0.deviceClass = "timestamp" },
            entity(
                "charging_end", .sensor, say("Charging ends", "Laddning slutar"), .carReady,
                Self.value("charging_end"), box, icon: "mdi:clock-end"
            ) { $0.deviceClass = "timestamp" },
        ]
    }

    // MARK: Sentences

    private var words: [Entity] {
        let topic: TopicName = language == .sv ? .carTextSv : .carTextEn
        return [
            entity(
                "level_text", .sensor, say("Level in words", "Nivån i ord"), topic, Self.value("level"),
                .bridge, icon: "mdi:text"),
            entity(
                "goal_text", .sensor, say("Goal in words", "Målet i ord"), topic, Self.value("goal"), .bridge,
                icon: "mdi:text"),
            entity(
                "ready_text", .sensor, say("Ready in words", "Klar i ord"), topic,
                Self.value("readiness"), .bridge, icon: "mdi:text"),
            entity(
                "charging_text", .sensor, say("Charging in words", "Laddningen i ord"), topic,
                Self.value("charging"), .bridge, icon: "mdi:text"
            ) {
                // What the car is called, for shipped scripts that must tell several apart.
                $0.attributesPlace = .init(.carState, car.level)
                $0.extra["json_attributes_template"] = .string(
                    "{{ dict(loadpoint=value_json.name, car_name=value_json.car_name) | tojson }}")
            },
            entity(
                "receipt_text", .sensor, say("Last command in words", "Senaste kommandot i ord"), topic,
                Self.value("receipt"), .bridge, icon: "mdi:message-reply-text"),
        ] + spoken
    }

    /// All sentences of one language at a time, whatever language the names are
    /// in: who asks in Swedish is answered in Swedish. They also say where this
    /// car's commands go, so that shipped scripts need no settings.
    private var spoken: [Entity] {
        [
            ("words_en", say("Sentences in English", "Meningar på engelska"), TopicName.carTextEn),
            ("words_sv", say("Sentences in Swedish", "Meningar på svenska"), TopicName.carTextSv),
        ].map { key, name, topic in
            entity(key, .sensor, name, topic, Self.value("level"), .bridge, icon: "mdi:account-voice") {
                $0.isDiagnostic = true
                $0.hasAttributes = true
                $0.extra["json_attributes_template"] = .string(withTopic)
            }
        }
    }

    /// A document as attributes, and where this car's commands go.
    private var withTopic: String {
        "{{ dict(value_json, car_topic='\(root)/car/\(car.level)') | tojson }}"
    }

    // MARK: Limits

    private var limits: [Entity] {
        func limit(_ key: String, _ name: String) -> Entity {
            entity(key, .sensor, name, .carState, Self.value(key), box) {
                $0.isDiagnostic = true
                ($0.deviceClass, $0.unit, $0.precision) = ("power", "W", 0)
            }
        }
        return [
            limit("min_power", say("Lowest charging power", "Lägsta laddeffekt")),
            limit("max_power", say("Highest charging power", "Högsta laddeffekt")),
        ]
    }
}
