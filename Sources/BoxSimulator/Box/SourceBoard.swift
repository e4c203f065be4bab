/// How a source behaves, as a test arranges it.
public enum SourceBehaviour: Sendable, Equatable {
    /// Answers every poll.
    case answering
    /// Stops answering without an error: it grows old through `lagging` and `stale` to `down`.
    case silent
    /// Its polls fail: once its time has passed it flaps between `down` and the
    /// state of its age, and its value between zero and the last one.
    case failing
    /// Its driver says that it is offline: `down` at once.
    case offline
    /// Has never answered.
    case never
}

/// The drivers behind the telemetry: who answers, since when not, and what the
/// last word was. Pure; times are uptime in milliseconds.
struct SourceBoard: Sendable {
    enum Duty: Sendable, Equatable {
        case meter, solar, battery
        /// With the loadpoint's id.
        case charger(String)
        /// Measures nothing that counts; there to make the table long.
        case extra
    }
    /// One row of the table that goes over the wire.
    struct Entry: Sendable, Equatable {
        var state: String
        var lastOkMs: Int64
        var staleAfterMs: Int64
    }
    private struct Driver: Sendable {
        var duty: Duty
        var behaviour = SourceBehaviour.answering
        var lastOkMs: Int64?
        var valueW = 0.0
        var soc: Double?
        var ticks = 0
    }
    /// What the box believes to flow, offline drivers counted as zero.
    struct Reading: Sendable, Equatable {
        var gridW = 0.0
        var pvW = 0.0
        var batteryW = 0.0
        var batterySoc: Double?
        var evW: Double?
        /// What is left for the house, never below zero.
        var loadW: Double { max(0, gridW - batteryW - pvW - (evW ?? 0)) }
    }
    static let meterID = "grid-meter"
    let staleAfterMs: Int64
    private var drivers: [String: Driver] = [:]

    init(staleAfterMs: Int64, hasSolar: Bool, hasBattery: Bool, chargers: [(driver: String, id: String)]) {
        self.staleAfterMs = staleAfterMs
        drivers[Self.meterID] = Driver(duty: .meter)
        if hasSolar { drivers["roof-pv"] = Driver(duty: .solar) }
        if hasBattery { drivers["house-battery"] = Driver(duty: .battery) }
        for charger in chargers { drivers[charger.driver] = Driver(duty: .charger(charger.id)) }
    }

    var names: [String] { drivers.keys.sorted() }
    func duty(of name: String) -> Duty? { drivers[name]?.duty }
    func value(of name: String) -> Double { drivers[name]?.valueW ?? 0 }
    func ticks(of name: String) -> Int { drivers[name]?.ticks ?? 0 }
    func lastOkMs(of name: String) -> Int64? { drivers[name]?.lastOkMs }
    var hasBattery: Bool { drivers.values.contains { $0.duty == .battery } }
    var chargerCount: Int { drivers.values.count { if case .charger = $0.duty { true } else { false } } }

    mutating func set(_ name: String, _ behaviour: SourceBehaviour) {
        drivers[name]?.behaviour = behaviour
        if behaviour == .never { drivers[name]?.lastOkMs = nil }
    }
    /// Lets the last answer of a source have come `ageMs` ago, as far as uptime goes back.
    mutating func age(_ name: String, byMs ageMs: Int64, uptimeMs: Int64) {
        guard drivers[name]?.lastOkMs != nil else { return }
        drivers[name]?.lastOkMs = max(0, uptimeMs - max(0, ageMs))
    }
    mutating func add(_ name: String, _ duty: Duty) {
        if drivers[name] == nil { drivers[name] = Driver(duty: duty) }
    }
    mutating func remove(_ name: String) { drivers[name] = nil }

    /// The process started again: everything heard is forgotten.
    mutating func forget() {
        for name in drivers.keys {
            drivers[name]?.lastOkMs = nil
            drivers[name]?.valueW = 0
            drivers[name]?.soc = nil
            drivers[name]?.ticks = 0
        }
    }

    /// Asks every driver that answers. Drivers are polled once a second, first
    /// one second after the start.
    mutating func poll(uptimeMs: Int64, flows: HouseFlows, batterySoc: Double?) {
        let polledAt = uptimeMs / 1_000 * 1_000
        guard polledAt >= 1_000 else { return }
        for name in drivers.keys where drivers[name]?.behaviour == .answering {
            drivers[name]?.lastOkMs = polledAt
            drivers[name]?.ticks += 1
            switch drivers[name]?.duty {
            case .meter: drivers[name]?.valueW = flows.gridW
            case .solar: drivers[name]?.valueW = flows.pvW
            case .battery:
                drivers[name]?.valueW = flows.batteryW
                drivers[name]?.soc = batterySoc
            case .charger(let id): drivers[name]?.valueW = flows.evW[id] ?? 0
            case .extra, nil: break
            }
        }
    }

    func state(of name: String, uptimeMs: Int64) -> String {
        guard let driver = drivers[name], let last = driver.lastOkMs else { return "never" }
        if driver.behaviour == .offline { return "down" }
        let age = max(0, uptimeMs - last)
        let byAge =
            age <= staleAfterMs
            ? "live" : age <= 2 * staleAfterMs ? "lagging" : age <= 6 * staleAfterMs ? "stale" : "down"
        // The watchdog runs every other second and calls it offline; the next
        // failed poll in between makes it merely degraded again.
        if driver.behaviour == .failing, byAge != "live", uptimeMs / 1_000 % 2 == 0 { return "down" }
        return byAge
    }

    /// The table; a source that never answered is missing, the site meter is always there.
    func table(uptimeMs: Int64) -> [String: Entry] {
        var rows: [String: Entry] = [:]
        for (name, driver) in drivers {
            guard driver.lastOkMs != nil || driver.duty == .meter || driver.behaviour == .never else {
                continue
            }
            rows[name] = Entry(
                state: state(of: name, uptimeMs: uptimeMs), lastOkMs: driver.lastOkMs ?? 0,
                staleAfterMs: staleAfterMs)
        }
        return rows
    }

    /// The meter's id while it is offline, else nothing.
    func blockedBy(uptimeMs: Int64) -> [String] {
        state(of: Self.meterID, uptimeMs: uptimeMs) == "down" ? [Self.meterID] : []
    }

    func reading(uptimeMs: Int64) -> Reading {
        var sum = Reading()
        for (name, driver) in drivers where driver.lastOkMs != nil {
            let isOnline = state(of: name, uptimeMs: uptimeMs) != "down"
            let power = isOnline ? driver.valueW : 0
            switch driver.duty {
            case .meter: sum.gridW = power
            case .solar: sum.pvW += power
            case .battery:
                sum.batteryW += power
                if isOnline { sum.batterySoc = driver.soc }
            case .charger: sum.evW = (sum.evW ?? 0) + power
            case .extra: break
            }
        }
        return sum
    }
}
