import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

@Suite struct DiscoveryTests {
    let siteTopic = "homeassistant/device/ftw_0123456789abcdef/config"
    let batteryTopic = "homeassistant/device/ftw_0123456789abcdef_battery/config"

    func bench(_ settings: BridgeSettings = settings(), disk: [String: JSONValue] = [:]) -> Bench {
        var bench = Bench(settings, disk: disk)
        bench.see(house())
        bench.connect()
        return bench
    }

    @Test func theSiteIsAnnouncedWhole() throws {
        let bench = bench()
        let message = try #require(bench.retained[siteTopic])
        #expect(message.qos == .atLeastOnce && message.retained && message.expirySeconds == nil)
        let want = try JSONValue(parsing: DiscoveryDocuments.site)
        let got = try JSONValue(parsing: message.payload)
        for (key, component) in want["components"]?.objectValue ?? [:] {
            #expect(got["components"]?[key] == component, "\(key)")
        }
        #expect(got == want)
    }

    @Test func theBatteryIsAnnouncedWhole() throws {
        let bench = bench(settings(language: .sv))
        let message = try #require(bench.retained[batteryTopic])
        #expect(try JSONValue(parsing: message.payload) == JSONValue(parsing: DiscoveryDocuments.battery))
    }

    /// Home Assistant may have dropped the new parts of what changed while it was busy.
    @Test func whatChangedIsToldOnceMore() throws {
        var bench = Bench(settings())
        bench.see(
            house().changed {
                $0.battery = nil; $0.sources = []
            })
        bench.connect()
        let changed = bench.see(house()).filter { $0.topic == siteTopic }
        #expect(changed.count == 1)
        #expect(!bench.pass(.seconds(14)).contains { $0.topic == siteTopic })
        let again = bench.pass(.seconds(2)).filter { $0.topic.hasPrefix("homeassistant/") }
        #expect(again.filter { $0.topic == siteTopic }.map(\.payload) == changed.map(\.payload))
        #expect(!bench.pass(.seconds(60)).contains { $0.topic.hasPrefix("homeassistant/") })
    }

    /// The rules of the closed schema, for every document that a house can cause.
    @Test(arguments: Language.allCases)
    func everyDocumentKeepsTheRules(language: Language) throws {
        let texts = [
            house(), house().changed { $0.sources = [] },
            house().changed {
                $0.mode = nil; $0.battery = nil
            },
            house().changed {
                $0.sources[0].name = ""; $0.sources[1].name = "a\"b {{ x }}"
            },
        ]
        for state in texts {
            var bench = Bench(settings(language: language))
            bench.see(state)
            for message in bench.connect() where message.topic.hasPrefix("homeassistant/") {
                let document = try JSONValue(parsing: message.payload)
                let top = Set(document.objectValue?.keys.map { $0 } ?? [])
                #expect(top == ["availability", "availability_mode", "components", "device", "origin"])
                #expect(document["device"]?["name"]?.stringValue?.isEmpty == false)
                for (key, component) in document["components"]?.objectValue ?? [:] {
                    #expect(!key.contains(" "))
                    let id = component["default_entity_id"]?.stringValue ?? ""
                    #expect(id.hasPrefix("\(component["platform"]?.stringValue ?? "").ftw_home_"))
                    #expect(!id.contains("forty_two_watts") && !id.contains("-"))
                    #expect(component["unique_id"]?.stringValue == "ftw_0123456789abcdef_\(key)")
                    #expect(component["name"]?.stringValue?.isEmpty == false)
                    let options = component["options"]?.arrayValue
                    #expect(options?.isEmpty != true)
                    if options != nil, component["platform"] != "select" {
                        #expect(component["device_class"] == "enum" && component["state_class"] == nil)
                    }
                }
            }
        }
    }

    /// Every topic that Home Assistant is told to read is one that we publish.
    @Test func everyTopicThatIsNamedExists() {
        let bench = bench()
        func topics(_ value: JSONValue) -> [String] {
            switch value {
            case .array(let items): items.flatMap(topics)
            case .object(let members):
                members.flatMap { name, value in
                    name == "command_topic"
                        ? [] : name.hasSuffix("topic") ? [value.stringValue ?? ""] : topics(value)
                }
            default: []
            }
        }
        let named = [bench.discovery(), bench.discovery("ftw_0123456789abcdef_battery")]
            .compactMap { $0 }.flatMap(topics)
        #expect(!named.isEmpty)
        #expect(Set(named).isSubset(of: bench.retained.keys))
    }

    @Test func idsHaveTheSameSetInBothLanguages() {
        func ids(_ language: Language) -> [[JSONValue?]] {
            let components =
                bench(settings(language: language)).discovery()?["components"]?.objectValue ?? [:]
            return components.sorted { $0.key < $1.key }.map { [$1["unique_id"], $1["default_entity_id"]] }
        }
        #expect(ids(.en) == ids(.sv))
    }

    /// Each quantity needs exactly the sources that measure it.
    @Test(arguments: [
        ("grid_power", ["meter"]), ("grid_import_power", ["meter"]), ("grid_export_power", ["meter"]),
        ("solar_power", ["pv"]), ("car_power", ["charger"]),
        ("house_power", ["meter", "pv", "store", "charger"]),
    ])
    func availabilityHasThreeLayers(key: String, sources: [String]) {
        let topics = (bench().discovery()?["components"]?[key]?["availability"]?.arrayValue ?? [])
            .compactMap { $0["topic"]?.stringValue }
        #expect(
            topics == ["ftw/home/bridge/availability", "ftw/home/box/availability"]
                + sources.map { "ftw/home/source/\($0)/availability" })
    }

    // MARK: What there is

    @Test func aHouseWithoutBatterySunAndCarHasNoSuchEntities() {
        var bench = Bench()
        bench.connect()
        bench.see(
            house().changed { state in
                state.sources.removeLast(3)
                state.battery = nil
                state.power = Power(gridW: 500, solarW: 0, carW: 0, houseW: 500, at: morning)
            })
        #expect(bench.retained[batteryTopic] == nil)
        let keys = bench.discovery()?["components"]?.objectValue?.keys.map { $0 } ?? []
        #expect(keys.contains("grid_power") && keys.contains("house_power"))
        #expect(!keys.contains("solar_power") && !keys.contains("car_power"))
    }

    @Test func aQuietBatteryKeepsItsDevice() {
        var bench = bench()
        bench.see(house().ill("store").changed { $0.battery = nil })
        #expect(bench.retained[batteryTopic] != nil)
        // Nor does it go when nobody knows what the sources measure.
        bench.see(
            house().changed { state in
                state.battery = nil
                for index in state.sources.indices { state.sources[index].roles = [] }
            })
        #expect(bench.retained[batteryTopic] != nil)
    }

    @Test func aBatteryThatIsGoneTakesItsDeviceAlong() {
        var bench = bench()
        let sent = bench.see(
            house().changed {
                $0.sources.remove(at: 2); $0.battery = nil; $0.power?.batteryW = nil
            })
        #expect(sent.filter { $0.topic == batteryTopic } == [Message(batteryTopic, [], retained: true)])
    }

    /// Home Assistant logs a warning for the removal of a device it does not have.
    @Test func aDeviceThatIsGoneIsRemovedAgainOnlyWhereItStillIs() throws {
        let announcement = Message(batteryTopic, Array("{}".utf8), qos: .atLeastOnce, retained: true)
        let removal = Message(batteryTopic, [], retained: true)
        var bench = bench()
        bench.see(
            house().changed {
                $0.sources.remove(at: 2); $0.battery = nil; $0.power?.batteryW = nil
            })
        func reconnected(sweeps: Bool = true) -> [Message] {
            bench.feed(.disconnected(BrokerLoss(code: .closed, sentence: "gone")))
            return bench.connect(sweeps: sweeps).filter { $0.topic == batteryTopic }
        }
        #expect(reconnected().isEmpty)
        #expect(bench.machine.sweeping == [batteryTopic])
        // Home Assistant starts.
        bench.feed(.message(Message("homeassistant/status", "online")))
        #expect(bench.pass(.seconds(10)).filter { $0.topic == batteryTopic }.isEmpty)
        // A broker that lost the removal hears it again.
        bench.retained[batteryTopic] = announcement
        #expect(reconnected() == [removal])
        // Where we may not look, it is said unseen, and not called a lost right to listen.
        #expect(reconnected(sweeps: false) == [removal])
        #expect(bench.machine.publisher.health.refusedFilters.isEmpty)
        let memory = MemoryStandIn(disk: bench.disk)
        #expect(LeftBehind.doubtful(memory) == [batteryTopic])
        #expect(LeftBehind.clearing(memory).contains { $0.topic == batteryTopic })
        #expect(!LeftBehind.clearing(memory, empty: [batteryTopic]).contains { $0.topic == batteryTopic })
    }

    private struct MemoryStandIn: BridgeMemory {
        let disk: [String: JSONValue]
        func load(_ name: String) -> JSONValue? { disk[name] }
        func save(_ name: String, _ value: JSONValue) -> Bool { true }
    }

    @Test func nothingIsAnnouncedBeforeTheBoxIsKnown() {
        var bench = Bench()
        #expect(bench.connect().topics.allSatisfy { !$0.hasPrefix("homeassistant/") })
        bench.see(house().changed { $0.box?.id = nil })
        #expect(bench.retained["homeassistant/device/ftw_feedfacefeedface/config"] != nil)
        // The choice stands, whatever the box says later.
        bench.see(house())
        #expect(bench.discovery() == nil)
    }

    @Test func switchedOffItTakesBackWhatItAnnounced() {
        let first = bench()
        var second = Bench(settings(discovery: false), disk: first.disk)
        second.retained = first.retained
        second.connect()
        #expect(second.retained.keys.allSatisfy { !$0.hasPrefix("homeassistant/") })
        #expect(second.machine.filters == ["ftw/home/#"])
    }

    // MARK: What changes

    @Test func aChangedConfigurationKeepsEveryIDAndLeavesNothingBehind() throws {
        let first = bench(settings(values: true))
        var second = Bench(
            settings(site: "hus", name: "Villa Ö", base: "energi", language: .sv), disk: first.disk)
        second.retained = first.retained
        second.see(house())
        second.connect()
        #expect(second.retained.keys.allSatisfy { !$0.hasPrefix("ftw/") })
        #expect(second.retained["energi/hus/power"] != nil)
        let before = try #require(first.discovery())
        let after = try #require(second.discovery())
        #expect(after["device"]?["identifiers"] == before["device"]?["identifiers"])
        #expect(after["device"]?["name"] == "Villa Ö")
        for (key, component) in before["components"]?.objectValue ?? [:] {
            #expect(after["components"]?[key]?["unique_id"] == component["unique_id"])
        }
        #expect(after["components"]?["grid_power"]?["name"] == "Näteffekt")
    }

    @Test func anotherPrefixClearsTheOldOne() {
        let first = bench()
        var moved = settings()
        moved.discoveryPrefix = "ha"
        var second = Bench(moved, disk: first.disk)
        second.retained = first.retained
        second.see(house())
        second.connect()
        #expect(second.retained.keys.allSatisfy { !$0.hasPrefix("homeassistant/") })
        #expect(second.retained["ha/device/ftw_0123456789abcdef/config"] != nil)
        #expect(second.machine.filters == ["ftw/home/#", "ha/status"])
    }

    @Test func onlyChangedDiscoveryIsSentAgain() {
        var bench = bench()
        #expect(bench.see(house(at: morning + 1)).isEmpty)
        let sent = bench.see(house().changed { $0.sources[0].name = "Main meter" })
        #expect(sent.topics.filter { $0.hasPrefix("homeassistant/") } == [siteTopic])
    }

    @Test func aTombstoneIsDroppedAfterADay() {
        var bench = bench()
        bench.see(house().changed { $0.sources.remove(at: 1) })
        bench.feed(.disconnected(BrokerLoss(code: .closed, sentence: "gone")))
        bench.connect()
        #expect(bench.discovery()?["components"]?["source_pv"] == ["platform": "binary_sensor"])
        bench.feed(.disconnected(BrokerLoss(code: .closed, sentence: "gone")))
        bench.pass(.seconds(86_401))
        bench.connect()
        #expect(bench.discovery()?["components"]?["source_pv"] == nil)
    }

    /// Home Assistant logs an error for a state outside the options, in whichever order the two change.
    @Test func aStateIsAlwaysAmongTheOptions() {
        var bench = bench()
        var options = threeModes.map(\.label)
        var state = "Self use"
        func check(_ sent: [Message]) {
            for message in sent {
                let document = try? JSONValue(parsing: message.payload)
                if message.topic == siteTopic {
                    options = (document?["components"]?["mode"]?["options"]?.arrayValue ?? [])
                        .compactMap(\.stringValue)
                } else if message.topic == "ftw/home/mode" {
                    state = document?["label"]?.stringValue ?? state
                }
                #expect(options.contains(state))
            }
        }
        let extra = Mode.Entry(key: "dance", label: "Dance", tier: "new")
        let more = house().changed { $0.mode = Mode(current: extra, catalogue: threeModes + [extra]) }
        let first = bench.see(more)
        check(first)
        #expect(options == ["Idle", "Self use", "Arbitrage", "Dance"])
        // Home Assistant needs a moment before it knows the new option.
        #expect(first.to("mode").isEmpty)
        check(bench.pass(.milliseconds(1_900)))
        #expect(state == "Self use")
        check(bench.pass(.seconds(1)))
        #expect(state == "Dance")
        check(bench.see(house()))
        #expect(options.contains("Dance") && state == "Self use")
        check(bench.pass(.seconds(5)))
        #expect(options == ["Idle", "Self use", "Arbitrage"])
    }
}
