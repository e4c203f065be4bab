import Ambient
public import BoxLink
public import FoundationEssentials
import TextForms

/// What a test or a demonstration has arranged on the box.
struct BoxScriptState: Sendable {
    var boot: (phase: String, pct: Int64)?
    var isMute = false
    var isDeafToHandshakes = false
    var sendsUnknownKeys = false
    var hasNoPrices = false
    /// The next so many API calls meet a taken slot.
    var busyCalls = 0
    /// API answers come after so many beats; 0 is at once.
    var answerBeats = 0
    /// What goes wrong with answers on these paths.
    var faults: [String: AnswerFault] = [:]
    /// Every handler answers with this status and an error.
    var httpStatus: Int?
    /// Every configure call wants a confirmation, whatever the vintage.
    var alwaysStepUp: Bool?
    /// Commands that are accepted and then never settled.
    var swallowsResults = false
    /// Commands that are not even acknowledged.
    var swallowsCommands = false
    /// How the next commands fare, in their order.
    var commandFates: [CommandFate] = []
    var refusedHandshakes = 0
    /// Loadpoints answer with the percent spelling of before 2.2.1 too.
    var usesOldSpelling = false
    /// Modes on top of the vintage's, and ones of it that are gone.
    var addedModes: [BoxMode] = []
    var removedModes: Set<String> = []
}

/// What may go wrong with an answer of the API.
public enum AnswerFault: Sendable, Equatable {
    /// The end says that something was cut off.
    case truncated
    /// Bytes that are no document.
    case garbled
    /// A document of another kind.
    case foreign
    /// The handler answers with that HTTP status.
    case status(Int)
    /// No handler runs.
    case refused
}

/// What becomes of one command, other than what the box would do by itself.
public enum CommandFate: Sendable, Equatable {
    /// It never reaches the box.
    case lost
    /// The box carries it out, and no answer arrives.
    case answersLost
    /// The box carries it out, and the receipt does not arrive.
    case receiptLost
    /// The box carries it out, and the result does not arrive.
    case resultLost
    /// A receipt at once; the box acts and answers that many beats later.
    case slow(beats: Int)
    /// The box carries it out, and the result comes so many beats later; at least one.
    case resultLate(beats: Int)
    /// A receipt, and a read-back that differs.
    case overtaken(by: Double)
    /// A receipt, and nothing to read back.
    case unconfirmed
    /// Refused with that code at execution, after a receipt.
    case refusedAtExecution(String)
    /// Refused with that code at once.
    case refused(String)
}

/// What the box was asked, for tests that count.
public struct BoxLog: Sendable {
    public struct Request: Sendable, Equatable {
        public var at: Date
        public var uptimeMs: Int64
        public var method: String
        public var path: String
        /// As `key=value`, in the order of the keys.
        public var query: [String]
        /// The first characters of the client's public key, as the box lists devices.
        public var client: String
        /// The HTTP status, or `nil` when no handler ran.
        public var status: Int?
        /// The refusal's code when no handler ran.
        public var refusal: String?
        /// What a write brought.
        public var body: [UInt8]?
    }
    public struct Command: Sendable, Equatable {
        public var at: Date
        public var uptimeMs: Int64
        public var id: String
        public var op: String
        public var args: CBORValue
        /// `applied`, `rejected`, …; `repeated` for an id that was there before.
        public var outcome: String
        public var refusal: String?
    }
    /// Older entries make room beyond this many.
    public static let limit = 2_000
    public internal(set) var requests: [Request] = []
    public internal(set) var commands: [Command] = []
    /// Ids of commands that were carried out, in their order.
    public internal(set) var executed: [String] = []
    /// How many messages of each type came in.
    public internal(set) var messages: [String: Int] = [:]
    /// Handshakes that were answered.
    public internal(set) var handshakes = 0
    /// How many requests went to each path, however long ago.
    public internal(set) var counts: [String: Int] = [:]

    /// How many requests went to that path.
    public func count(_ path: String) -> Int { counts[path] ?? 0 }

    mutating func add(_ request: Request) {
        requests.append(request)
        if counts.count < Self.limit || counts[request.path] != nil {
            counts[request.path, default: 0] += 1
        }
        if requests.count > Self.limit { requests.removeFirst() }
    }
    mutating func add(_ command: Command) {
        commands.append(command)
        if commands.count > Self.limit { commands.removeFirst() }
    }
}

/// The controls of a simulated box.
extension SimulatedBox {
    // MARK: Pairing

    /// Mints a code and puts it in a link, as the box's page shows it (FTW wire §9.1).
    ///
    /// The link is a secret until it is used; log neither it nor its parts.
    public func pairingLink(role: BoxRole = .owner) -> String {
        let code = dice.bytes(16)
        enrolment.mint(code, kind: .scanned, role: role, now: ambient.time.monotonic)
        let secret = settings.rendezvousSecret.withBytes { Base64URL.encode($0) }
        let parts = ["v2", Base64URL.encode(settings.identity.publicKey), Base64URL.encode(code), "", secret]
        return "https://app.ftw.energy/p#" + parts.joined(separator: ".")
    }

    /// Mints a code that is read aloud: it only re-admits who already holds key and secret.
    public func spokenCode(role: BoxRole = .owner) -> String {
        let code = dice.bytes(5)
        enrolment.mint(code, kind: .spoken, role: role, now: ambient.time.monotonic)
        let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
        let bits = code.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let letters = (0..<8).map { alphabet[Int(bits >> UInt64(35 - 5 * $0) & 31)] }
        return String(letters[..<4]) + "-" + String(letters[4...])
    }

    /// Lets a client in without a code, as if it had paired long ago.
    public func enrol(clientKey: [UInt8], role: BoxRole = .owner) {
        enrolment.enrol(key: clientKey, role: role, date: house.clock.now)
        clientsChanged()
    }

    /// Takes a client's admission back.
    ///
    /// - Parameter tells: Whether a connected client hears of it now, or at its next privileged request.
    public func revoke(clientKey: [UInt8], tells: Bool = true) {
        enrolment.remove(key: clientKey)
        clientsChanged()
        guard tells else { return }
        for session in sessions where session.clientKey == clientKey { terminate(session) }
    }

    /// Takes everybody's admission back.
    public func revokeAll() { for key in enrolment.devices.keys { revoke(clientKey: key) } }

    /// Changes what a client may do; it is told nothing.
    public func setRole(_ role: BoxRole, clientKey: [UInt8]) {
        enrolment.set(role: role, key: clientKey)
        clientsChanged()
    }

    // MARK: Sources

    /// Changes how one source behaves; a name that is not there changes nothing.
    public func setSource(_ name: String, _ behaviour: SourceBehaviour) { board.set(name, behaviour) }

    /// The site meter's driver goes offline: no dispatch, and energy-moving commands are refused.
    public func loseMeter() { board.set(SourceBoard.meterID, .offline) }
    public func restoreMeter() { board.set(SourceBoard.meterID, .answering) }

    /// The names of all sources, in order.
    public var sourceNames: [String] { board.names }

    /// Adds sources until the table has that many rows. More than about five never
    /// fit a control frame, so every beat carries TRUNC.
    public func setSourceCount(_ count: Int) {
        for name in board.names where name.hasPrefix("string-") { board.remove(name) }
        var number = 1
        while board.names.count < min(count, 40) {
            board.add("string-\(number)", .extra)
            number += 1
        }
    }

    /// Takes the house battery out, its source with it.
    public func removeBattery() {
        board.remove("house-battery")
        house.now { $0.batterySoc = nil }
    }

    /// Takes every charger out, their sources with them.
    public func removeChargers() {
        for charger in house.now({ $0.chargers }) { board.remove(charger.settings.driver) }
        house.now { $0.chargers = [] }
    }

    // MARK: The process

    /// The process ends and starts again: the room sees the box go and come, all
    /// sessions are gone, uptime begins at 0 and the first snapshot is all zeros.
    public func restart() {
        beginRun()
        carrier.redial()
    }

    /// Starts the process again as a box of that vintage, as an update or a replacement does.
    public func restart(as vintage: BoxVintage) {
        setVintage(vintage)
        restart()
    }

    /// Changes the vintage in place; clients see it at their next greeting.
    public func setVintage(_ vintage: BoxVintage) {
        self.vintage = vintage
        let isLate = vintage.isLate
        house.now { $0.readsLocalMinute = isLate }
    }

    /// Says that the box is still starting; `nil` ends that.
    public func setBooting(_ pct: Int?, phase: String = "migrate") {
        script.boot = pct.map { (phase, Int64($0)) }
    }

    // MARK: The link

    /// Sends nothing any more, or again: to the client a silent session.
    public func setMute(_ isMute: Bool) { script.isMute = isMute }
    /// Answers no handshake, as a box that does not know the client.
    public func setIgnoresHandshakes(_ ignores: Bool) { script.isDeafToHandshakes = ignores }
    /// Forgets every session without a word, as when others push it out.
    public func dropSessions() { for session in sessions { drop(session) } }
    /// How many sessions there are.
    public var liveSessionCount: Int { sessions.count }
    /// Adds keys, types and a field that no client knows to what the box sends.
    public func setUnknownKeys(_ sends: Bool) { script.sendsUnknownKeys = sends }

    // MARK: Answers

    /// What was asked so far.
    public var requestLog: BoxLog { log }
    public func clearLog() { log = BoxLog() }
    /// Handshakes that met silence.
    public var refusedHandshakes: Int { script.refusedHandshakes }
    /// The box lost its prices: `price.get` is refused from now on.
    public func setPrices(_ areKnown: Bool) { script.hasNoPrices = !areKnown }
    /// The next calls find the session's one slot taken.
    public func setBusy(calls: Int) { script.busyCalls = max(0, calls) }
    /// API answers wait that many beats; meanwhile the slot is taken. 0 answers at once.
    public func setAnswerDelay(beats: Int) { script.answerBeats = max(0, beats) }
    /// Lets answers on that path go wrong until told otherwise; `nil` makes them right again.
    public func setFault(_ fault: AnswerFault?, path: String) { script.faults[path] = fault }
    /// Every handler answers with that HTTP status and an error, 503 as just after a
    /// start for example; `nil` ends that.
    public func setHTTPError(status: Int?) { script.httpStatus = status }
    /// Whether configure calls want a confirmation; `nil` does as the vintage does.
    public func setStepUp(_ isWanted: Bool?) { script.alwaysStepUp = isWanted }
    /// Commands get no answer at all, or an acknowledgement and no result.
    public func setSilentCommands(acknowledged: Bool?) {
        script.swallowsCommands = acknowledged == false
        script.swallowsResults = acknowledged == true
    }
    /// What becomes of the command after those whose fate is arranged already.
    public func addCommandFate(_ fate: CommandFate) {
        if script.commandFates.count < 256 { script.commandFates.append(fate) }
    }
    /// What becomes of the next commands, one each, in their order.
    public func setCommandFates(_ fates: [CommandFate]) { script.commandFates = Array(fates.prefix(256)) }
    /// The ids of the commands that changed something, in their order; one twice would be a fault.
    public var executedIDs: [String] { log.executed }
    /// Loadpoints also carry the percent spelling of old boxes.
    public func setOldSpelling(_ isUsed: Bool) { script.usesOldSpelling = isUsed }
    /// Sends the plan to every session without being asked.
    public func pushPlan() { for session in sessions { bulk("plan", planBody(), to: session) } }

    // MARK: The car

    /// Arranges one loadpoint's car, and the box where the situation is about the box.
    public func setCar(_ situation: CarSituation, loadpoint: String? = nil) {
        if situation == .twoChargers { addSecondCharger() }
        if situation == .oldBox { setVintage(.base) }
        house.arrange(situation, loadpoint: loadpoint)
    }

    /// Replaces the loadpoints, as somebody does who edits the box's configuration.
    /// One that keeps its id keeps its car.
    public func setLoadpoints(_ wanted: [SimulatedHouseSettings.ChargerSettings]) {
        let drivers = house.now { model in
            let before = model.chargers
            model.chargers = wanted.map { settings in
                before.first { $0.settings.id == settings.id } ?? Charger(settings: settings)
            }
            model.replan("config")
            return before.map(\.settings.driver)
        }
        for driver in drivers { board.remove(driver) }
        for settings in wanted { board.add(settings.driver, .charger(settings.id)) }
        controlRev += 1
    }

    /// A second loadpoint, `carport`, with a car of its own.
    private func addSecondCharger() {
        let settings = SimulatedHouseSettings.ChargerSettings(id: "carport", driver: "carport-charger")
        house.now { model in
            guard model.charger(settings.id) == nil else { return }
            model.chargers.append(Charger(settings: settings))
            model.arrange(.carLive(0.66), at: model.chargers.count - 1)
        }
        board.add(settings.driver, .charger(settings.id))
    }
}
