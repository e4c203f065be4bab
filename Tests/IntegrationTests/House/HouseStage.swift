import Ambient
import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import BoxSession
@testable import BoxSimulator

/// A session and a simulated box over a relay without sockets, on one clock.
///
/// Real Noise and real frames; time moves only by ``pass(_:)``.
final class HouseStage: Sendable {
    let time: ManualTime
    let relay: InMemoryRelay
    let house: SimulatedHouse
    let box: SimulatedBox
    let memory: KeptMemory
    private let plan: Plan
    /// The bridge's part: a run of it, which ``restartBridge()`` ends and begins anew.
    private let bridge: Mutex<(session: BoxSession, running: Task<Void, Never>?)>
    private let lines = Lines()

    /// What the session wrote in its log.
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
        func add(_ line: String) { all.withLock { $0.append(line) } }
    }

    /// What would be on disk.
    final class KeptMemory: SessionMemory {
        private let values = Mutex<[String: JSONValue]>([:])
        private let writes = Mutex(0)
        var saves: Int { writes.withLock { $0 } }
        func load(_ name: String) -> JSONValue? { values.withLock { $0[name] } }
        @discardableResult func save(_ name: String, _ value: JSONValue) -> Bool {
            values.withLock { $0[name] = value }
            writes.withLock { $0 += 1 }
            return true
        }
    }

    struct Plan {
        var vintage = BoxVintage.soc
        /// Monday 30 November 2026, 08:16:40 in the house: 800 s before a quarter turns.
        var wall = Date(timeIntervalSince1970: 1_796_023_000)
        var situation: CarSituation? = .noGoal
        var house = SimulatedHouseSettings()
        var readInterval = Duration.seconds(60)
        var zoneName: String?
        var zone = Zone.utc
        var memory = KeptMemory()
        /// Sources that are offline from the start.
        var offline: [String] = []
        /// What this bridge may do.
        var role = BoxRole.owner
        /// The owner lets the bridge confirm a goal by itself.
        var consent = false
    }

    private init(_ plan: Plan) throws {
        time = ManualTime(wall: plan.wall)
        memory = plan.memory
        let ambient = Ambient(time: time, chance: { 0.5 })
        relay = InMemoryRelay(ambient: ambient)
        house = SimulatedHouse(settings: plan.house, clock: HouseClock(following: time))
        var boxSettings = try SimulatedBoxSettings(seed: 7)
        boxSettings.vintage = plan.vintage
        boxSettings.zoneName = plan.zoneName
        box = SimulatedBox(
            settings: boxSettings, house: house, carrier: relay.carrier(room: "home", end: .box),
            ambient: ambient)
        self.plan = plan
        let session = try Self.session(
            plan, boxKey: boxSettings.identity.publicKey, relay: relay, time: time, lines: lines)
        bridge = Mutex((session: session, running: nil))
    }

    private static func session(
        _ plan: Plan, boxKey: [UInt8], relay: InMemoryRelay, time: ManualTime, lines: Lines
    ) throws -> BoxSession {
        var settings = BoxSessionSettings(
            identity: try X25519KeyPair(secret: Array(repeating: 1, count: 31) + [9]),
            boxKey: boxKey, build: "test")
        settings.readInterval = plan.readInterval
        settings.zone = plan.zone
        settings.memory = plan.memory
        settings.goalConsent = plan.consent
        let carrier = relay.carrier(room: "home", end: .app)
        return BoxSession(
            settings: settings, carrier: carrier,
            ambient: Ambient(
                time: time, log: Log(threshold: .debug) { [lines] _, line in lines.add(line) },
                chance: { 0.5 }))
    }

    var session: BoxSession { bridge.withLock { $0.session } }

    private func start() {
        // Ended by `stop()`.
        bridge.withLock { bridge in
            bridge.running = Task { [session = bridge.session] in await session.run() }
        }
    }

    private func stop() async {
        let running = bridge.withLock { $0.running.take() }
        running?.cancel()
        await running?.value
    }

    /// Another run of the bridge: the same key and the same disk, nothing else of before.
    func restartBridge() async throws {
        await stop()
        let boxKey = box.settings.identity.publicKey
        let next = try Self.session(plan, boxKey: boxKey, relay: relay, time: time, lines: lines)
        bridge.withLock { $0.session = next }
        start()
    }

    /// The key under which the box knows us.
    static var ourKey: [UInt8] {
        get throws { try X25519KeyPair(secret: Array(repeating: 1, count: 31) + [9]).publicKey }
    }

    /// Runs a house with a live session and ends both afterwards.
    static func run(_ plan: Plan = Plan(), _ body: (HouseStage) async throws -> Void) async throws {
        let stage = try HouseStage(plan)
        if let situation = plan.situation { await stage.box.setCar(situation) }
        for name in plan.offline { await stage.box.setSource(name, .offline) }
        await stage.box.enrol(
            clientKey: try ourKey, role: plan.role)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await stage.box.run() }
            stage.start()
            do {
                let isLive = await stage.goLive()
                #expect(isLive)
                try await body(stage)
            } catch {
                await stage.stop()
                throw error
            }
            await stage.stop()
            group.cancelAll()
        }
    }

    // MARK: Time

    /// Lets time pass second by second; after each everything has settled.
    func pass(_ seconds: Int) async {
        for _ in 0..<seconds {
            time.advance(by: .seconds(1))
            await settle()
        }
    }

    /// The newest frame is of now, and nothing is under way.
    func settle() async {
        // The box's own loop may miss a beat when it is slower than the clock is moved.
        await box.beat()
        let wall = time.wall
        let isSettled = await eventually { await self.session.isSettled(at: wall) }
        #expect(isSettled, "the box or the session is stuck")
    }

    /// Asks for the chargers and waits for what comes of it.
    func refresh() async {
        await session.refreshCars()
        await settle()
    }

    /// Until live frames arrive and the first answers are in.
    func goLive() async -> Bool {
        for _ in 0..<60 {
            let isUp = await eventually(turns: 2_000) { await self.session.link.link.isUp }
            if isUp {
                await settle()
                await pass(2)
                return await session.siteNow().link.isUp
            }
            time.advance(by: .seconds(1))
        }
        return false
    }

    /// Cuts the session and lets that many seconds pass before the box is back.
    func loseBox(for seconds: Int) async {
        relay.setBoxPresent(false)
        for _ in 0..<seconds {
            time.advance(by: .seconds(1))
            await everybodysTurn()
        }
        relay.setBoxPresent(true)
    }

    // MARK: What is seen

    var site: SiteState { get async { await session.siteNow() } }

    var cars: [CarState] { get async { await session.siteNow().cars ?? [] } }

    func car(_ id: String = "garage") async -> CarState? {
        await cars.first { $0.loadpoint.id == id }
    }

    /// The paths of our questions, in order, without those about the end of a hold.
    var asked: [String] {
        get async { await box.requestLog.requests.map(\.path).filter { !$0.hasSuffix("/manual_hold") } }
    }

    /// The reasons the session gave, in order, since the last look.
    func reasons() -> [String] {
        lines.all.withLock { lines in
            defer { lines = [] }
            return lines.filter { $0.hasPrefix("asking for") }
        }
    }

    static let chargers = "/api/loadpoints"
    static let plan = "/api/mpc/plan"
}

extension BoxSession {
    /// A frame of that moment was taken, and no question of ours about the house is under way.
    func isSettled(at wall: Date) -> Bool {
        guard let frameAt = link.link.lastFrameAt, frameAt >= wall else { return false }
        return !house.book.isUnderWay(.chargers) && !house.book.isUnderWay(.plan)
    }

    /// How long until a question is given up or asked again.
    var pauseOfQuestions: Duration? { table.nextDeadline.map { $0 - now } }
}

/// Lets other tasks run until a condition holds; gives up after many turns.
///
/// On a busy machine a task that had its turn may not have had a core. As long as
/// another thread of this process waits for one, nothing is given up.
func eventually(turns: Int = 100_000, _ condition: () async -> Bool) async -> Bool {
    for _ in 0..<max(1, 200_000 / turns) {
        for _ in 0..<turns {
            if await condition() { return true }
            await Task.yield()
        }
        if !OtherThreads.isAnyRunning { return await condition() }
    }
    return false
}

/// Lets everybody else come to rest, whose turn it is now.
func everybodysTurn() async { _ = await eventually(turns: 200) { false } }

/// The threads of this process, as the system sees them (proc(5), `/proc/pid/task`).
private enum OtherThreads {
    /// Another thread runs, or would if there were a core for it.
    static var isAnyRunning: Bool {
        let folder = "/proc/self/task"
        let own = stat("/proc/thread-self/stat").map(\.id)
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return all.contains { name in
            guard let thread = stat("\(folder)/\(name)/stat"), thread.id != own else { return false }
            return thread.state == "R"
        }
    }

    /// `1234 (name) R …`; the name may hold anything.
    private static func stat(_ path: String) -> (id: Substring, state: Substring)? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        guard let end = text.lastIndex(of: ")"), let id = text.split(separator: " ").first,
            let state = text[text.index(after: end)...].split(separator: " ").first
        else { return nil }
        return (id, state)
    }
}
