import EnergyModel
import FoundationEssentials
import JSONText
import TestSupport
import Testing

@testable import Bridge

/// Random schedules of everything that can go wrong, against the promises.
@Suite struct CommandModelTests {
    private static let schedules = 10_000
    private static let chunks = 20

    /// What came of some schedules.
    private struct Tally: Sendable {
        var stages: [Stage: Int] = [:]
        var commands = 0
        var executed = 0
        var sends = 0
        var deaths = 0
        var retained = 0
        var lost = 0
        var heard = 0
        var faults: [String] = []

        mutating func add(_ world: ModelWorld, seed: UInt64) {
            faults += CommandModelTests.faults(world, seed: seed)
            for id in world.sent.keys {
                guard let end = world.heard[id]?.last(where: { $0.stage.isFinal }) else {
                    lost += 1
                    continue
                }
                stages[end.stage, default: 0] += 1
            }
            commands += world.sent.count
            executed += world.executions.count
            sends += world.sends
            deaths += world.run - 1
            retained += world.retainedIDs.count
            heard += world.heard.values.reduce(0) { $0 + $1.count }
        }

        mutating func add(_ other: Tally) {
            stages.merge(other.stages, uniquingKeysWith: +)
            commands += other.commands
            executed += other.executed
            sends += other.sends
            deaths += other.deaths
            retained += other.retained
            lost += other.lost
            heard += other.heard
            faults += other.faults
        }
    }

    @Test func everyCommandHasOneEndAndIsCarriedOutAtMostOnce() async {
        let totals = await withTaskGroup(of: Tally.self) { group in
            for chunk in 0..<Self.chunks {
                group.addTask {
                    var tally = Tally()
                    let size = Self.schedules / Self.chunks
                    for seed in UInt64(chunk * size)..<UInt64((chunk + 1) * size) {
                        tally.add(Self.play(seed: seed), seed: seed)
                        if tally.faults.count > 20 { break }
                    }
                    return tally
                }
            }
            return await group.reduce(into: Tally()) { $0.add($1) }
        }
        #expect(totals.faults.isEmpty, "\(totals.faults.prefix(20).joined(separator: "\n"))")
        for stage in Stage.allCases where stage.isFinal { #expect(totals.stages[stage] ?? 0 > 0, "\(stage)") }
        let ends = Stage.allCases.filter(\.isFinal).map { "\($0.rawValue) \(totals.stages[$0] ?? 0)" }
        print(
            """
            \(Self.schedules) schedules: \(totals.commands) commands, \(totals.sends) sends, \
            \(totals.executed) carried out, \(totals.retained) retained, \(totals.deaths) restarts, \
            \(totals.lost) lost before they were noted, \(totals.heard) reports heard; \
            \(ends.joined(separator: ", "))
            """)
    }

    private static func play(seed: UInt64) -> ModelWorld {
        var world = ModelWorld(seed: seed)
        func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &world.dice) }
        var at = 0
        var events: [(Int, ModelWorld.Event)] = [(random(0...2_000), .linkUp)]
        let count = random(3...25)
        for number in 0..<count {
            at += random(0...9) < 6 ? random(0...300) : random(0...12_000)
            let lane: String? = ["a", "b", nil][random(0...2)]
            let intent: Intent =
                switch random(0...5) {
                case 0: .level(.exactly(Double(random(0...100)) / 100))
                case 1: .level(.step(0.05))
                case 2: .level(.step(-0.05))
                case 3: .control(.chargeNow(powerW: Double(random(1_000...9_000)), until: nil))
                case 4: .control(.pause)
                default:
                    .goal(
                        .change(
                            soc: Double(random(1...100)) / 100, minuteOfDay: 420, days: nil, isRecurring: nil)
                    )
                }
            let command = Command(
                id: "c\(number)", topic: "t", loadpoint: lane,
                intent: lane == nil ? .mode("m\(random(0...2))") : intent, requested: .int(Int64(number)),
                deadline: .milliseconds(random(100...30_000)))
            events.append((at, .command(command)))
            if random(0...99) < 20 {
                events.append((at + random(0...20_000), .again("c\(random(0...number))")))
            }
            if random(0...99) < 5 { events.append((at, .retained("r\(number)"))) }
            if random(0...99) < 10 {
                events.append((at + random(0...3_000), .linkDown))
                events.append((at + random(3_000...25_000), .linkUp))
            }
            if random(0...99) < 5 {
                events.append((at + random(0...2_000), .brokerDown))
                events.append((at + random(2_000...20_000), .brokerUp))
            }
            if random(0...99) < 4 { events.append((at + random(0...4_000), .bridgeDies)) }
            if random(0...99) < 3 { events.append((at + random(0...4_000), .boxRestarts)) }
            if random(0...99) < 4 { events.append((at + random(0...4_000), .foreignChange(lane: "a"))) }
        }
        for (moment, event) in events { world.plan(event, in: .milliseconds(moment)) }
        world.pass(until: .milliseconds(at + 60_000))
        world.plan(.brokerUp, in: .zero)
        world.plan(.linkUp, in: .zero)
        world.pass(until: world.now.monotonic + .seconds(200))
        // A bridge that starts once more has nothing left to settle and changes no end.
        let before = world.heard.mapValues { $0.last { $0.stage.isFinal } }
        world.handle(.bridgeDies)
        world.pass(until: world.now.monotonic + .seconds(100))
        for (id, end) in before where world.heard[id]?.last(where: { $0.stage.isFinal }) != end {
            world.heard[id]?.append(.init(stage: .received))
        }
        return world
    }

    fileprivate static func faults(_ world: ModelWorld, seed: UInt64) -> [String] {
        var faults: [String] = []
        func check(_ holds: Bool, _ text: @autoclosure () -> String) {
            if !holds { faults.append("seed \(seed): \(text())") }
        }
        for (id, command) in world.sent {
            let told = world.heard[id] ?? []
            let ends = told.filter { $0.stage.isFinal }
            let done = world.executions[id] ?? []
            check(!ends.isEmpty || !world.saved.contains(id), "\(id) has no end: \(told)")
            check(Set(ends.map { "\($0)" }).count <= 1, "\(id) has several ends: \(ends)")
            check(told.drop { !$0.stage.isFinal }.allSatisfy { $0.stage.isFinal }, "\(id) goes on: \(told)")
            check(done.count <= 1, "\(id) was carried out \(done.count) times")
            check(done.isEmpty || world.saved.contains(id), "\(id) was carried out and never noted")
            for run in done {
                check(run.at <= run.order.command.deadline, "\(id) was carried out too late")
            }
            guard let end = ends.first else { continue }
            let isDisturbed = world.disturbed.contains(world.lane(command))
            switch end.stage {
            case .refused, .expired: check(done.isEmpty, "\(id) is \(end) and was carried out")
            case .superseded:
                check(end.value != nil || done.isEmpty, "\(id) is \(end) and was carried out")
            case .notDelivered:
                check(done.isEmpty || isDisturbed, "\(id) is \(end) and was carried out")
            case .done:
                check(
                    done.count == 1 || world.readEqual.contains(id),
                    "\(id) is \(end), and the box neither carried it out nor holds it")
            case .unconfirmed, .received, .accepted: break
            }
        }
        check(world.lateSends.isEmpty, "sent too late: \(world.lateSends)")
        for id in world.retainedIDs {
            check(world.executions[id] == nil, "retained \(id) was carried out")
            let ends = Set((world.heard[id] ?? []).map(\.code))
            check(ends.isEmpty || ends == [.retained], "retained \(id) is \(ends)")
        }
        return faults
    }
}
