import Ambient
import BoxLink
import BoxSimulator
import FoundationEssentials
import Glibc
import JSONText
import Persistence
import Synchronization

/// One household whose bridge is a process that is killed again and again: a box with
/// two cars that stand still, a state folder, and somebody who listens.
final class KilledHouse: Sendable {
    /// One command of the test, and what is known of it.
    struct Asked: Sendable {
        var id: String
        /// Below the base: `car/garage/control/set`.
        var path: String
        var document: JSONValue
        /// Where to find what the box carried out.
        var trace: Trace
        /// How much of the box's log is older.
        var commandsBefore: Int
    }
    enum Trace: Sendable, Equatable {
        case command(op: String, arg: String, value: Double, loadpoint: String)
        case mode(String)
        /// A schedule that was written, with that minute of the day.
        case schedule(loadpoint: String, minute: Int)
    }

    static let loadpoints = ["garage", "carport"]
    let number: Int
    let box: SimulatedBox
    let watch: ResultWatch
    let program: Program
    private let world: Task<Void, Never>
    private let trap: Trap
    private let life = Mutex<Program.Run?>(nil)

    /// Kills a process at a message to the box, before the box does anything about it.
    private final class Trap: Sendable {
        private let armed = Mutex<(pid: pid_t, type: String, count: Int)?>(nil)

        func arm(_ pid: pid_t, _ type: String, _ count: Int) { armed.withLock { $0 = (pid, type, count) } }
        func disarm() { armed.withLock { $0 = nil } }
        var isArmed: Bool { armed.withLock { $0 != nil } }

        func heard(_ type: String) {
            armed.withLock { armed in
                guard let trap = armed, trap.type == type else { return }
                if trap.count <= 1 {
                    if trap.pid > 0 { kill(trap.pid, SIGKILL) }
                    armed = nil
                } else {
                    armed?.count -= 1
                }
            }
        }
    }

    init(_ number: Int, broker: TestBroker, relay: RelayServer, loop: WebSocketLoop) async throws {
        self.number = number
        let trap = Trap()
        self.trap = trap
        var keys = try SimulatedBoxSettings()
        keys.vintage = .late
        keys.onMessage = { trap.heard($0) }
        var settings = SimulatedHouseSettings()
        settings.chargers = Self.loadpoints.map { .init(id: $0, driver: "\($0)-charger") }
        // A summer's noon that does not pass.
        let clock = HouseClock(
            time: SystemTime(), startingAt: Date(timeIntervalSince1970: 1_781_517_600), factor: 1e-9)
        let ambient = Ambient(chance: { 0.1 })
        box = SimulatedBox(
            settings: keys, house: SimulatedHouse(settings: settings, clock: clock),
            carrier: RelayCarrier(
                settings: RelaySettings(
                    url: try WebSocketURL(parsing: "ws://127.0.0.1:\(relay.port)"),
                    secret: keys.rendezvousSecret, end: .box), loop: loop, ambient: ambient),
            ambient: ambient)
        for id in Self.loadpoints { await box.setCar(.assumed, loadpoint: id) }
        let identity = try X25519KeyPair()
        await box.enrol(clientKey: identity.publicKey)
        program = Program(try TestFolder())
        let base = "kill\(number)"
        try program.configure(
            broker: broker.port, relay: relay.port, more: "  base_topic: \(base)\n  discovery: false\n")
        let folder = try StateFolder.open(program.stateFolder, for: .visit)
        try PairingStore(folder).save(
            PairingRecord(
                site: "home", privateKey: identity.exportSecret(), boxKey: keys.identity.publicKey,
                rendezvousSecret: keys.rendezvousSecret.exported(), code: nil, label: "Home",
                pairedAt: ambient.time.wall, deviceID: BoxNames.deviceID(clientKey: identity.publicKey)))
        watch = ResultWatch(broker.settings(clientID: "watch-\(number)"), base: "\(base)/home")
        // Ended by `close()`.
        world = Task { [box] in await box.run() }
        guard await watch.wait({ $0.connections > 0 }) else { throw TestSetupError("no broker") }
    }

    func close() async {
        trap.disarm()
        try? await end(SIGKILL)
        world.cancel()
        await world.value
        await watch.close()
    }

    // MARK: Lives of the bridge

    var pid: pid_t { life.withLock { $0?.child.pid ?? 0 } }
    /// What the bridge of this life said so far.
    var output: String { life.withLock { $0?.output ?? "" } }

    /// Starts the bridge; returns once the box answers it.
    func start() async throws {
        let before = watch.heard
        let run = try program.start(["run"])
        life.withLock { $0 = run }
        let isThere = await watch.wait { heard in
            heard.births > before.births
                && Self.loadpoints.map { "car/\($0)/state" }.allSatisfy {
                    heard.carBirths[$0, default: 0] > before.carBirths[$0, default: 0]
                }
        }
        guard isThere else {
            throw TestSetupError("house \(number): no box and cars in this life\n\(run.output.suffix(3_000))")
        }
    }

    /// Ends the bridge, most often as nobody should.
    func end(_ signal: Int32) async throws {
        guard let run = life.withLock({ $0.take() }) else { return }
        run.child.signal(signal)
        let code = try await run.child.ended()
        guard code == (signal == SIGKILL ? -SIGKILL : 0) else {
            throw TestSetupError(
                "house \(number): the bridge ended with \(code)\n\(run.output.suffix(3_000))")
        }
    }

    /// Waits until the trap went off.
    func awaitTrap(within limit: Duration) async {
        let deadline = ContinuousClock.now + limit
        while trap.isArmed, ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(5)) }
        trap.disarm()
    }

    /// - Parameter kills: Whether the bridge dies of it, or the test is only to know.
    func arm(_ type: String, count: Int, kills: Bool) { trap.arm(kills ? pid : 0, type, count) }

    // MARK: Commands

    /// Writes a command's topic.
    func ask(_ asked: Asked) { watch.publish(asked.path, asked.document) }

    /// How often the box carried that command out.
    func executions(_ asked: Asked) async -> Int {
        let log = await box.requestLog
        let executed = Set(log.executed)
        switch asked.trace {
        case .schedule(let loadpoint, let minute):
            return log.requests.count {
                $0.method == "PUT" && $0.path == "/api/loadpoints/\(loadpoint)/schedule" && $0.status == 200
                    && $0.body.flatMap { try? JSONValue(parsing: $0) }?["time_of_day_min"]?.intValue
                        == Int64(minute)
            }
        case .mode(let key):
            return log.commands.dropFirst(asked.commandsBefore).count {
                executed.contains($0.id) && $0.outcome != "repeated" && $0.op == "site.mode.set"
                    && $0.args["mode"]?.textValue == key
            }
        case .command(let op, let arg, let value, let loadpoint):
            return log.commands.dropFirst(asked.commandsBefore).count {
                executed.contains($0.id) && $0.outcome != "repeated" && $0.op == op
                    && $0.args["id"]?.textValue == loadpoint && $0.args[arg]?.doubleValue == value
            }
        }
    }
}
