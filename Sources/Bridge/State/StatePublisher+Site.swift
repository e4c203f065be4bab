import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes

/// What a new state means for each topic.
extension StatePublisher {
    /// The box's own zone, else the one it was set up with.
    static func household(settings: BridgeSettings, box: BoxFacts?) -> HouseholdZone {
        HouseholdZone(boxZone: box?.zone, configured: settings.zone)
    }

    mutating func take(_ new: SiteState, now: Moment) {
        let old = site
        let wasLive = isPowerLive
        site = new
        site.box = new.box ?? old.box
        let isUp = new.link.isUp
        // Before anything rearranges the topics: cars that were not read yet are still there.
        site.cars = (new.cars ?? old.cars)?.map { isUp && new.cars != nil ? $0 : $0.asOld }
        isPowerLive = isUp && new.power != nil
        if !isPowerLive {
            // What is not from the box just now stays what was last known of it.
            site.power = old.power
            site.battery = old.battery
            site.mode = new.mode ?? old.mode
            if new.sources.isEmpty { site.sources = old.sources }
        }
        if !isUp { site.control = Control(answer: .unknown, since: new.link.since) }
        if site.box != old.box {
            structure += 1
            takeBox(now: now)
        }
        if link(site.link) != link(old.link) {
            mark(.init(.boxLink), at: now.monotonic)
            mark(.init(.boxAvailability), at: now.monotonic)
        }
        if differ(site.sources, old.sources) || isUp != old.link.isUp { takeSources(since: old, now: now) }
        takePower(wasLive: wasLive, now: now)
        if site.battery?.soc != old.battery?.soc || isPowerLive != wasLive { takeBattery(wasLive, now: now) }
        if site.control != old.control { takeControl(since: old.control, now: now) }
        takePrices(since: old, now: now)
        if site.mode?.catalogue != old.mode?.catalogue { structure += 1 }
        if site.mode != old.mode || isPowerLive != wasLive { mark(.init(.mode), at: now.monotonic) }
        takeCars(new, since: old, now: now)
    }

    /// True if there is more to it than that sources answered again.
    private func differ(_ new: [Source], _ old: [Source]) -> Bool {
        guard new.count == old.count else { return true }
        return zip(new, old).contains { a, b in
            a.state != b.state || a.isHealthy != b.isHealthy || a.id != b.id || a.name != b.name
                || a.roles != b.roles || a.staleAfter != b.staleAfter
        }
    }

    /// A link without what changes with every frame.
    private func link(_ link: Link) -> Link {
        var link = link
        link.lastFrameAt = nil
        return link
    }

    private mutating func takeBox(now: Moment) {
        mark(.init(.bridgeInfo), at: now.monotonic)
        let household = Self.household(settings: settings, box: site.box)
        guard household != documents.household else { return }
        documents = SiteDocuments(household: household, language: settings.language)
        // Every time that is shown is now written otherwise.
        for place in order { mark(place, at: now.monotonic) }
        day = nil
    }

    // MARK: Sources

    /// Makes room for every source and car there is. Two ids never share a level.
    mutating func arrange() {
        carLevels = Dictionary(
            (site.cars ?? []).map { ($0.id, TopicLevel($0.id)) }, uniquingKeysWith: { first, _ in first })
        levels = Dictionary(
            site.sources.map { ($0.id, TopicLevel($0.id)) }, uniquingKeysWith: { first, _ in first })
        let sources = site.sources.compactMap { levels[$0.id] }
        let places: [TopicTree.Place] =
            [.init(.bridgeInfo), .init(.bridgeHealth), .init(.boxLink)]
            + sources.map { .init(.source, $0) }
            + [.init(.power), .init(.battery), .init(.control), .init(.mode), .init(.siteTakes)] + carPlaces
            + pricePlaces
            + sources.map { .init(.sourceAvailability, $0) }
            + [.init(.boxAvailability), .init(.bridgeAvailability)]
        var seen: Set<TopicTree.Place> = []
        order = places.filter { seen.insert($0).inserted }
        slots = slots.filter { seen.contains($0.key) }
        for place in order where slots[place] == nil { slots[place] = Slot() }
        let known = Set(mirrored.keys)
        let possible = order.flatMap { place in
            place.name.spec.members.map { "\(place.path)/\($0.name)" }
        }
        for path in known.subtracting(possible) { mirrored[path] = nil }
        shown = shown.filter { levels[$0.key] != nil }
    }

    private mutating func takeSources(since old: SiteState, now: Moment) {
        if !site.sources.elementsEqual(
            old.sources, by: { $0.id == $1.id && $0.name == $1.name && $0.roles == $1.roles })
        {
            structure += 1
            arrange()
        }
        let before = Dictionary(old.sources.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for source in site.sources {
            guard let level = levels[source.id] else { continue }
            let place = TopicTree.Place(.source, level)
            mark(.init(.sourceAvailability, level), at: now.monotonic)
            let shownBefore = shown[source.id]
            let state = stateToShow(source)
            shown[source.id] = state
            guard let known = before[source.id], let sent = slots[place]?.sent else {
                mark(place, at: now.monotonic)
                continue
            }
            var quiet = known
            quiet.lastAnswered = source.lastAnswered
            quiet.state = source.state
            let isWorse = state != shownBefore && !isFresh(state)
            if quiet != source || isWorse || site.link.isUp != old.link.isUp {
                mark(place, at: now.monotonic)
            } else if state != shownBefore {
                // A source at the edge between live and lagging crosses it all the time.
                mark(place, at: max(now.monotonic, sent.at + Source.healthHold))
            }
        }
    }

    /// A failing driver alternates between a fault and something better with
    /// every beat. Until it is healthy its last fault is what is shown.
    private func stateToShow(_ source: Source) -> Source.State {
        if source.isHealthy || !isFresh(source.state) { return source.state }
        if let before = shown[source.id], !isFresh(before) { return before }
        return source.state
    }

    private func isFresh(_ state: Source.State) -> Bool { state == .live || state == .lagging }

    // MARK: The house

    private mutating func takePower(wasLive: Bool, now: Moment) {
        guard let power = site.power else { return }
        guard let sent = sentPower, sent.isLive == isPowerLive else {
            mark(.init(.power), at: now.monotonic)
            return
        }
        guard isPowerLive,
            let due = pace.due(power, after: sent.power, sentAt: sent.at, now: now.monotonic)
        else { return }
        mark(.init(.power), at: due)
    }

    private mutating func takeBattery(_ wasLive: Bool, now: Moment) {
        let place = TopicTree.Place(.battery)
        let isKnown = site.battery?.soc != nil
        guard isPowerLive == wasLive, let sent = slots[place]?.sent,
            case .document(let members) = sent.payload, isKnown == (members["level"]?.isNull == false)
        else {
            mark(place, at: now.monotonic)
            return
        }
        // A level creeps; what it gains in ten seconds is one message.
        mark(place, at: max(now.monotonic, sent.at + .seconds(10)))
    }

    /// Worse news at once, better news when it has been so for a while.
    private mutating func takeControl(since old: Control, now: Moment) {
        let place = TopicTree.Place(.control)
        let isBetter = rank(site.control) > rank(old)
        if !isBetter { controlWorsenedAt = now.monotonic }
        guard isBetter, old.answer != .unknown, let worsened = controlWorsenedAt else {
            mark(place, at: now.monotonic)
            return
        }
        mark(place, at: max(now.monotonic, worsened + Source.healthHold))
    }

    /// Higher is better; of two equal answers, the one with fewer silent sources.
    private func rank(_ control: Control) -> Int {
        let base =
            switch control.answer {
            case .unknown: 0
            case .no: 1
            case .partly: 2
            case .yes: 3
            }
        return base * 1_000 - min(999, control.blockedBy.count + control.quiet.count)
    }

    // MARK: What each topic carries

    func payload(of place: TopicTree.Place, now: Moment) -> Payload {
        switch place.name {
        case .bridgeAvailability: return presence(isOnline)
        case .bridgeInfo: return .document(info())
        case .bridgeHealth: return .document(documents.health(health, at: now.wall))
        case .boxAvailability: return presence(site.link.isUp)
        case .boxLink: return .document(documents.link(site.link, now: now.wall))
        case .power: return .document(documents.power(site.power, isLive: isPowerLive))
        case .battery: return .document(documents.battery(site.battery, isLive: isPowerLive))
        case .control:
            return .document(
                documents.control(
                    site.control, sources: site.sources, lastWordAt: site.link.lastFrameAt, now: now.wall))
        case .mode: return .document(documents.mode(site.mode, isLive: isPowerLive))
        case .siteTakes: return takes([.mode])
        case .source, .sourceAvailability:
            guard let source = site.sources.first(where: { levels[$0.id] == place.level }) else {
                return .plain("offline")
            }
            let isHealthy = source.isHealthy && site.link.isUp
            if place.name == .sourceAvailability { return presence(isHealthy) }
            return .document(
                documents.source(
                    source, shown: shown[source.id] ?? source.state, isHealthy: isHealthy, at: now.wall))
        case .priceNow, .priceSeries, .cheapest, .cheapNow, .planNow, .planSeries, .energy:
            return pricePayload(of: place, now: now) ?? .plain("")
        case .carState, .carLevel, .carControl, .carHold, .carGoal, .carReady, .carTextEn, .carTextSv,
            .carTakes, .carCommands, .carLastCommand:
            return carPayload(of: place, now: now)
        case .bridgePing, .bridgeRepublish, .bridgeReload, .result, .carLevelSet, .carLevelAdjust,
            .carControlSet,
            .carGoalSet, .carSurplusOnlySet, .carBoostSet, .modeSet:
            return .plain("")
        }
    }

    func presence(_ isThere: Bool) -> Payload { .plain(isThere ? "online" : "offline") }

    private func info() -> [String: JSONValue] {
        let box = site.box
        return [
            "version": .string(settings.version), "topics_version": .int(Int64(TopicTree.version)),
            "site": .string(settings.siteID), "site_name": .string(settings.siteName),
            "zone": .string(documents.zone.name), "language": .string(settings.language.rawValue),
            "mqtt_version": documents.text(session?.version.rawValue),
            "box_id": documents.text(box?.id), "box_build": documents.text(box?.build),
            "role": documents.text(box?.role),
            "capabilities": .array((box?.capabilities ?? []).map(JSONValue.string)),
            "instance": .string(run.instance), "started": documents.time(run.started),
        ]
    }
}
