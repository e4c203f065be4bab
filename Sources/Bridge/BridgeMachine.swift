import Ambient
import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes

/// The bridge for one site, without sockets, clocks and tasks: what happened
/// goes in, what is to be done comes out, in order.
struct BridgeMachine {
    enum Event {
        case connected(BrokerSession)
        case disconnected(BrokerLoss)
        /// The broker's answer to `subscribe` with the same number.
        case subscribed(attempt: Int, granted: [Bool])
        case message(Message)
        case site(SiteState)
        case health(HealthFacts)
        case reloaded(Request, String)
        /// How an order at the box fares.
        case progress(String, BoxProgress)
        /// An order that was not given to the box, because what it is remembered by could not be saved.
        case notSaved(String)
        /// The box was read for an order whose fate is not known.
        case wasRead(String, BoxReadBack)
        case timerFired
        /// We are about to leave for good.
        case goodbye
    }
    enum Action: Equatable {
        case publish(Message)
        case subscribe(attempt: Int, filters: [String])
        case save(String, JSONValue)
        case log(LogLevel, String)
        case askHealth
        /// Somebody starts looking: the box is to be read again where that is due.
        case someoneLooks
        case reload(Request)
        case perform(BoxOrder)
        case readBack(BoxOrder)
    }
    enum Phase: Equatable {
        case away
        /// Connected; what we want to hear is not confirmed yet.
        case subscribing
        case up
        /// Another copy of this bridge was here first.
        case standby
        case stopped
    }

    /// What a broker had kept comes with the subscription; later than this it does not.
    static let keptLate = Duration.seconds(5)

    /// Names in the bridge's memory.
    static let announcedName = "announced"
    static let pictureName = "picture"
    static let commandsName = "commands"
    /// More announcements than this that are to be gone are emptied unseen.
    static let mostSwept = 8

    let settings: BridgeSettings
    let tree: TopicTree
    let run: BridgeRun
    let chance: @Sendable () -> Double
    /// True if this process can read its configuration again.
    let canReload: Bool
    var phase = Phase.away
    var attempt = 0
    var publisher: StatePublisher
    var announced: Announced
    var savedAnnounced: Announced
    var shape: HomeShape?
    var sentDiscovery: [String: JSONValue] = [:]
    /// Announcements that are to be gone and that this connection listens to: what is still there arrives.
    var sweeping: [String] = []
    /// Announcements that this connection has seen to; emptying one twice is an error to Home Assistant.
    var buried: Set<String> = []
    var echoes = EchoFilter()
    var requestCount = 0
    var desk: CommandDesk
    /// What the last run left unfinished was taken up.
    var isDeskOpen = false
    var isBoxUp = false
    /// Conversations with voice assistants; `nil`: none is listened to.
    var voice: VoiceDesk?
    var actions: [Action] = []
    /// Where among the actions the ledger is to be written; `nil`: it need not be.
    var ledgerPlace: Int?
    /// Events whose actions wait for those of the next.
    var held = 0
    /// Something among the actions goes to the box.
    var isUrgent = false
    /// More events than this are not taken together.
    static let mostHeld = 64

    /// The other copy we gave way to, or told to give way.
    var rival: String?
    var toldForeign: Set<String> = []
    var writeBacks: [String: Duration] = [:]
    /// Topics on which this connection brought something retained.
    var keptSeen: Set<String> = []
    /// Until then the broker may still send what it had kept.
    var keptUntil: Duration?
    var republishAt: Duration?
    var healthAt: Duration?
    var pictureAt: Duration?
    var resumeAt: Duration?
    /// Options of the mode that are gone but may still be shown, and until when.
    var lingering: [String] = []
    var settleAt: Duration?
    /// Discovery that changed and is told once more, and when.
    var retold: Set<String> = []
    var retellAt: Duration?

    init(
        settings: BridgeSettings, run: BridgeRun, memory: (String) -> JSONValue?, canReload: Bool = false,
        chance: @escaping @Sendable () -> Double
    ) {
        self.settings = settings
        self.run = run
        self.chance = chance
        self.canReload = canReload
        tree = settings.tree
        publisher = StatePublisher(
            settings: settings, run: run,
            picture: Picture.restore(memory(Self.pictureName), now: run.started) {
                StatePublisher.household(settings: settings, box: $0)
            })
        desk = CommandDesk(ledger: CommandLedger(document: memory(Self.commandsName) ?? .null))
        publisher.lastCommands = desk.ledger.last
        publisher.askers = desk.ledger.askers
        publisher.arrange()
        announced = Announced(memory(Self.announcedName))
        if publisher.site.cars == nil, !announced.cars.isEmpty {
            // Nothing is known of them but that they are there.
            publisher.recall(announced.cars.map { CarState.unknown(loadpoint: $0) })
        }
        savedAnnounced = announced
        voice = settings.voice.map {
            VoiceDesk(settings: $0, language: settings.language, homes: [settings.siteID, settings.siteName])
        }
        chooseIdentity()
        arrangeShape()
    }

    /// When `timerFired` is wanted; `nil`: not before the next event.
    var nextDeadline: Duration? {
        var next = [pictureAt, resumeAt, desk.nextDeadline, voice?.nextDeadline]
        if phase == .up {
            next += [
                republishAt, healthAt, settleAt, retellAt, writeBacks.values.min(), publisher.nextDeadline,
            ]
        }
        return phase == .stopped ? nil : next.compactMap { $0 }.min()
    }

    /// What we listen to: our own tree, which also shows what others write into it,
    /// Home Assistant's birth, and what people said if that is wanted.
    var filters: [String] {
        [tree.filter] + (settings.discovery ? ["\(settings.discoveryPrefix)/status"] : [])
            + (voice == nil ? [] : [HermesIntent.topicPrefix + "#"])
    }

    /// - Parameter more: The next event is there already. What this one asks for may
    ///   then come with the next one's, in order.
    mutating func handle(_ event: Event, now: Moment, more: Bool = false) -> [Action] {
        guard phase != .stopped else { return [] }
        openDesk(now: now)
        switch event {
        case .connected(let session): connected(session, now: now)
        case .disconnected(let loss): disconnected(loss, now: now)
        case .subscribed(let number, let granted):
            if number == attempt, phase == .subscribing { subscribed(granted, now: now) }
        case .message(let message): if phase != .away { received(message, now: now) }
        case .site(let state): take(state, now: now)
        case .health(let facts):
            var health = publisher.health
            health.facts = facts
            publisher.report(health, now: now)
            flush(now: now)
        case .reloaded(let request, let sentence):
            answer(request, RequestResult(stage: .done, text: sentence), now: now)
        case .progress(let id, let progress): advanced(id, progress, now: now)
        case .notSaved(let id): notSaved(id, now: now)
        case .wasRead(let id, let result): carryOut(desk.readBack(id, result, now: now), now: now)
        case .timerFired:
            carryOut(desk.timerFired(now: now), now: now)
            tellOverdue(now: now)
            timer(now: now)
        case .goodbye: goodbye(now: now)
        }
        return release(holding: more)
    }

    // MARK: The broker

    private mutating func connected(_ session: BrokerSession, now: Moment) {
        attempt += 1
        phase = .subscribing
        keptSeen = []
        keptUntil = nil
        publisher.session = session
        sentDiscovery = [:]
        writeBacks = [:]
        sweeping = Array(announced.cleared.keys.filter(Announced.isDevice).sorted().prefix(Self.mostSwept))
        buried = []
        actions.append(.subscribe(attempt: attempt, filters: filters + sweeping))
    }

    private mutating func disconnected(_ loss: BrokerLoss, now: Moment) {
        phase = .away
        healthAt = nil
        republishAt = nil
        resumeAt = nil
        settleAt = nil
        retellAt = nil
        writeBacks = [:]
        desk.brokerLeft()
        if loss.code != .stopped { fault(loss.code.rawValue, loss.sentence, now: now) }
    }

    private mutating func subscribed(_ granted: [Bool], now: Moment) {
        let refused = filters.indices.filter { !granted.indices.contains($0) || !granted[$0] }.map {
            filters[$0]
        }
        // Who may not look there empties it unseen.
        buried = Set(
            sweeping.enumerated().compactMap { index, topic in
                let place = filters.count + index
                return granted.indices.contains(place) && granted[place] ? topic : nil
            })
        if refused != publisher.health.refusedFilters {
            var health = publisher.health
            health.refusedFilters = refused
            publisher.report(health, now: now)
            if !refused.isEmpty {
                let sentence =
                    "The broker does not let us listen to \(refused.joined(separator: ", ")); "
                    + "requests there will not arrive. Allow it for this user."
                fault("subscription_refused", sentence, now: now)
                actions.append(.log(.error, sentence))
            }
        }
        if rival != nil, resumeAt == nil {
            standBy(now: now)
        } else {
            start(now: now)
        }
    }

    /// Everything, as for a broker that knows nothing of us.
    mutating func start(now: Moment) {
        phase = .up
        keptUntil = now.monotonic + Self.keptLate
        resumeAt = nil
        announced.settle(now: now.wall)
        announce(all: true, now: now)
        _ = announced.keep(currentTopics, now: now.wall)
        for topic in announced.cleared.keys.sorted() { clear(topic, now: now) }
        for message in publisher.everything(now: now) { publish(message, now: now) }
        saveAnnounced()
        tellUntold(now: now)
        actions.append(.askHealth)
        healthAt = now.monotonic + .seconds(60)
    }

    /// Everything once more, for whoever missed it.
    mutating func republish(now: Moment) {
        sentDiscovery = [:]
        announce(all: true, now: now)
        for message in publisher.everything(now: now) { publish(message, now: now) }
    }

    mutating func publish(_ message: Message, now: Moment) {
        echoes.published(message, now: now.monotonic)
        actions.append(.publish(message))
    }

    /// Sends what is due, if there is anybody to send it to.
    mutating func flush(now: Moment) {
        guard phase == .up else { return }
        for message in publisher.timer(now: now) { publish(message, now: now) }
        if publisher.hasDroppedCommands {
            publisher.hasDroppedCommands = false
            keepTopics(now: now)
        }
    }

    // MARK: The house

    private mutating func take(_ state: SiteState, now: Moment) {
        let structure = publisher.structure
        publisher.take(state, now: now)
        let isShapeNew = publisher.structure != structure
        let isLive = publisher.isPowerLive
        if isLive, isShapeNew || announced.presence.differs(from: publisher.site) {
            announced.presence.learn(publisher.site)
        }
        announced.presence.learnBoards(publisher.site)
        if announced.identity == nil { chooseIdentity() }
        if state.link.isUp, let cars = state.cars { announced.take(cars) }
        if isShapeNew || announced != savedAnnounced {
            if phase == .up {
                announce(all: false, now: now)
                keepTopics(now: now)
            }
        }
        flush(now: now)
        saveAnnounced()
        followLink(state.link.isUp, now: now)
        if isLive {
            let due = now.monotonic + (isShapeNew ? .seconds(5) : .seconds(300))
            pictureAt = min(pictureAt ?? due, due)
        }
    }

    private mutating func timer(now: Moment) {
        func isDue(_ deadline: Duration?) -> Bool { deadline.map { $0 <= now.monotonic } ?? false }
        if isDue(pictureAt) { savePicture() }
        if isDue(resumeAt) {
            rival = nil
            start(now: now)
        }
        guard phase == .up else { return }
        if isDue(republishAt) {
            republishAt = nil
            republish(now: now)
        }
        if isDue(settleAt) { settleOptions(now: now) }
        if isDue(retellAt) { retell(now: now) }
        if isDue(healthAt) {
            healthAt = now.monotonic + .seconds(60)
            actions.append(.askHealth)
        }
        for (path, _) in writeBacks.filter({ isDue($0.value) }).sorted(by: { $0.key < $1.key }) {
            writeBacks[path] = nil
            writeBack(path, now: now)
        }
        flush(now: now)
    }

    private mutating func goodbye(now: Moment) {
        if publisher.isPowerLive || pictureAt != nil { savePicture() }
        if phase == .up {
            for message in publisher.farewell(now: now) { publish(message, now: now) }
        }
        phase = .stopped
    }

    // MARK: Memory

    private mutating func savePicture() {
        pictureAt = nil
        actions.append(.save(Self.pictureName, Picture.save(publisher.pictured)))
    }

    mutating func saveAnnounced() {
        guard announced != savedAnnounced else { return }
        savedAnnounced = announced
        actions.append(.save(Self.announcedName, announced.saved))
    }

    /// Notes which topics carry something of ours, and empties those that no longer do.
    mutating func keepTopics(now: Moment) {
        let current = currentTopics
        guard current != announced.topics else { return }
        for topic in announced.keep(current, now: now.wall) {
            publish(Message(topic, [], retained: true), now: now)
        }
        // At once: whatever is on the broker has to be known to whoever takes it all away.
        saveAnnounced()
    }

    private var currentTopics: Set<String> {
        // The claim is written by the connection itself, and moves with the tree like everything else.
        Set(publisher.retainedPaths.map { "\(tree.root)/\($0)" }).union([settings.claimTopic])
    }

    mutating func fault(_ code: String, _ sentence: String, now: Moment) {
        var health = publisher.health
        health.lastFault = .init(code: code, sentence: sentence, at: now.wall)
        publisher.report(health, now: now)
    }
}
