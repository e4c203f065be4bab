import Ambient
import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes

@testable import Bridge

/// 30 November 2026, 10:00 in Stockholm.
let morning = Date(timeIntervalSince1970: 1_796_029_200)

func settings(
    site: String = "home", name: String = "Home", base: String = "ftw", language: Language = .en,
    rate: BridgeSettings.Rate = .normal, values: Bool = false, discovery: Bool = true
) -> BridgeSettings {
    BridgeSettings(
        siteID: site, siteName: name, boxKeyHash: "feedfacefeedface", baseTopic: base, discovery: discovery,
        language: language, rate: rate, mirrorsValues: values, version: "0.1.0",
        supportURL: "https://example.org/ftw-mqtt")
}

let threeModes = [
    Mode.Entry(key: "idle", label: "Idle", tier: "advanced"),
    Mode.Entry(key: "planner_self", label: "Self use", tier: "primary"),
    Mode.Entry(key: "planner_arbitrage", label: "Arbitrage", tier: "primary"),
]

/// A house with meter, panels, battery and charger, all well.
func house(at: Date = morning) -> SiteState {
    func source(_ id: String, _ name: String, _ role: Source.Role) -> Source {
        Source(
            id: id, name: name, state: .live, roles: [role], lastAnswered: at, staleAfter: .seconds(10),
            isHealthy: true)
    }
    return SiteState(
        link: Link(state: .live, since: morning, lastFrameAt: at),
        box: BoxFacts(
            id: "0123456789abcdef", build: "2.2.1", zone: "Europe/Stockholm", role: "owner", scopes: nil,
            capabilities: ["api.passthrough"]),
        sources: [
            source("meter", "House meter", .meter), source("pv", "Roof", .solar),
            source("store", "Cellar battery", .battery), source("charger", "Garage", .charger),
        ],
        power: Power(gridW: 1_200, solarW: -3_000, batteryW: 800, carW: 2_300, houseW: 700, at: at),
        battery: Battery(soc: 0.625, at: at), control: Control(answer: .yes, since: morning),
        mode: Mode(current: threeModes[1], catalogue: threeModes))
}

extension SiteState {
    func changed(_ change: (inout SiteState) -> Void) -> SiteState {
        var state = self
        change(&state)
        return state
    }

    /// The same house, one source with a fault.
    func ill(_ id: String, _ state: Source.State = .stale) -> SiteState {
        changed { house in
            for index in house.sources.indices where house.sources[index].id == id {
                house.sources[index].state = state
                house.sources[index].isHealthy = false
            }
            switch id {
            case "meter": house.power?.gridW = nil
            case "pv": house.power?.solarW = nil
            case "store":
                house.power?.batteryW = nil
                house.battery?.soc = nil
            default: house.power?.carW = nil
            }
            house.power?.houseW = nil
            house.control = Control(answer: .partly, quiet: [id], since: morning)
        }
    }
}

/// A machine with a clock and a broker that keeps what is retained.
struct Bench {
    var machine: BridgeMachine
    var monotonic = Duration.seconds(1_000)
    var wall = morning
    /// What a fresh subscriber would be sent.
    var retained: [String: Message] = [:]
    var disk: [String: JSONValue]
    var log: [String] = []
    var orders: [BoxOrder] = []
    var readings: [BoxOrder] = []
    /// Whether the broker sends our own messages back.
    var echoes = false

    init(
        _ settings: BridgeSettings = settings(), disk: [String: JSONValue] = [:], started: Date = morning,
        chance: Double = 0.5
    ) {
        self.disk = disk
        wall = started
        machine = BridgeMachine(
            settings: settings, run: BridgeRun(started: started, chance: chance), memory: { disk[$0] },
            chance: { chance })
    }

    var now: Moment { Moment(monotonic: monotonic, wall: wall) }

    /// Feeds one event, and what is echoed; returns the messages that went out.
    @discardableResult mutating func feed(_ event: BridgeMachine.Event) -> [Message] {
        var sent: [Message] = []
        for action in machine.handle(event, now: now) {
            switch action {
            case .publish(let message):
                sent.append(message)
                if message.retained {
                    retained[message.topic] = message.payload.isEmpty ? nil : message
                }
            case .save(let name, let value): disk[name] = value
            case .log(_, let line): log.append(line)
            case .perform(let order): orders.append(order)
            case .readBack(let order): readings.append(order)
            case .subscribe, .askHealth, .someoneLooks, .reload: break
            }
        }
        if echoes {
            for message in sent {
                var echo = message
                echo.retained = false
                sent += feed(.message(echo))
            }
        }
        return sent
    }

    /// CONNACK, a SUBACK, and what the broker still has of announcements that are to be gone.
    ///
    /// - Parameter sweeps: Whether the broker lets those be listened to.
    @discardableResult mutating func connect(sweeps: Bool = true) -> [Message] {
        var sent = feed(.connected(BrokerSession(version: .v5)))
        let swept = machine.sweeping
        let granted = machine.filters.map { _ in true } + swept.map { _ in sweeps }
        sent += feed(.subscribed(attempt: machine.attempt, granted: granted))
        for message in swept.compactMap({ retained[$0] }) where sweeps { sent += feed(.message(message)) }
        return sent
    }

    @discardableResult mutating func see(_ state: SiteState) -> [Message] { feed(.site(state)) }

    /// Lets time pass; every deadline on the way is kept at its time.
    @discardableResult mutating func pass(_ duration: Duration) -> [Message] {
        let end = monotonic + duration
        var sent: [Message] = []
        var idle = 0
        while let deadline = machine.nextDeadline, deadline <= end {
            idle = deadline <= monotonic ? idle + 1 : 0
            guard idle < 10 else {
                sent.append(Message("test/stuck", "a deadline that is never met"))
                break
            }
            move(to: max(monotonic, deadline))
            sent += feed(.timerFired)
        }
        move(to: end)
        return sent
    }

    private mutating func move(to end: Duration) {
        wall += (end - monotonic) / .seconds(1)
        monotonic = end
    }

    func text(_ path: String) -> String? { retained["ftw/home/\(path)"]?.text }
    func json(_ path: String) -> JSONValue? {
        retained["ftw/home/\(path)"].flatMap { try? JSONValue(parsing: $0.payload) }
    }
    func discovery(_ id: String = "ftw_0123456789abcdef") -> JSONValue? {
        retained["homeassistant/device/\(id)/config"].flatMap { try? JSONValue(parsing: $0.payload) }
    }
}

extension [Message] {
    var topics: [String] { map(\.topic) }
    func to(_ path: String) -> [Message] { filter { $0.topic == "ftw/home/\(path)" } }
    func documents(_ path: String) -> [JSONValue] {
        to(path).compactMap { try? JSONValue(parsing: $0.payload) }
    }
}
