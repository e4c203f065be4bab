public import Ambient
public import BoxLink
public import EnergyModel

/// One conversation with one box, across all its sessions.
///
/// Runs the pure machines over a carrier and a clock: events in, actions out.
/// It owns every key and every pending question; nothing of the wire leaves it.
public actor BoxSession {
    /// The site as it stands, after every beat and every change; only the newest
    /// undelivered value is kept. While `link.isUp` is false everything beside the
    /// link is the last known picture with its own times, and control is unknown.
    /// For one consumer. Ends when ``run()`` returns.
    public nonisolated let states: AsyncStream<SiteState>
    /// What happened once, the oldest 64 undelivered. For one consumer.
    public nonisolated let notes: AsyncStream<BoxSessionNote>

    typealias Ticket = RequestTable.Ticket
    typealias Outcome = Result<RequestTable.Answer, BoxRequestError>
    enum Waiter {
        case caller(CheckedContinuation<Outcome, Never>)
        /// Our own question for the roles of the sources.
        case roles
        /// Our own question about the house.
        case house(AskBook.Kind)
        /// Our own question about prices or energy.
        case board(AskBook.Kind)
    }

    let carrier: any Carrier
    let ambient: Ambient
    private let statesInput: AsyncStream<SiteState>.Continuation
    private let notesInput: AsyncStream<BoxSessionNote>.Continuation

    var code: SecretBytes?
    var noise: NoiseCarrier
    var driver: HandshakeDriver
    var machine: SessionMachine
    var table = RequestTable()
    var tracker = SiteTracker()
    var link: LinkTracker
    var roleAsk = RoleAsk()
    var house: HouseReader
    var boards: BoardReader
    var orders = OrderBook()
    let configuredZone: Zone
    let goalConsent: Bool
    let memory: (any SessionMemory)?
    let boxName: String
    var count = SessionCounters()
    var greeting: String?
    var isCodeRefused = false
    private(set) var latestPlan: PlanMessage?

    private var waiters: [Ticket: Waiter] = [:]
    private var lastTicket: Ticket = 0
    private(set) var published: SiteState?
    private var beatArrived = false
    private var timer: Task<Void, Never>?
    private var timerAt: Duration?
    /// How often a deadline woke us.
    private(set) var wakeUps: UInt64 = 0
    private var hasRun = false

    /// - Parameters:
    ///   - settings: Keys, code and cadence.
    ///   - carrier: Moves the bytes; this session is its only consumer and runs it.
    ///   - ambient: Clocks, log and chance.
    public init(settings: BoxSessionSettings, carrier: any Carrier, ambient: Ambient) {
        self.carrier = carrier
        self.ambient = ambient
        (states, statesInput) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (notes, notesInput) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(64))
        code = settings.code
        noise = NoiseCarrier(identity: settings.identity, boxKey: settings.boxKey)
        driver = HandshakeDriver(
            hasCode: settings.code != nil,
            timing: HandshakeDriver.Timing(
                deadline: settings.handshakeDeadline, base: settings.handshakeRetry,
                ceiling: settings.handshakeRetryLimit, revokedPause: settings.revokedPause))
        machine = SessionMachine(settings: .init(build: settings.build, beat: settings.beat))
        link = LinkTracker(at: ambient.time.wall)
        house = HouseReader(
            settings: .init(
                readInterval: settings.readInterval, zone: settings.zone, wantsPlan: settings.wantsPlan,
                grace: settings.readGrace / .seconds(1)))
        boards = BoardReader(
            settings: .init(
                rules: settings.priceRules, energyStart: settings.energyStart,
                isWanted: settings.wantsBoards))
        memory = settings.memory
        boxName = BoxNames.siteID(boxKey: settings.boxKey)
        configuredZone = settings.zone
        goalConsent = settings.goalConsent
        Self.recall(settings.memory, of: boxName, into: &house)
        Self.recall(settings.memory, of: boxName, into: &boards, log: ambient.log)
        Self.recall(settings.memory, of: boxName, into: &orders)
    }

    /// Converses until the task is cancelled or the carrier ends; call it once.
    public func run() async {
        guard !hasRun else { return }
        hasRun = true
        settle()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [carrier] in await carrier.run() }
            for await event in carrier.events {
                handle(event)
                if Task.isCancelled { break }
            }
            group.cancelAll()
        }
        end()
    }

    /// Asks the box's HTTP API. One call is in flight at a time; the others wait
    /// by priority, then by arrival.
    ///
    /// - Throws: `BoxRequestError`; nothing is sent again by itself except what
    ///   met a busy slot. Cancelling the task withdraws the question.
    public func request(_ request: APIRequest) async throws(BoxRequestError) -> APIAnswer {
        guard case .api(let answer) = try await ask(.api(request)) else { throw .malformedAnswer }
        return answer
    }

    /// Asks for the plan as the session tells it.
    public func plan() async throws(BoxRequestError) -> PlanMessage {
        guard case .plan(let plan) = try await ask(.plan) else { throw .malformedAnswer }
        latestPlan = plan
        return plan
    }

    /// Asks for the prices of `[fromMs, toMs)`, Unix milliseconds.
    public func prices(fromMs: Int64, toMs: Int64) async throws(BoxRequestError) -> PriceMessage {
        let question = RequestTable.Question.price(PriceGetMessage(fromMs: fromMs, toMs: toMs))
        guard case .price(let prices) = try await ask(question) else { throw .malformedAnswer }
        return prices
    }

    /// Changes how often the box sends; a running session is told at once.
    public func setBeat(_ beat: Beat) {
        perform(machine.cadenceWanted(beat, at: now))
        settle()
    }

    /// The newest plan this session heard, asked for or pushed; `nil` if none in
    /// this run of the box.
    public func newestPlan() -> PlanMessage? { latestPlan }

    /// Numbers for a diagnostic.
    public func counters() -> SessionCounters {
        var counters = count
        counters.foreign = noise.foreignCount
        return counters
    }

    /// The site as it may be shown at this moment.
    func siteNow() -> SiteState {
        let wall = ambient.time.wall
        var site = tracker.site(
            link: link.link, isTableOld: machine.isTableOld(at: now), at: now, wall: wall)
        lookAtHouse(&site, wall: wall)
        lookAtBoards(&site, wall: wall)
        addOrders(&site)
        return site
    }

    // MARK: The loop

    var now: Duration { ambient.time.monotonic }

    func handle(_ event: CarrierEvent) {
        let wall = ambient.time.wall
        switch event {
        case .joined: link.joined(at: wall)
        case .ready:
            link.ready(at: wall)
            perform(driver.ready(at: now))
        case .gone:
            link.gone(at: wall)
            perform(driver.gone())
        case .lost(let loss):
            link.lost(loss.cause, graceUntil: now + LinkTracker.rotationGrace, at: wall)
            perform(driver.lost())
        case .message(let bytes):
            // Another client's frame changes nothing here.
            guard received(bytes) else { return }
        }
        settle()
    }

    /// - Returns: Whether the message was ours.
    private func received(_ bytes: [UInt8]) -> Bool {
        switch noise.received(bytes) {
        case .foreign: return false
        case .established:
            count.sessions &+= 1
            perform(driver.established(at: now))
            greeting = nil
            tracker.sessionStarted()
            roleAsk.sessionStarted()
            house.sessionStarted()
            boards.sessionStarted()
            orders.sessionStarted()
            perform(machine.opened(at: now))
        case .frame(let bytes):
            count.frames &+= 1
            guard let frame = try? Frame(decoding: bytes),
                let envelope = try? Envelope(decoding: frame.payload)
            else {
                count.malformed &+= 1
                return true
            }
            link.frame(at: ambient.time.wall)
            perform(machine.received(envelope, isTruncated: frame.isTruncated, at: now))
        }
        return true
    }

    func timerFired() {
        timer = nil
        timerAt = nil
        wakeUps &+= 1
        perform(driver.timerFired(at: now, chance: ambient.chance()))
        perform(machine.timerFired(at: now))
        perform(table.timerFired(at: now))
        ordersTimerFired()
        link.timerFired(at: now, wall: ambient.time.wall)
        settle()
    }

    /// After every event: ask what is due, tell what changed, sleep until the next deadline.
    func settle() {
        publish()
        askAboutHouse()
        askWhenHoldsEnd()
        askForBoards()
        askForRoles()
        armTimer()
    }

    private var canAskForRoles: Bool { machine.stage == .streaming && table.isOpen }

    private func askForRoles() {
        guard canAskForRoles else { return }
        roleAsk.observed(
            ids: tracker.sourceIDs, healthyWithoutRole: tracker.healthyWithoutRole(at: now))
        guard roleAsk.isDue(at: now) else { return }
        roleAsk.sent()
        submit(.api(RoleReader.request), .roles)
    }

    private func publish() {
        var state = siteNow()
        let before = published
        published = state
        logChange(from: before?.link, to: state.link)
        // A frame of somebody's download is no news about the house.
        if !beatArrived, var before {
            before.link.lastFrameAt = nil
            state.link.lastFrameAt = nil
            if before == state { return }
        }
        beatArrived = false
        if let published { statesInput.yield(published) }
    }

    private func logChange(from before: Link?, to after: Link) {
        guard let before, before.state != after.state || before.reason != after.reason else { return }
        let why = after.reason.map { " (\($0.rawValue))" } ?? ""
        ambient.log.notice("box link: \(after.state.rawValue)\(why)")
    }

    private func armTimer() {
        let deadlines = [
            driver.nextDeadline, machine.nextDeadline, table.nextDeadline, link.graceUntil,
            canAskForRoles ? roleAsk.nextDeadline : nil, tracker.nextChange(after: now),
            house.nextDeadline(at: now, wall: ambient.time.wall),
            boards.nextDeadline(at: now, wall: ambient.time.wall), orders.nextDeadline,
        ]
        guard let first = deadlines.compactMap({ $0 }).min() else { return }
        // What is due already waits a moment too: no mistake of a machine may become a busy loop.
        let next = max(first, now + .milliseconds(10))
        // A timer that wakes too early arms itself again; beats only move the deadline on.
        if let timerAt, timerAt <= next { return }
        timer?.cancel()
        timerAt = next
        // Ends by itself, by the line above, or in `end()`.
        timer = Task { [ambient, weak self] in
            guard (try? await ambient.time.sleep(until: next)) != nil else { return }
            await self?.timerFired()
        }
    }

    private func end() {
        timer?.cancel()
        timer = nil
        rememberHouse(isLast: true)
        machine.closed()
        perform(table.closed())
        endOrders()
        noise.wipe()
        statesInput.finish()
        notesInput.finish()
    }

    // MARK: Questions

    private func ask(
        _ question: RequestTable.Question
    ) async throws(BoxRequestError) -> RequestTable.Answer {
        lastTicket &+= 1
        let ticket = lastTicket
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
                guard !Task.isCancelled else { return continuation.resume(returning: .failure(.cancelled)) }
                register(.caller(continuation), ticket, question)
                settle()
            }
        } onCancel: {
            // One hop into the actor; ends with it.
            Task { await self.withdraw(ticket) }
        }
        return try outcome.get()
    }

    func submit(_ question: RequestTable.Question, _ waiter: Waiter) {
        lastTicket &+= 1
        register(waiter, lastTicket, question)
    }

    /// The waiter first, then the question.
    private func register(_ waiter: Waiter, _ ticket: Ticket, _ question: RequestTable.Question) {
        waiters[ticket] = waiter
        perform(table.submitted(ticket, question, at: now))
    }

    private func withdraw(_ ticket: Ticket) {
        perform(table.withdrawn(ticket))
        settle()
    }

    func finish(_ ticket: Ticket, _ outcome: Outcome) {
        switch waiters.removeValue(forKey: ticket) {
        case .caller(let continuation): continuation.resume(returning: outcome)
        case .roles:
            if case .success(.api(let answer)) = outcome, let roles = RoleReader.roles(in: answer) {
                tracker.rolesTold(roles)
                roleAsk.succeeded()
            } else {
                roleAsk.failed(at: now)
            }
        case .house(let kind): finishHouse(kind, outcome)
        case .board(let kind): finishBoard(kind, outcome)
        case nil: break
        }
    }

    // MARK: What the machines' actions need

    func note(_ note: BoxSessionNote) { notesInput.yield(note) }
    func beat() { beatArrived = true }
    func keep(plan: PlanMessage?) { latestPlan = plan }
}
