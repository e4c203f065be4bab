import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

/// Each control is available exactly while the box would take its command.
@Suite struct ControlAvailabilityTests {
    static let control: Set = ["switch", "control_choice", "charge_now", "pause", "back_to_plan"]
    static let level: Set = ["level_choice", "level_up", "level_down"]
    static let goal: Set = ["goal_choice", "goal_days", "goal_clear", "goal_time"]
    static let all = control.union(level).union(goal).union([
        "surplus_only_choice", "boost_choice", "mode_choice",
    ])
    /// What needs a car at the charger.
    static let wantsCar = control.subtracting(["back_to_plan"]).union(level).union(["boost_choice"])

    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var change: @Sendable (inout SiteState) -> Void
        var unavailable: Set<String>
        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "all is well", change: { _ in }, unavailable: []),
        Row(name: "no link", change: { $0.link.state = .lost }, unavailable: all),
        Row(name: "revoked", change: { $0.link.state = .revoked }, unavailable: all),
        Row(name: "read-only link", change: { $0.link.state = .readonly }, unavailable: all),
        Row(name: "viewer", change: { $0.box?.role = "viewer" }, unavailable: all),
        Row(
            name: "unplugged", change: { $0.cars?[0].loadpoint.pluggedIn = false }, unavailable: wantsCar),
        Row(
            name: "charger silent", change: { $0.cars?[0].isCurrent = false }, unavailable: wantsCar),
        Row(name: "no level", change: { $0.unsupported = [.level] }, unavailable: level),
        Row(name: "no hold", change: { $0.unsupported = [.control] }, unavailable: control),
        Row(name: "no goal", change: { $0.unsupported = [.goal] }, unavailable: goal),
        Row(
            name: "no surplus", change: { $0.unsupported = [.surplusOnly] },
            unavailable: ["surplus_only_choice"]),
        Row(name: "no boost", change: { $0.unsupported = [.boost] }, unavailable: ["boost_choice"]),
        Row(name: "no mode", change: { $0.unsupported = [.mode] }, unavailable: ["mode_choice"]),
        Row(
            name: "base box", change: { $0.unsupported = [.level, .surplusOnly] },
            unavailable: level.union(["surplus_only_choice"])),
    ]

    @Test(arguments: rows)
    func aControlIsThereWhileTheBoxWouldTakeIt(row: Row) throws {
        var bench = Bench()
        bench.see(houseWithCars())
        bench.connect()
        #expect(try unavailable(bench).isEmpty)
        bench.see(houseWithCars().changed(row.change))
        bench.pass(.seconds(1))
        #expect(try unavailable(bench) == row.unavailable)
        // A box that was updated, or is back, takes them again.
        bench.see(houseWithCars())
        bench.pass(.seconds(30))
        #expect(try unavailable(bench).isEmpty)
        bench.feed(.goodbye)
        #expect(try unavailable(bench) == Self.all)
    }

    @Test func whatTheConfigurationClosesIsNotAnnouncedNorOffered() throws {
        var closed = settings()
        closed.commands = [.level]
        var bench = Bench(closed)
        bench.see(houseWithCars())
        bench.connect()
        #expect(Set(try controls(bench).keys) == Self.level)
        #expect(
            bench.json("car/garage/commands") == [
                "level": true, "control": false, "goal": false, "surplus_only": false, "boost": false,
            ])
        #expect(bench.json("commands") == ["mode": false])
    }

    @Test func aBridgeThatIsReadOnlyOffersNothing() throws {
        var closed = settings()
        closed.isReadOnly = true
        var bench = Bench(closed)
        bench.see(houseWithCars())
        bench.connect()
        #expect(try controls(bench).isEmpty)
        #expect(bench.json("car/garage/commands")?.objectValue?.values.allSatisfy { $0 == false } == true)
    }

    // MARK: As Home Assistant reads it

    /// The availability of every control of site and garage, by key.
    private func controls(_ bench: Bench) throws -> [String: [JSONValue]] {
        var found: [String: [JSONValue]] = [:]
        for part in ["", "_car_garage"] {
            let device = bench.discovery("ftw_0123456789abcdef\(part)")
            for (key, component) in device?["components"]?.objectValue ?? [:] {
                guard component["command_topic"] != nil else { continue }
                found[key] = component["availability"]?.arrayValue ?? []
            }
        }
        let time = bench.retained["homeassistant/time/ftw_0123456789abcdef_car_garage_goal_time/config"]
        if let time {
            found["goal_time"] = try JSONValue(parsing: time.payload)["availability"]?.arrayValue ?? []
        }
        return found
    }

    private func unavailable(_ bench: Bench) throws -> Set<String> {
        let controls = try controls(bench)
        #expect(Set(controls.keys) == Self.all)
        return Set(try controls.filter { try !$0.value.allSatisfy { try isOnline($0, bench) } }.keys)
    }

    /// A topic that says `online`, or a document in which every member that the
    /// template names is true. Nothing said is not there.
    private func isOnline(_ entry: JSONValue, _ bench: Bench) throws -> Bool {
        let topic = try #require(entry["topic"]?.stringValue)
        guard let message = bench.retained[topic] else { return false }
        guard let template = entry["value_template"]?.stringValue else { return message.text == "online" }
        let condition = template.replacing("{{ 'online' if ", with: "").replacing(
            " else 'offline' }}", with: "")
        #expect(!condition.contains("{") && !condition.contains("'"), "\(template)")
        let document = try JSONValue(parsing: message.payload)
        let names = condition.split(separator: " and ").map { String($0).replacing("value_json.", with: "") }
        #expect(names.allSatisfy { document.objectValue?.keys.contains($0) == true }, "\(template)")
        return names.allSatisfy { document[$0] == true }
    }
}
