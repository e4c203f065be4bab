import BoxSimulator
import EnergyModel
import FoundationEssentials
import Glibc
import JSONText
import TestSupport

/// One house's lives: commands, a death at a seeded moment, a life after it, and the look
/// at what became of the commands.
struct KillTrial {
    /// When the bridge dies.
    enum Moment: Sendable {
        /// So long after the command was handed to the broker: before, while and after it is noted.
        case published(afterMs: Int)
        /// At that stage on `result`, or so long after it.
        case stage(String, afterMs: Int)
        /// At the so-manieth message of that type to the box, before it does anything about it.
        case message(String, count: Int)

        var name: String {
            switch self {
            case .published: "published"
            case .stage(let stage, _): stage
            case .message(let type, _): type
            }
        }
    }

    let house: KilledHouse
    let tally: KillTally
    private var dice: SeededDice
    private var serial = 0
    private var open: [KilledHouse.Asked] = []
    private var missesEnds = false

    init(house: KilledHouse, tally: KillTally, seed: UInt64) {
        self.house = house
        self.tally = tally
        dice = SeededDice(seed)
    }

    private mutating func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &dice) }

    /// One life: settles what the last one left, then asks for more and dies of it.
    mutating func live() async throws {
        let house = house
        try await live(nil) { try await house.end(SIGKILL) }
    }

    /// - Parameters:
    ///   - victim: What the blow hits, for the count; `nil` counts by the moment.
    ///   - blow: What happens at the moment.
    mutating func live(_ victim: String?, _ blow: () async throws -> Void) async throws {
        if house.pid == 0 { try await house.start() }
        await settleLast()
        let before = house.watch.heard
        let (moment, fate) = plan()
        if let fate { await house.box.setCommandFates(Array(repeating: fate, count: 8)) }
        await house.box.setAnswerDelay(beats: random(0...4) == 0 ? 1 : 0)
        open = await commands()
        let open = open
        if case .message(let type, let count) = moment { house.arm(type, count: count, kills: victim == nil) }
        for asked in open { house.ask(asked) }
        switch moment {
        case .published(let ms): try await Task.sleep(for: .milliseconds(ms))
        case .stage(let stage, let ms):
            _ = await house.watch.wait(within: .milliseconds(2_500)) { heard in
                open.contains { asked in
                    stage == "end" ? !heard.ends(asked.id).isEmpty : heard.has(asked.id, stage)
                }
            }
            try await Task.sleep(for: .milliseconds(ms))
        case .message: await house.awaitTrap(within: .milliseconds(2_500))
        }
        try await blow()
        await house.box.setCommandFates([])
        await house.box.setAnswerDelay(beats: 0)
        if victim == "broker" {
            let isBack = await house.watch.wait { heard in
                heard.connections > before.connections && heard.isBoxThere
            }
            let heard = house.watch.heard
            if !isBack {
                fault(
                    "no bridge at the new broker (connections \(before.connections), \(heard.connections), box "
                        + "\(heard.isBoxThere)): \(house.watch.lines.texts.suffix(6)), \(house.output.suffix(900))"
                )
            }
        }
        // Who listens is away as well then, and may come back after the end was told.
        missesEnds = victim == "broker"
        tally.add {
            $0.kills += 1
            $0.moments[victim ?? moment.name, default: 0] += 1
            $0.asked += open.count
        }
    }

    /// A life that ends in order, with nothing left open.
    mutating func lastLife() async throws {
        if house.pid == 0 { try await house.start() }
        await settleLast()
        try await house.end(SIGTERM)
    }

    // MARK: What is asked

    private mutating func plan() -> (Moment, CommandFate?) {
        switch random(0...9) {
        case 0, 1: (.published(afterMs: random(0...40)), nil)
        case 2: (.stage("received", afterMs: random(0...6)), random(0...1) == 0 ? .resultLate(beats: 3) : nil)
        case 3: (.message("api.req", count: random(1...3)), nil)
        case 4, 5: (.message("cmd", count: random(1...2)), [nil, .lost, .answersLost][random(0...2)])
        case 6: (.stage("accepted", afterMs: random(0...6)), .resultLate(beats: 3))
        case 7: (.stage("accepted", afterMs: random(0...6)), [.resultLost, .unconfirmed][random(0...1)])
        case 8:
            (
                .stage("end", afterMs: random(0...4)),
                [.refused("E_UNAVAILABLE"), .refusedAtExecution("E_UNAVAILABLE"), .overtaken(by: 0)][
                    random(0...2)]
            )
        default:
            (
                .stage("end", afterMs: random(0...4)),
                [nil, .receiptLost, .refused("E_PRECONDITION")][random(0...2)]
            )
        }
    }

    /// Up to one for each car and one for the house, each asking for something that nobody asked for before.
    private mutating func commands() async -> [KilledHouse.Asked] {
        let truth = await house.box.truth()
        let log = await house.box.requestLog
        var list: [KilledHouse.Asked] = []
        func add(_ path: String, _ members: [String: JSONValue], _ trace: KilledHouse.Trace) {
            serial += 1
            let id = "h\(house.number)-\(serial)"
            var members = members
            members["id"] = .string(id)
            list.append(
                KilledHouse.Asked(
                    id: id, path: path, document: .object(members), trace: trace,
                    commandsBefore: log.commands.count))
        }
        for (index, loadpoint) in KilledHouse.loadpoints.enumerated() where index == 0 || random(0...1) == 0 {
            switch random(0...3) {
            case 0, 1:
                let watts = 4_200 + serial * 5
                add(
                    "car/\(loadpoint)/control/set", ["value": "charge_now", "power": .int(Int64(watts))],
                    .command(op: "loadpoint.hold", arg: "power_w", value: Double(watts), loadpoint: loadpoint)
                )
            case 2:
                let soc = truth["cars"]?[index]?["soc"]?.doubleValue ?? 0
                // One percent more, too: what was there before is not what was asked.
                let rounded = Int((soc * 100).rounded())
                let percent =
                    random(0...2) == 0 ? min(rounded + 1, 100) : (rounded + random(5...90)) % 96 + 2
                guard abs(Double(percent) / 100 - soc) > 0.007 else { continue }
                add(
                    "car/\(loadpoint)/level/set", ["value": .int(Int64(percent))],
                    .command(
                        op: "loadpoint.soc.set", arg: "soc", value: Double(percent) / 100,
                        loadpoint: loadpoint))
            default:
                // Not the goal that every house starts with: read back, that one is there unasked.
                let next = serial * 7 % 1_440
                let minute = next == 420 ? 1_439 : next
                let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
                add(
                    "car/\(loadpoint)/goal/set",
                    ["level": 80, "by": .string("\(two(minute / 60)):\(two(minute % 60))")],
                    .schedule(loadpoint: loadpoint, minute: minute))
            }
        }
        if random(0...2) == 0 {
            let keys = truth["modes"]?.arrayValue?.compactMap(\.stringValue) ?? []
            let others = keys.filter { $0 != truth["mode"]?.stringValue }
            if !others.isEmpty {
                let key = others[random(0...others.count - 1)]
                add("mode/set", ["value": .string(key)], .mode(key))
            }
        }
        return list
    }

    // MARK: What became of it

    private func settleLast() async {
        guard !open.isEmpty else { return }
        let watch = house.watch
        // What the bridge told of, and what the box did, was noted before: it ends unasked.
        var unnoted: [KilledHouse.Asked] = []
        for asked in open {
            let executions = await house.executions(asked)
            let isNoted = executions > 0 || watch.heard.results[asked.id] != nil
            if !isNoted || missesEnds { unnoted.append(asked) }
        }
        for asked in unnoted { house.ask(asked) }
        let ids = open.map(\.id)
        guard await watch.wait({ heard in ids.allSatisfy { !heard.ends($0).isEmpty } }) else {
            let left = ids.filter { watch.heard.ends($0).isEmpty }
            return fault("no end for \(left): \(left.map { (watch.heard.results[$0] ?? []).map(\.text) })")
        }
        // And once more: the same answer, and nothing happens.
        let before = watch.heard
        for asked in open { house.ask(asked) }
        let isAnswered = await watch.wait { heard in
            ids.allSatisfy { heard.ends($0).count > before.ends($0).count }
        }
        if !isAnswered { fault("asked again and not answered: \(ids)") }
        let (heard, open) = (watch.heard, open)
        var counts = (executed: 0, ends: [String: Int]())
        for asked in open {
            let executions = await house.executions(asked)
            counts.executed += executions
            let stage = judge(asked, heard, executions)
            counts.ends[stage, default: 0] += 1
        }
        let unnotedCount = unnoted.count
        tally.add {
            $0.executed += counts.executed
            $0.unnoted += unnotedCount
            $0.ends.merge(counts.ends, uniquingKeysWith: +)
        }
    }

    private func judge(_ asked: KilledHouse.Asked, _ heard: ResultWatch.Heard, _ executions: Int) -> String {
        let ends = heard.ends(asked.id)
        guard let first = ends.first, let stage = first["stage"]?.stringValue else { return "none" }
        if Set(ends.map(Self.essence)).count > 1 {
            fault("\(asked.id) ended in several ways: \(ends.map(\.text))")
        }
        if executions > 1 { fault("\(asked.id) was carried out \(executions) times: \(first.text)") }
        switch stage {
        case "done":
            if executions == 0 { fault("\(asked.id) is done and was not carried out: \(first.text)") }
        case "refused", "not_delivered", "expired":
            if executions > 0 { fault("\(asked.id) is \(stage) and was carried out: \(first.text)") }
        case "unconfirmed", "superseded": break
        default: fault("\(asked.id) ended \(stage)")
        }
        if asked.path.hasPrefix("car/") {
            let place = asked.path.split(separator: "/").prefix(2).joined(separator: "/") + "/last_command"
            let last = heard.lastCommands[place]
            if last?["id"]?.stringValue == asked.id, last?["stage"]?.stringValue != stage {
                fault("\(place) tells of \(asked.id) otherwise: \(last?.text ?? ""), \(first)")
            }
        }
        return stage
    }

    /// What has to be the same in every answer. A bridge that has just started may not know the
    /// household's zone yet and write the same moment otherwise.
    private static func essence(_ end: JSONValue) -> String {
        var members = end.objectValue ?? [:]
        // Told again, it says so, and is the same end.
        members["repeated"] = nil
        let at = members["at"]?.stringValue.flatMap(instant(rfc3339:))
        members["at"] = at.map { .double($0.timeIntervalSince1970) }
        return JSONValue.object(members).text
    }

    private func fault(_ text: String) {
        tally.fault("house \(house.number), life \(tally.count.kills): \(text)")
    }
}
