import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText

/// Reads through the box's interface what the stream does not tell, and makes of
/// it what may be shown about each car. Pure: the session carries the questions.
struct HouseReader {
    struct Settings {
        /// From this age on the chargers are read again although nothing happened:
        /// the stream cannot show that a cable went in.
        var readInterval: Duration
        /// The household's zone when the box does not name one.
        var zone: Zone
        /// The plan is shown for its own sake, not only for a car's goal.
        var wantsPlan: Bool
        /// How much older than two intervals an answer may be and still be of now, in seconds.
        var grace = 60.0
    }
    /// What the stream says at one moment, as far as it is a reason to ask.
    struct Stream {
        var site: SiteState
        var controlRev: UInt64?
        /// Subscribed and the API may be asked.
        var isOpen: Bool
    }

    private var settings: Settings
    private(set) var book = AskBook()
    private(set) var board = CarBoard()
    private var isOpen = false
    private var canAsk = false
    /// The box can have chargers at all.
    private var hasChargers = false
    private var isNewSession = true
    private var lastControlRev: UInt64?
    private var wasDrawing: Bool?
    private var crossedAt: Duration?
    /// Which sources were well when the chargers were last asked for.
    private var health: [String: Bool]?
    private var newestHealth: [String: Bool] = [:]
    private var planRev: UInt64?
    private var quarter: Int64?
    private var isPlanOwed = false
    private var sentAt: [AskBook.Kind: Date] = [:]
    private var namedFaults: Set<String> = []
    private var savedNotes: [String: Date] = [:]
    private var savedAt: Duration?
    private var zones: (name: String?, zone: HouseholdZone)?
    /// The zone that the box last named, in this run or an earlier one; what it is believed to
    /// be in until it is heard again.
    private(set) var keptZone: String?

    /// A car that starts or stops is looked at once more after this long: by then
    /// the charger has said what it makes of it.
    static let secondLook = Duration.seconds(15)
    /// Power that dances around the bound is not a reason to ask every second.
    static let crossingPause = Duration.seconds(5)
    /// More unusable fields than this are not named.
    static let faultLimit = 64
    /// Above this a car draws, in watts (box API §A.1).
    static let drawingW = 100.0

    init(settings: Settings) { self.settings = settings }

    // MARK: What happened

    mutating func sessionStarted() {
        isNewSession = true
        isOpen = false
    }

    mutating func restarted() {
        book.restarted()
        board.restarted()
        lastControlRev = nil
        wasDrawing = nil
        planRev = nil
        health = nil
        isPlanOwed = false
    }

    /// Looks at the stream for reasons to ask, after every event.
    mutating func observed(_ stream: Stream, at now: Duration, wall: Date) {
        let capabilities = stream.site.box?.capabilities ?? []
        isOpen = stream.isOpen
        canAsk = isOpen && capabilities.contains(Contract.Capability.apiPassthrough.rawValue)
        hasChargers = capabilities.contains(Contract.Capability.ev.rawValue)
        guard isOpen else { return }
        if isNewSession {
            isNewSession = false
            book.reconnected(at: now)
        }
        watch(controlRev: stream.controlRev)
        watch(carW: stream.site.power?.carW, at: now)
        watch(stream.site.sources)
        let quarter = Int64(clamping: wall.timeIntervalSince1970 / 900)
        if let last = self.quarter, last != quarter { book.changed(.plan, "the quarter turned") }
        self.quarter = quarter
    }

    /// A plan that the box sent by itself: somebody commanded something.
    mutating func planPushed(rev: UInt64) {
        book.changed(.chargers, "the box pushed a plan")
        if planRev != rev { book.changed(.plan, "the plan changed") }
        planRev = rev
    }

    /// A command of ours ended, well or not.
    mutating func commandEnded() {
        book.changed(.chargers, "a command ended")
        isPlanOwed = true
    }

    /// Somebody wants to know now.
    mutating func refresh() { book.changed(.chargers, "asked for") }

    mutating func someoneLooks(at now: Duration) { book.looked(at: now, "somebody starts looking") }

    /// The box confirmed a level that a person entered.
    mutating func personSet(loadpoint: String, soc: Double, boxStartedAt: Date?, wall: Date) {
        board.personSet(loadpoint: loadpoint, soc: soc, boxStartedAt: boxStartedAt, wall: wall)
        book.changed(.chargers, "a person set the level")
    }

    mutating func setReadInterval(_ interval: Duration) { settings.readInterval = interval }

    // MARK: Questions

    /// What to ask now.
    mutating func take(at now: Duration, wall: Date) -> [AskBook.Ask] {
        guard canAsk else { return [] }
        let asks = book.take(wanted(wall), at: now)
        for ask in asks {
            sentAt[ask.kind] = wall
            if ask.kind == .chargers { health = newestHealth }
        }
        return asks
    }

    static func request(_ kind: AskBook.Kind) -> APIRequest {
        switch kind {
        case .chargers: APIRequest(path: "/api/loadpoints", maxBytes: 1 << 20, priority: .chargers)
        // Prices and energy have a reader of their own.
        case .plan, .prices, .energy:
            APIRequest(path: "/api/mpc/plan", maxBytes: 4 << 20, priority: .plan)
        }
    }

    /// Takes an answer; anything but a good one leaves the last data standing, marked old.
    ///
    /// - Returns: What was wrong with it, for the log; `nil` for a good one.
    mutating func finished(
        _ kind: AskBook.Kind, _ outcome: Result<APIAnswer, BoxRequestError>, at now: Duration, wall: Date
    ) -> String? {
        let answer: APIAnswer
        switch outcome {
        case .success(let good): answer = good
        case .failure(.linkLost), .failure(.notConnected), .failure(.cancelled):
            book.lost(kind)
            return nil
        case .failure(let error):
            book.failed(kind, at: now)
            return error.description
        }
        guard answer.status == 200, let document = try? JSONValue(parsing: answer.body),
            accept(kind, document, readAt: sentAt[kind] ?? wall)
        else {
            book.failed(kind, at: now)
            return answer.status == 200 ? "not such a document" : "the box answered \(answer.status)"
        }
        let isPolled = kind == .chargers && board.hasLoadpoints
        book.answered(kind, at: now, standsFor: isPolled ? settings.readInterval : nil)
        return nil
    }

    private mutating func accept(_ kind: AskBook.Kind, _ document: JSONValue, readAt: Date) -> Bool {
        switch kind {
        case .chargers:
            guard let list = LoadpointList(document) else { return false }
            let planMoved = board.read(list, at: readAt)
            guard !board.isPlanPending else { return true }
            if planMoved {
                book.changed(.plan, "the chargers tell of another plan")
            } else if isPlanOwed {
                book.changed(.plan, "a command ended")
            }
            isPlanOwed = false
        case .plan:
            guard let plan = PlanAnswer(document) else { return false }
            board.read(plan)
        case .prices, .energy: return false
        }
        return true
    }

    private func wanted(_ wall: Date) -> Set<AskBook.Kind> {
        let needsPlan = settings.wantsPlan || board.hasGoal(at: wall)
        let chargers: Set<AskBook.Kind> = hasChargers ? [.chargers] : []
        return needsPlan && !board.isPlanPending ? chargers.union([.plan]) : chargers
    }

    /// When something is due by time alone: a question, or another picture.
    func nextDeadline(at now: Duration, wall: Date) -> Duration? {
        var next = canAsk ? book.nextDeadline(wanted(wall)) : nil
        if canAsk, wanted(wall).contains(.plan), let quarter {
            next = sooner(next, now + .seconds(Double(quarter + 1) * 900 - wall.timeIntervalSince1970))
        }
        if let change = board.nextChange {
            // A deadline may lie in any century; a day ahead is far enough to look again.
            next = sooner(next, now + .seconds(min(86_400, max(0, change.timeIntervalSince(wall)))))
        }
        return next
    }

    private func sooner(_ a: Duration?, _ b: Duration) -> Duration { a.map { min($0, b) } ?? b }

    // MARK: The picture

    /// The cars as they may be shown now; `nil` until they were read.
    mutating func cars(_ site: SiteState, boxStartedAt: Date?, wall: Date) -> [CarState]? {
        let zone = household(site.box)
        return board.cars(
            CarBoard.Surroundings(
                isUp: site.link.isUp && !book.hasFailed(.chargers), isPlanOld: book.hasFailed(.plan),
                // Twice the interval leaves room for an answer that takes its time.
                standsFor: settings.readInterval * 2 / .seconds(1) + settings.grace,
                chargers: Dictionary(
                    site.sources.map { ($0.id, $0.isHealthy) }, uniquingKeysWith: { a, _ in a }),
                zone: zone),
            boxStartedAt: boxStartedAt, now: wall)
    }

    /// What the box says of its zone; of a box that was not heard yet, what it said last.
    func zoneName(_ box: BoxFacts?) -> String? { box == nil ? keptZone : box?.zone }

    /// Zones come from files; one is looked up only when the box names another.
    mutating func household(_ box: BoxFacts?) -> HouseholdZone {
        let name = zoneName(box)
        if let zones, zones.name == name { return zones.zone }
        let zone = HouseholdZone(boxZone: name, configured: settings.zone)
        zones = (name, zone)
        return zone
    }

    /// Fields that could not be used and were not named before.
    mutating func newFaults() -> [String] {
        let new = board.faults.filter { !namedFaults.contains($0) }
        guard namedFaults.count + new.count <= Self.faultLimit else { return [] }
        namedFaults.formUnion(new)
        return new
    }

    // MARK: Reasons to ask

    private mutating func watch(controlRev: UInt64?) {
        if let lastControlRev, let controlRev, lastControlRev != controlRev {
            book.changed(.chargers, "something was set at the box")
        }
        lastControlRev = controlRev ?? lastControlRev
    }

    /// Field 10, while its sources are well: an ill one flaps between zero and its last word.
    private mutating func watch(carW: Double?, at now: Duration) {
        guard let carW else { return }
        let isDrawing = carW > Self.drawingW
        defer { wasDrawing = isDrawing }
        guard let wasDrawing, wasDrawing != isDrawing else { return }
        let what = isDrawing ? "a car began to draw" : "a car stopped drawing"
        if crossedAt.map({ now - $0 >= Self.crossingPause }) ?? true {
            crossedAt = now
            book.changed(.chargers, what)
        }
        book.changes(.chargers, at: now + Self.secondLook, "once more after \(what)")
    }

    /// Against what held when the chargers were asked for: an answer that came
    /// meanwhile has told it.
    private mutating func watch(_ sources: [Source]) {
        newestHealth = Dictionary(sources.map { ($0.id, $0.isHealthy) }, uniquingKeysWith: { a, _ in a })
        guard let health else { return }
        for source in sources where source.roles.contains(.charger) || board.drivers.contains(source.id) {
            guard health[source.id] != source.isHealthy else { continue }
            self.health?[source.id] = source.isHealthy
            book.changed(
                .chargers, "\(source.id) \(source.isHealthy ? "answers again" : "stopped answering")")
        }
    }

    // MARK: What is kept over a restart

    /// Saved seldom, because a card in a small computer wears out.
    static let savePause = Duration.seconds(900)

    /// Takes in what an earlier run heard.
    mutating func remember(zone: String?) { keptZone = zone }

    /// The box's own word about its zone when it is news, `nil` in it when it names none.
    mutating func unsavedZone(_ box: BoxFacts?) -> String?? {
        guard let box, box.zone != keptZone else { return nil }
        keptZone = box.zone
        return .some(box.zone)
    }

    mutating func remember(_ memory: JSONValue) {
        board.remember(memory)
        savedNotes = board.notes
    }

    /// What is to be saved now: at once when a person's note came or went, else
    /// every quarter of an hour; `nil` when nothing is.
    mutating func unsaved(at now: Duration, isLast: Bool = false) -> JSONValue? {
        guard board.wasRead else { return nil }
        let notes = board.notes
        let isDue = savedAt.map { now - $0 >= Self.savePause } ?? true
        guard isLast || isDue || notes != savedNotes else { return nil }
        savedNotes = notes
        savedAt = now
        return board.memory
    }
}

extension Int64 {
    /// The whole part, within bounds; 0 for what is no number.
    init(clamping value: Double) {
        guard value.isFinite else {
            self = 0
            return
        }
        self = Int64(Swift.min(Swift.max(value.rounded(.down), -9e15), 9e15))
    }
}
