import BoxSimulator
import EnergyModel
import FoundationEssentials
import MQTTTypes
import TestSupport
import Testing

@testable import Bridge

/// Every example that the documentation gives is a command, and ends at the box.
@Suite(.serialized) struct DocumentedCommandTests {
    struct Example: Hashable {
        /// Below the site.
        var path: String
        var payload: String
    }

    /// Words in code type that name a member, and are no payload.
    private static let members: Set = [
        "power", "until", "minutes", "min_battery", "level", "by", "days", "once", "mode",
    ]

    /// Each member that the pages name, in a payload.
    private static let written = [
        Example(path: "car/garage/level/set", payload: #"{"id":"my-1","value":62,"expires_s":30}"#),
        Example(path: "car/garage/control/set", payload: #"{"value":"charge_now","power":7000}"#),
        Example(path: "car/garage/control/set", payload: #"{"value":"charge_now","power":"7.4 kW"}"#),
        Example(path: "car/garage/control/set", payload: #"{"value":"charge_now","minutes":20}"#),
        Example(path: "car/garage/control/set", payload: #"{"value":"charge_now","until":"23:00"}"#),
        Example(path: "car/garage/control/set", payload: #"{"value":"plan","from":"kitchen"}"#),
        Example(path: "car/garage/goal/set", payload: #"{"level":80,"by":"07:00","days":["mon","tue"]}"#),
        Example(path: "car/garage/goal/set", payload: #"{"level":70}"#),
        Example(path: "car/garage/goal/set", payload: #"{"by":"06:30"}"#),
        Example(path: "car/garage/goal/set", payload: #"{"days":"weekdays"}"#),
        Example(path: "car/garage/goal/set", payload: #"{"once":true}"#),
        Example(path: "car/garage/boost/set", payload: #"{"minutes":30,"min_battery":20}"#),
        Example(path: "car/garage/boost/set", payload: "90"),
        Example(path: "mode/set", payload: "idle"),
    ]

    private static func file(_ name: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return String(decoding: try Data(contentsOf: root.appending(path: name)), as: UTF8.self)
    }

    /// What stands between backticks.
    private static func code(_ cell: Substring) -> [String] {
        let parts = cell.split(separator: "`", omittingEmptySubsequences: false)
        return stride(from: 1, to: parts.count, by: 2).map { String(parts[$0]) }
    }

    /// The rows of tables whose first cell names command topics, with the payloads of the second.
    private static func examples(in text: String) -> [Example] {
        text.split(separator: "\n").flatMap { line -> [Example] in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count > 2 else { return [] }
            let topics = code(cells[1]).map { topic in
                topic.replacing("<id>", with: "garage").replacing("…", with: "car/garage")
            }
            guard let first = topics.first, first.hasSuffix("/set") || first.hasSuffix("/adjust"),
                !first.hasPrefix("car/garage/car/garage")
            else { return [] }
            let payloads = code(cells[2]).filter { !members.contains($0) }
            return topics.flatMap { topic in payloads.map { Example(path: topic, payload: $0) } }
        }
    }

    private static func all() throws -> [Example] {
        var found = written
        for name in ["README.md", "config/topics.en.md", "config/topics.sv.md"] {
            let here = examples(in: try file(name))
            #expect(here.count >= 10, "\(name)")
            found += here
        }
        var seen: Set<Example> = []
        return found.filter { seen.insert($0).inserted }
    }

    @Test func everyExampleEndsAtTheBox() async throws {
        let examples = try Self.all()
        #expect(examples.count >= 25)
        var plan = HouseStage.Plan()
        plan.vintage = .late
        // A car that says its level itself would be believed rather than the examples.
        plan.situation = .estimated(0.5)
        plan.zoneName = "Europe/Stockholm"
        try await HouseStage.run(plan) { stage in
            var done = 0
            var number = 0
            for example in examples {
                number += 1
                let site = await stage.site
                let parser = CommandParser(
                    household: HouseholdZone(boxZone: "Europe/Stockholm", configured: .utc),
                    isReadOnly: false,
                    open: Set(CommandName.allCases), site: site)
                let message = Message("ftw/home/\(example.path)", example.payload)
                let topic = try #require(CommandTopic(path: example.path), "\(example)")
                let parsed = parser.parse(
                    message, topic: topic, ownID: "d\(number)",
                    now: Moment(monotonic: stage.time.monotonic, wall: stage.time.wall))
                guard case .command(let command) = parsed else {
                    // A row that names two topics gives each its own examples.
                    #expect(
                        topic.name == .level && topic.verb == .set
                            && ["+", "-"].contains(example.payload.prefix(1)),
                        "\(example) \(parsed)")
                    continue
                }
                let ends = await stage.carryOut(BoxOrder(command), patience: 50_000).filter {
                    $0 != .acknowledged
                }
                switch ends.first {
                case .ended(.applied): done += 1
                // The house battery is not asked to help a car that is held or has enough.
                case .ended(.refused(let reason)): #expect(reason.boxCode != nil, "\(example) \(reason)")
                default: Issue.record("\(example) ended \(ends)")
                }
                await stage.pass(1)
            }
            print("\(examples.count) documented examples, \(done) done at the box")
            #expect(done * 10 >= examples.count * 7)
        }
    }
}
