import BoxSimulator
import FoundationEssentials
import JSONText
import MQTTClient
import MQTTTypes
import Testing

extension Recipes {
    /// The files for openHAB against a bridge at work. openHAB itself does not run here.
    @Suite(.needsBroker, .timeLimit(.minutes(6))) struct OpenHABTests {
        static func files() throws -> OpenHABFiles {
            let folder = "config/other-homes/openhab"
            return OpenHABFiles(
                things: try RecipeStage.file("\(folder)/ftw.things"),
                items: try RecipeStage.file("\(folder)/ftw.items"),
                rules: try RecipeStage.file("\(folder)/ftw.rules"))
        }

        /// What the binding's README allows.
        private static let channelOptions: Set<String> = [
            "stateTopic", "commandTopic", "transformationPattern", "formatBeforePublish", "allowedStates",
            "on",
            "off", "min", "max", "unit", "qos",
        ]

        /// Item types that fit a channel.
        private static let itemTypes: [String: Set<String>] = [
            "number": ["Number", "Number:Power", "Number:Energy", "Number:Dimensionless"],
            "string": ["String"], "switch": ["Switch"],
        ]

        @Test func everyNameInThemIsThere() throws {
            let files = try Self.files()
            #expect(files.unread == [])
            #expect(files.things.count >= 5 && files.items.count >= 20)
            let channels = Dictionary(
                uniqueKeysWithValues: files.things.flatMap { thing in
                    thing.channels.map { ("\(thing.uid):\($0.id)", $0) }
                })
            for thing in files.things {
                #expect(files.bridges.contains(thing.bridge), "\(thing.uid)")
                for channel in thing.channels {
                    #expect(Set(channel.options.keys).isSubset(of: Self.channelOptions), "\(channel)")
                }
            }
            let names = Set(files.items.map(\.name))
            #expect(names.count == files.items.count)
            var linked: Set<String> = []
            for item in files.items {
                for group in item.groups { #expect(names.contains(group), "\(item.name)") }
                guard item.type != "Group" else { continue }
                let channel = try #require(item.channel.flatMap { channels[$0] }, "\(item.name)")
                linked.insert(item.channel ?? "")
                #expect(Self.itemTypes[channel.type]?.contains(item.type) == true, "\(item.name)")
                // A quantity comes with its unit, and what can be commanded never shows the wish.
                #expect(item.type.hasPrefix("Number:") == (channel.options["unit"] != nil), "\(item.name)")
                #expect(
                    (item.options["autoupdate"] == "false") == (channel.options["commandTopic"] != nil),
                    "\(item.name)")
            }
            #expect(linked == Set(channels.keys))
            #expect(Set(files.ruleThings).isSubset(of: files.things.map(\.uid)))
            #expect(Set(files.ruleThings) == Set(files.things.map(\.uid)))
            // Whichever thing goes offline, a rule takes its values away; the last command is history.
            for thing in files.things {
                let cleared = files.rules.filter {
                    $0.isTriggered(by: thing.uid, from: "ONLINE", to: "OFFLINE")
                }
                .flatMap(\.cleared)
                for item in files.items where item.channel?.hasPrefix("\(thing.uid):") == true {
                    #expect(
                        item.name == "Ftw_Last" || !Set(cleared).isDisjoint(with: item.groups), "\(item.name)"
                    )
                }
            }
            // UNDEF to ON is no news.
            let triggers: [String] = files.rules.flatMap(\.triggers)
            let cheap = triggers.filter { $0.contains("Ftw_Cheap") }
            #expect(cheap == ["Item Ftw_Cheap changed from OFF to ON"])
            #expect(Set(files.ruleItems).isSubset(of: names))
            #expect(Set(files.ruleBrokers) == ["mqtt:broker:home"])
            #expect(files.ruleBrokers.count == files.rulePublishes.count && files.rulePublishes.count == 2)
        }

        @Test func everyTopicAndPathIsThereAndEveryCommandIsTaken() async throws {
            let files = try Self.files()
            try await RecipeStage.run(car: .estimated(0.5)) { recipe in
                // Something to look at on `last_command`.
                _ = try await recipe.shell("config/other-homes/ask.sh ftw/home/car/garage/control/set plan")
                let picture = try await recipe.stage.picture("a last command") {
                    $0.document("car/garage/last_command") != nil
                }
                for thing in files.things {
                    let topic = try #require(thing.options["availabilityTopic"])
                    #expect(
                        picture.messages[topic]?.text == thing.options["payloadAvailable"], "\(thing.uid)")
                    #expect(thing.options["payloadNotAvailable"] == "offline")
                    for channel in thing.channels { try Self.check(channel, in: picture) }
                }
                for (channel, payload) in Self.commands(files) {
                    let topic = try #require(channel.options["commandTopic"])
                    let run = try await recipe.shell("config/other-homes/ask.sh \(topic) '\(payload)'")
                    #expect(run.code == 0, "\(topic) \(payload): \(run.output)")
                }
            }
        }

        /// Each thing's values go when it is silent, no others do, and all of them are back when it
        /// answers again.
        @Test func whatWasTakenAwayComesBack() async throws {
            let files = try Self.files()
            try await RecipeStage.run(car: .estimated(0.5)) { recipe in
                let client = try await TestClient.subscribed(
                    recipe.stage.broker.settings(clientID: "openhab"), to: ["ftw/home/#"])
                var items = OpenHABItems(files)
                func until(_ what: String, _ isSo: (OpenHABItems) -> Bool) async throws {
                    // Something always comes, such as power; so silence alone does not end it.
                    let end = ContinuousClock.now + .seconds(60)
                    while !isSo(items) {
                        guard ContinuousClock.now < end else {
                            throw TestSetupError("\(what) never came; there is \(items.known.sorted())")
                        }
                        let message = try await client.next(
                            "\(what); there is \(items.known.sorted())"
                        ) { _ in true }
                        for publish in items.take(message) {
                            client.client.publish(Message(publish.topic, Array(publish.payload.utf8)))
                        }
                    }
                }
                let wanted = Set(files.items.filter { $0.channel != nil }.map(\.name)).subtracting([
                    "Ftw_Last"
                ])
                try await until("everything") { $0.known.isSuperset(of: wanted) }

                let power: Set<String> = ["Ftw_House"]
                for (source, thing, gone) in [
                    (
                        "garage-charger", "car",
                        power.union(["Ftw_CarLevel", "Ftw_CarPlugged", "Ftw_CarPower"])
                    ),
                    ("roof-pv", "solar", power.union(["Ftw_Solar"])),
                    ("house-battery", "battery", power.union(["Ftw_Battery", "Ftw_BatteryLevel"])),
                    ("grid-meter", "meter", power.union(["Ftw_Grid"])),
                ] {
                    let uid = "mqtt:topic:home:ftw_\(thing)"
                    await recipe.stage.box.setSource(source, .offline)
                    try await until("\(source) to go") { $0.status[uid] == "OFFLINE" }
                    #expect(wanted.subtracting(items.known) == gone, "\(source)")
                    await recipe.stage.box.setSource(source, .answering)
                    try await until("what \(source) tells") {
                        $0.status[uid] == "ONLINE" && $0.known.isSuperset(of: wanted)
                    }
                }
                await recipe.stage.box.setMute(true)
                let box = "mqtt:topic:home:ftw_box"
                try await until("the box to go") { $0.status[box] == "OFFLINE" }
                #expect(
                    items.known == [
                        "Ftw_Link", "Ftw_Price", "Ftw_PriceLevel", "Ftw_Cheap", "Ftw_CarOrigin",
                        "Ftw_CarText",
                    ])
                await recipe.stage.box.setMute(false)
                try await until("what the box tells") {
                    $0.status[box] == "ONLINE" && $0.known.isSuperset(of: wanted)
                }
                await client.close()
            }
        }

        /// What the rules publish; a household of its own, as the box takes ten commands a minute.
        @Test func theRulesCommandsAreTaken() async throws {
            let files = try Self.files()
            try await RecipeStage.run(car: .estimated(0.5)) { recipe in
                for publish in files.rulePublishes where publish.topic.hasSuffix("/control/set") {
                    let run = try await recipe.shell(
                        "config/other-homes/ask.sh \(publish.topic) plan >/dev/null && "
                            + "mosquitto_pub -q 1 -t \(publish.topic) -m '\(publish.payload)'")
                    #expect(run.code == 0, "\(run.output)")
                    let wanted = try JSONValue(parsing: publish.payload)["value"]
                    try await recipe.stage.picture("the rule's command") {
                        let last = $0.document("car/garage/last_command")
                        return last?["stage"] == "done" && last?["requested"] == wanted
                            && $0.text("car/garage/control") == wanted?.stringValue
                    }
                }
            }
        }

        /// A channel's topic is retained, its path resolves, and the value fits its type.
        private static func check(_ channel: OpenHABFiles.Channel, in picture: RetainedPicture) throws {
            let topic = try #require(channel.options["stateTopic"])
            let message = try #require(picture.messages[topic], "\(topic) is not retained")
            var text = message.text ?? ""
            if let pattern = channel.options["transformationPattern"] {
                #expect(pattern.hasPrefix("JSONPATH:$."))
                let document = try JSONValue(parsing: message.payload)
                let value = try #require(
                    document[String(pattern.dropFirst("JSONPATH:$.".count))], "\(pattern) is not in \(topic)")
                #expect(value != .null, "\(pattern) in \(topic) has nothing to try")
                text = value.stringValue ?? value.text
            }
            switch channel.type {
            case "number": #expect(Double(text) != nil, "\(topic) \(text)")
            case "switch":
                #expect([channel.options["on"], channel.options["off"]].contains(text), "\(topic) \(text)")
            case "string":
                let allowed = channel.options["allowedStates"]?.split(separator: ",").map(String.init)
                #expect(allowed?.contains(text) ?? !text.isEmpty, "\(topic) \(text)")
            default: Issue.record("channel type \(channel.type)")
            }
        }

        /// What openHAB would send from each channel that can be commanded.
        private static func commands(_ files: OpenHABFiles) -> [(OpenHABFiles.Channel, String)] {
            files.things.flatMap(\.channels).filter { $0.options["commandTopic"] != nil }.flatMap { channel in
                switch channel.type {
                case "switch": ["on", "off"].compactMap { channel.options[$0] }.map { (channel, $0) }
                case "number": [(channel, "62")]
                default:
                    if let states = channel.options["allowedStates"] {
                        states.split(separator: ",").filter { $0 != "unknown" }.map { (channel, String($0)) }
                    } else if channel.options["commandTopic"]?.hasSuffix("goal/set") == true {
                        [(channel, "80 % 07:00 weekdays"), (channel, "clear")]
                    } else {
                        [(channel, "planner_arbitrage")]
                    }
                }
            }
        }

        /// What openHAB's Home Assistant binding knows (its `ComponentFactory`), so that the page is right about us.
        private static let platforms: Set<String> = [
            "alarm_control_panel", "binary_sensor", "button", "camera", "climate", "cover",
            "device_automation",
            "device_tracker", "event", "fan", "humidifier", "light", "lock", "number", "scene", "select",
            "sensor",
            "switch", "tag", "text", "update", "vacuum", "valve", "water_heater",
        ]

        @Test func whatItDiscoversIsWhatThePageSays() async throws {
            let page = try RecipeStage.file("config/other-homes/openhab/README.md")
            try await RecipeStage.run { recipe in
                let documents = try await recipe.stage.picture().discovery
                var used: Set<String> = []
                for (topic, document) in documents {
                    let levels = topic.split(separator: "/").map(String.init)
                    #expect((4...5).contains(levels.count) && levels.last == "config", "\(topic)")
                    // A whole device in one topic, or a single `time`, which is not known there and alone.
                    guard levels[1] == "device" else {
                        #expect(levels[1] == "time", "\(topic)")
                        continue
                    }
                    #expect(document["device"]?["identifiers"] != nil && document["origin"]?["name"] != nil)
                    for (name, component) in document["components"]?.objectValue ?? [:] {
                        let platform = try #require(component["platform"]?.stringValue, "\(name)")
                        used.insert(platform)
                        #expect(Self.platforms.contains(platform), "\(name) is a \(platform)")
                        // The last component read decides over the whole thing, so they must agree.
                        let mode = component["availability_mode"] ?? document["availability_mode"]
                        #expect(mode == "all", "\(name)")
                    }
                }
                #expect(documents.count == RetainedPicture.announcements)
                for platform in used { #expect(page.contains(platform), "\(platform) is not on the page") }
            }
        }
    }
}
