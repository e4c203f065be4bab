import EnergyModel
import FoundationEssentials
import JSONText
public import MQTTTypes

/// Turns the site's state into retained messages, and sends only what changed.
///
/// Pure: whoever owns it says what happened and what time it is, and sends what
/// it gets back. With nothing changing, an hour costs 187 messages: 120 renewals
/// of `power`, 60 of `bridge/availability`, 4 of `bridge/health`, 3 of `battery`.
/// Each car adds 6: 3 renewals each of `state` and `level`; known prices add 3 of `price/cheap_now`.
public struct StatePublisher {
    let tree: TopicTree
    let settings: BridgeSettings
    var slots: [TopicTree.Place: Slot] = [:]
    /// The slots' places in the order in which they are sent; availability of
    /// the bridge last, so that whoever sees `online` finds everything there.
    var order: [TopicTree.Place] = []
    /// What each mirrored member last carried, by topic below the site.
    var mirrored: [String: String] = [:]

    /// The newest state, with what is last known in place of what is not there.
    var site: SiteState
    /// True while `site.power` came from the box just now.
    var isPowerLive = false
    var levels: [String: TopicLevel] = [:]
    /// Topic levels of the loadpoints by id.
    var carLevels: [String: TopicLevel] = [:]
    /// The last reading of each loadpoint that was current, by id.
    var goodCars: [String: ShownCar.Reading] = [:]
    /// Loadpoints that the box told in this session and not too long ago.
    var told: Set<String> = []
    /// The household's day in which sentences were last made, and its end on our clock.
    var day: LocalDay?
    var dayEnds: Duration?
    /// How the last command of each loadpoint ended, by id.
    var lastCommands: [String: StageReport] = [:]
    /// When the oldest of them is a day old, on our clock.
    var commandsEnd: Duration?
    /// One of them was taken back, so its topic is to be emptied.
    var hasDroppedCommands = false
    /// Whose order last went through us, by loadpoint.
    var askers: [String: Asker] = [:]
    /// Loadpoints at which an order of ours is under way.
    var busy: Set<String> = []
    /// Who placed the hold of each loadpoint, as far as that can be known.
    var holds: [String: HoldWatch] = [:]
    var shown: [String: Source.State] = [:]
    var controlWorsenedAt: Duration?
    var pace: PowerPace
    var sentPower: (power: Power, isLive: Bool, at: Duration)?
    var documents: SiteDocuments
    var session: BrokerSession?
    var health = BridgeHealth()
    let run: BridgeRun
    /// False once we said goodbye.
    var isOnline = true

    /// Rises when topics come or go, or when what is announced may change.
    var structure = 0

    /// When ``timer(now:)`` wants to be called; `nil`: not before the next update.
    public private(set) var nextDeadline: Duration?

    /// - Parameters:
    ///   - picture: The last known state of an earlier run; never taken for news.
    init(settings: BridgeSettings, run: BridgeRun, picture: SiteState? = nil) {
        self.settings = settings
        self.run = run
        tree = settings.tree
        pace = PowerPace(settings.rate)
        site = picture ?? SiteState(link: Link(state: .connecting, since: run.started))
        documents = SiteDocuments(
            household: Self.household(settings: settings, box: site.box), language: settings.language)
        health.since = run.started
        arrange()
        if let cars = picture?.cars { recall(cars) }
    }

    /// Sends what has become due.
    public mutating func timer(now: Moment) -> [Message] {
        guard let nextDeadline, nextDeadline <= now.monotonic else { return [] }
        turnDay(now: now)
        if commandsEnd.map({ $0 <= now.monotonic }) ?? true { dropOldCommands(now: now) }
        var messages: [Message] = []
        for place in order {
            guard let slot = slots[place], let deadline = slot.deadline(renewal: renewal(of: place)),
                deadline <= now.monotonic
            else { continue }
            let payload = payload(of: place, now: now)
            if let sent = slot.sent, payload.says(sameAs: sent.payload, but: place.name.spec.datingMembers),
                !isRenewalDue(place, slot, now: now), !isDatingDue(place, payload, slot, now: now)
            {
                slots[place]?.due = nil
                continue
            }
            messages += send(payload, to: place, now: now)
        }
        reckon()
        return messages
    }

    /// Everything, for a broker that may know nothing: states first, ``BridgeSettings``' birth last.
    ///
    /// What is held back (``hold(_:until:)``) follows when its time has come.
    public mutating func everything(now: Moment) -> [Message] {
        mirrored = [:]
        turnDay(now: now)
        dropOldCommands(now: now)
        var messages: [Message] = []
        for place in order {
            if let notBefore = slots[place]?.notBefore, notBefore > now.monotonic {
                slots[place]?.sent = nil
                mark(place, at: notBefore)
                continue
            }
            messages += send(payload(of: place, now: now), to: place, now: now)
        }
        reckon()
        return messages
    }

    /// The goodbye: nothing that stays behind looks live. Ends with our own `offline`.
    public mutating func farewell(now: Moment) -> [Message] {
        isOnline = false
        var gone = site
        gone.link = Link(
            state: .lost, since: now.wall, reason: .stopped, lastFrameAt: site.link.lastFrameAt)
        take(gone, now: now)
        var messages: [Message] = []
        for place in order where place.name != .bridgeHealth {
            let payload = payload(of: place, now: now)
            if let sent = slots[place]?.sent,
                payload.says(sameAs: sent.payload, but: place.name.spec.datingMembers)
            {
                continue
            }
            messages += send(payload, to: place, now: now)
        }
        nextDeadline = nil
        return messages
    }

    /// Sends one place again, whatever it carried: somebody else wrote to it.
    mutating func again(_ place: TopicTree.Place, now: Moment) -> [Message] {
        guard slots[place] != nil else { return [] }
        defer { reckon() }
        return send(payload(of: place, now: now), to: place, now: now)
    }

    /// Sends one mirrored member again; `nil` if there is no such thing.
    func mirrorAgain(_ path: String, now: Moment) -> Message? {
        guard let text = mirrored[path],
            let place = order.first(where: { path.hasPrefix($0.path + "/") && !$0.name.spec.members.isEmpty })
        else { return nil }
        let spec = place.name.spec
        return Message(
            "\(tree.root)/\(path)", text, qos: spec.qos, retained: spec.isRetained,
            expirySeconds: slots[place]?.sent.flatMap { expiry(of: place, $0.payload, now: now) })
    }

    /// What a topic below the site last carried; `nil` when nothing was sent there.
    func lastSent(_ path: String) -> [UInt8]? {
        if let text = mirrored[path] { return Array(text.utf8) }
        return order.first { $0.path == path }.flatMap { slots[$0]?.sent?.payload.bytes }
    }

    /// Holds one place back, so that a reader can take in something else first.
    mutating func hold(_ place: TopicTree.Place, until: Duration) {
        slots[place]?.notBefore = until
        reckon()
    }

    /// Takes in new counters and faults.
    mutating func report(_ health: BridgeHealth, now: Moment) {
        self.health = health
        mark(.init(.bridgeHealth), at: now.monotonic)
    }

    /// Every topic below the site on which a message of ours is or will be retained.
    var retainedPaths: Set<String> {
        var paths: Set<String> = []
        for place in order where place.name.spec.isRetained {
            paths.insert(place.path)
            guard settings.mirrorsValues else { continue }
            for member in place.name.spec.members where member.isScalar {
                paths.insert("\(place.path)/\(member.name)")
            }
        }
        return paths
    }

    // MARK: Sending

    mutating func mark(_ place: TopicTree.Place, at due: Duration) {
        guard let old = slots[place] else { return }
        let due = min(old.due ?? due, due)
        slots[place]?.due = due
        let deadline = max(due, old.notBefore ?? due)
        nextDeadline = min(nextDeadline ?? deadline, deadline)
    }

    mutating func reckon() {
        var next = [dayEnds, commandsEnd].compactMap { $0 }.min()
        for place in order {
            guard let deadline = slots[place]?.deadline(renewal: renewal(of: place)) else { continue }
            next = min(next ?? deadline, deadline)
        }
        nextDeadline = next
    }

    private func isRenewalDue(_ place: TopicTree.Place, _ slot: Slot, now: Moment) -> Bool {
        guard let renewal = renewal(of: place), let sent = slot.sent else { return false }
        return sent.at + renewal <= now.monotonic
    }

    /// Of what may start or stop something.
    static let decisionRenewal = Duration.seconds(1_200)
    /// In seconds.
    private static let longestExpiry = 7 * 86_400.0

    /// What is not live does not move, and does not expire either.
    private func renewal(of place: TopicTree.Place) -> Duration? {
        switch place.name {
        case .bridgeAvailability: isOnline ? .seconds(60) : nil
        case .bridgeHealth: .seconds(900)
        case .power: isPowerLive ? PowerPace.renewal : nil
        case .battery: isPowerLive ? .seconds(1_200) : nil
        case .carState, .carLevel: isCarCurrent(place) ? Self.carRenewal : nil
        case .cheapNow: isOnline && site.prices?.isCheapNow != nil ? Self.decisionRenewal : nil
        case .planNow: isOnline && site.plan?.day.now != nil ? Self.decisionRenewal : nil
        default: nil
        }
    }

    /// Only what is live, or what somebody may act on, expires; an old picture stands until it
    /// is replaced. A broker whose bridge was killed must not go on saying that it is cheap now.
    private func expiry(of place: TopicTree.Place, _ payload: Payload, now: Moment) -> UInt32? {
        if let member = place.name.spec.expiresWith {
            guard case .document(let members) = payload, let text = members[member]?.stringValue,
                let end = instant(rfc3339: text)
            else { return nil }
            let left = min(max(0, end.timeIntervalSince(now.wall)), Self.longestExpiry)
            return UInt32(left) + TopicSpec.expiryGrace
        }
        let isMoving =
            switch place.name {
            case .bridgeAvailability: isOnline
            case .carState, .carLevel: isCarCurrent(place)
            case .carLastCommand: true
            case .cheapNow, .planNow: renewal(of: place) != nil
            default: isPowerLive
            }
        return isMoving ? place.name.spec.expirySeconds : nil
    }

    private mutating func send(_ payload: Payload, to place: TopicTree.Place, now: Moment) -> [Message] {
        slots[place] = Slot(due: nil, notBefore: nil, sent: (payload, now.monotonic))
        if place.name == .power {
            pace.sent()
            sentPower = site.power.map { ($0, isPowerLive, now.monotonic) }
        }
        let spec = place.name.spec
        let expiry = expiry(of: place, payload, now: now)
        let message = Message(
            tree.topic(place), payload.bytes, qos: spec.qos, retained: spec.isRetained, expirySeconds: expiry)
        return [message] + mirror(payload, of: place, expiry: expiry)
    }

    /// The scalars of a document on topics of their own, for displays and
    /// clients that read no JSON. One that expires is sent with its document,
    /// the others when they changed.
    private mutating func mirror(
        _ payload: Payload, of place: TopicTree.Place, expiry: UInt32?
    ) -> [Message] {
        guard settings.mirrorsValues, case .document(let members) = payload else { return [] }
        let spec = place.name.spec
        var messages: [Message] = []
        for member in spec.members where member.isScalar {
            let value = members[member.name] ?? nil
            let text = value.stringValue ?? value.text
            let path = "\(place.path)/\(member.name)"
            if mirrored[path] == text, expiry == nil { continue }
            mirrored[path] = text
            messages.append(
                Message(
                    "\(tree.root)/\(path)", text, qos: spec.qos, retained: spec.isRetained,
                    expirySeconds: expiry))
        }
        return messages
    }
}
