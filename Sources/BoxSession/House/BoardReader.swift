import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText

/// Reads prices and energy for a reason, and makes of them and of the plan what
/// may be shown (box API §H, I, J, M). Pure: the session carries the questions.
///
/// Prices come from `GET /api/prices`, because `price.get` rounds to whole minor
/// units: half an öre in a total, and half a cent where cents are all there is.
/// One answer covers two days, so the exact form costs one small call a day.
/// A box or role without the passthrough is asked by `price.get`, and so is one that
/// does not answer about prices that are missing; see ``RouteBelief``.
struct BoardReader {
    struct Settings {
        var rules = PriceRules()
        var energyStart = EnergyStart.zero
        /// Whether prices and energy are read at all; a visitor has no use for them.
        var isWanted = false
    }
    /// One question that goes out now.
    struct Ask: Equatable {
        var kind: AskBook.Kind
        var why: String
        var question: RequestTable.Question

        /// What is asked, for the log.
        var what: String {
            if case .api(let request) = question { return request.path }
            return "price.get"
        }
    }

    private let settings: Settings
    private(set) var book = AskBook()
    private var prices: PriceTracker
    private var plan = PlanTracker()
    private var energy: EnergyTracker

    private var isNewSession = true
    private var capabilities: Set<String> = []
    private var isOpen = false
    private var zone = Zone.utc
    /// What the prices we have are about, see ``name(at:)``.
    private var priceName: String?
    /// The box says that it has no prices.
    private var hasNoPrices = false
    /// `/api/prices`; without it the session is asked.
    private var exactPrices = RouteBelief()
    /// `/api/energy/history`; a box that keeps no ledger is asked for its day instead.
    private var ledger = RouteBelief()
    /// `/api/energy/daily`; without both nothing is asked about energy.
    private var days = RouteBelief()
    /// The question about energy that is under way is about days.
    private var asksForDays = false
    private var fiveMinutes: Int64?

    /// The box closes its buckets on the five minutes; asked a little later, not
    /// together with everybody else.
    static let energyOffset = 30.0
    /// Between two questions while there is more to catch up with.
    static let catchUpPause = Duration.seconds(10)
    /// From this hour on tomorrow's prices are late when they are not there.
    static let publicationMinute = 14 * 60

    init(settings: Settings) {
        self.settings = settings
        prices = PriceTracker(rules: settings.rules)
        energy = EnergyTracker(start: settings.energyStart)
    }

    // MARK: What happened

    mutating func sessionStarted() {
        isNewSession = true
        isOpen = false
    }

    mutating func restarted() {
        book.restarted()
        exactPrices = RouteBelief()
        ledger = RouteBelief()
        days = RouteBelief()
    }

    /// Looks at time and stream for reasons to ask, after every event.
    mutating func observed(_ stream: HouseReader.Stream, zone: Zone, at now: Duration, wall: Date) {
        isOpen = stream.isOpen && settings.isWanted
        self.zone = zone
        guard isOpen else { return }
        capabilities = Set(stream.site.box?.capabilities ?? [])
        if isNewSession {
            isNewSession = false
            book.reconnected(at: now)
            reconsider(nil, "the session is another one")
        }
        reconsider(now, "the box was not asked so for a while")
        let name = name(at: wall)
        if let priceName, priceName != name { book.changed(.prices, "\(name) is another than \(priceName)") }
        priceName = name
        let index = Self.fiveMinutes(wall)
        if let last = fiveMinutes, last != index { book.changed(.energy, "the five minutes turned") }
        fiveMinutes = index
    }

    /// Asks anew what routes that are believed missing would tell.
    ///
    /// - Parameter now: Only those whose time has come; `nil` for all.
    private mutating func reconsider(_ now: Duration?, _ why: String) {
        func isDue(_ route: RouteBelief) -> Bool {
            guard let at = route.triedAgainAt else { return false }
            return now.map { $0 >= at } ?? true
        }
        if isDue(exactPrices), exactPrices.reconsider() { book.changed(.prices, why) }
        if isDue(ledger), ledger.reconsider() { book.changed(.energy, why) }
        if isDue(days), days.reconsider() { book.changed(.energy, why) }
    }

    /// What an answer about prices is about: zone, day, and how much of it there
    /// is. While something is missing that should be there, each quarter is
    /// another name; once it is there the name stays.
    private func name(at wall: Date) -> String {
        let today = zone.day(of: wall)
        let day = "\(zone.name) \(today.iso)"
        if hasNoPrices { return day }
        return areMissing(at: wall) ? "\(day) \(Self.index(wall, 900))" : day
    }

    /// Prices of today's rest, or of tomorrow when they are late, are not there.
    private func areMissing(at wall: Date) -> Bool {
        let midnight = zone.start(of: zone.day(of: wall).adding(days: 1))
        let isTodayKnown = prices.prices?.coverage(of: min(wall, midnight)..<midnight).isComplete ?? false
        let isTomorrowKnown = prices.prices?.isTomorrowKnown(zone: zone, now: wall) ?? false
        return !isTodayKnown || zone.minuteOfDay(of: wall) >= Self.publicationMinute && !isTomorrowKnown
    }

    private static func index(_ wall: Date, _ seconds: Double) -> Int64 {
        Int64(clamping: wall.timeIntervalSince1970 / seconds)
    }
    private static func fiveMinutes(_ wall: Date) -> Int64 {
        index(wall.addingTimeInterval(-energyOffset), EnergyLedger.bucketS)
    }

    // MARK: Questions

    private func has(_ capability: Contract.Capability) -> Bool { capabilities.contains(capability.rawValue) }

    private func wanted(at now: Duration) -> Set<AskBook.Kind> {
        guard isOpen else { return [] }
        var wanted: Set<AskBook.Kind> = []
        if has(.apiPassthrough) || has(.spotPrice) { wanted.insert(.prices) }
        if has(.apiPassthrough), !(ledger.isMissing(at: now) && days.isMissing(at: now)) {
            wanted.insert(.energy)
        }
        return wanted
    }

    /// What to ask now.
    mutating func take(at now: Duration, wall: Date) -> [Ask] {
        book.take(wanted(at: now), at: now).compactMap { ask in
            guard let question = question(ask.kind, at: now, wall: wall) else {
                book.answered(ask.kind, at: now)
                return nil
            }
            return Ask(kind: ask.kind, why: ask.why, question: question)
        }
    }

    private mutating func question(
        _ kind: AskBook.Kind, at now: Duration, wall: Date
    ) -> RequestTable.Question? {
        switch kind {
        case .chargers, .plan: return nil
        case .prices:
            let today = zone.day(of: wall)
            let from = Self.ms(zone.start(of: today))
            let to = Self.ms(zone.start(of: today.adding(days: 2)))
            if !has(.apiPassthrough) || exactPrices.isMissing(at: now), has(.spotPrice) {
                return .price(PriceGetMessage(fromMs: from, toMs: to))
            }
            return .api(
                APIRequest(
                    path: "/api/prices", query: ["since_ms": "\(from)", "until_ms": "\(to)"],
                    maxBytes: 1 << 20, priority: .prices))
        case .energy:
            guard let stretch = energy.nextAsk(zone: zone, now: wall) else { return nil }
            asksForDays = ledger.isMissing(at: now)
            if asksForDays {
                return .api(
                    APIRequest(path: "/api/energy/daily", query: ["days": "1"], priority: .history))
            }
            return .api(
                APIRequest(
                    path: "/api/energy/history",
                    query: [
                        "since": "\(Self.ms(stretch.lowerBound))", "until": "\(Self.ms(stretch.upperBound))",
                        "bucket": "5m",
                    ], priority: .history))
        }
    }

    private static func ms(_ date: Date) -> Int64 { Int64(clamping: date.timeIntervalSince1970 * 1_000) }

    static func subject(_ kind: AskBook.Kind) -> String { kind == .energy ? "the energy" : "the prices" }

    /// Takes an answer; anything but a good one leaves the last data standing, marked old.
    ///
    /// - Returns: What was wrong with it, for the log; `nil` for a good one.
    mutating func finished(
        _ kind: AskBook.Kind, _ outcome: Result<RequestTable.Answer, BoxRequestError>, at now: Duration,
        wall: Date
    ) -> String? {
        switch outcome {
        case .failure(.linkLost), .failure(.notConnected), .failure(.cancelled):
            book.lost(kind)
            return nil
        case .failure(.refused(let refusal)) where refusal.code == Contract.ErrorCode.unknownOp.rawValue:
            // A route that a box lacks is refused so, and never a 404 (FTW wire §8).
            return failed(kind, "the box has no such route", isRoute: true, at: now, wall: wall)
        case .failure(let error):
            return failed(kind, error.description, isRoute: false, at: now, wall: wall)
        case .success(.price(let message)): take(Prices(message), wall: wall)
        case .success(.api(let answer)):
            if let fault = take(kind, answer, wall: wall) {
                return failed(kind, fault, isRoute: answer.status == 404, at: now, wall: wall)
            }
        case .success(.plan): break
        }
        book.answered(kind, at: now)
        if kind == .energy, !asksForDays, energy.isBehind(now: wall) {
            book.changes(.energy, at: now + Self.catchUpPause, "there is more to catch up with")
        }
        return nil
    }

    /// No usable answer: the same question again after a pause, or another way once it is
    /// believed that this one leads nowhere. Nothing coarser is taken for good.
    ///
    /// - Parameter isRoute: The answer was that there is no such route.
    /// - Returns: What was wrong, unless another way is taken.
    private mutating func failed(
        _ kind: AskBook.Kind, _ fault: String, isRoute: Bool, at now: Duration, wall: Date
    ) -> String? {
        switch kind {
        case .prices where has(.apiPassthrough) && has(.spotPrice) && !exactPrices.isMissing(at: now):
            var isMissing = isRoute && exactPrices.missed(at: now)
            // Prices to the öre are better than none.
            if !isRoute, exactPrices.failed(), areMissing(at: wall) {
                exactPrices.leave(at: now)
                isMissing = true
            }
            guard isMissing else { break }
            book.answered(kind, at: now)
            book.changed(kind, "the passthrough gives none: \(fault)")
            return nil
        case .energy where isRoute && !asksForDays:
            guard ledger.missed(at: now) else { break }
            book.answered(kind, at: now)
            book.changed(kind, "the box keeps no ledger")
            return nil
        case .energy where isRoute:
            guard days.missed(at: now) else { break }
            book.answered(kind, at: now)
            return nil
        default: break
        }
        book.failed(kind, at: now)
        return fault
    }

    private mutating func take(_ kind: AskBook.Kind, _ answer: APIAnswer, wall: Date) -> String? {
        guard answer.status == 200 else { return "the box answered \(answer.status)" }
        guard let document = try? JSONValue(parsing: answer.body) else { return "not a document" }
        switch kind {
        case .chargers, .plan: break
        case .prices:
            let isOff = document["enabled"]?.boolValue == false
            let read = Prices(document)
            guard isOff || read != nil else { return "not such a document" }
            exactPrices.answered()
            take(read, wall: wall)
        case .energy where asksForDays:
            guard let days = EnergyDays(document) else { return "not such a document" }
            self.days.answered()
            energy.add(days)
        case .energy:
            guard let history = EnergyHistory(document) else { return "not such a document" }
            ledger.answered()
            energy.add(history, zone: zone, now: wall)
            isEnergyUnsaved = true
        }
        return nil
    }

    private mutating func take(_ read: Prices?, wall: Date) {
        hasNoPrices = read == nil
        prices.read(read)
        arePricesUnsaved = true
        // Prices that came change the name, and are what it asks for.
        priceName = name(at: wall)
    }

    /// When something is due by time alone: a question, or another picture.
    func nextDeadline(at now: Duration, wall: Date) -> Duration? {
        guard settings.isWanted else { return nil }
        var moments: [Date] = [prices.nextChange, plan.nextChange].compactMap { $0 }
        let wanted = wanted(at: now)
        if wanted.contains(.energy) {
            moments.append(
                Date(
                    timeIntervalSince1970: Double(Self.fiveMinutes(wall) + 1) * EnergyLedger.bucketS
                        + Self.energyOffset))
        }
        var next = book.nextDeadline(wanted)
        var times = moments.map { now + .seconds(max(0, $0.timeIntervalSince(wall))) }
        if isOpen { times += [exactPrices, ledger, days].compactMap(\.triedAgainAt) }
        for at in times { next = next.map { min($0, at) } ?? at }
        return next
    }

    // MARK: The picture

    /// Adds the boards to a site that has its cars.
    mutating func show(in site: inout SiteState, plan answer: PlanAnswer?, isPlanOld: Bool, wall: Date) {
        guard settings.isWanted else { return }
        site.prices = prices.board(zone: zone, isOld: book.hasFailed(.prices), now: wall)
        let deadlines = (site.cars ?? []).compactMap { car in
            car.goal?.nextDeadline.map { PlanBoard.Deadline(loadpoint: car.loadpoint.id, at: $0) }
        }
        site.plan = plan.board(answer, deadlines: deadlines, isOld: isPlanOld, now: wall)
        site.energy = energy.board(zone: zone, now: wall)
    }

    // MARK: What is kept over a restart

    static let pricesName = "prices"
    static let energyName = "energy"
    private var arePricesUnsaved = false
    private var isEnergyUnsaved = false
    private var savedWindows: [Double: CheapestWindow] = [:]

    /// - Returns: The names of what could not be used.
    mutating func remember(_ load: (String) -> JSONValue?) -> [String] {
        guard settings.isWanted else { return [] }
        if let kept = load(Self.pricesName) { prices.remember(kept) }
        savedWindows = prices.chosen
        guard let kept = load(Self.energyName) else { return [] }
        return energy.remember(kept) ? [] : [Self.energyName]
    }

    /// What is to be saved now, before it is shown: a total that was shown must
    /// be what the next run begins with.
    mutating func unsaved() -> [(name: String, value: JSONValue)] {
        var values: [(name: String, value: JSONValue)] = []
        if arePricesUnsaved || prices.chosen != savedWindows {
            values.append((Self.pricesName, prices.json ?? [:]))
        }
        savedWindows = prices.chosen
        arePricesUnsaved = false
        if isEnergyUnsaved, let json = energy.json { values.append((Self.energyName, json)) }
        isEnergyUnsaved = false
        return values
    }
}

extension Prices {
    /// `nil` never: a message without slots says that nothing is published.
    init(_ message: PriceMessage) {
        self.init(
            area: message.zone.isEmpty ? nil : message.zone,
            currency: message.currency.isEmpty ? nil : message.currency,
            slots: message.slots.compactMap { slot in
                guard slot.durationMs > 0 else { return nil }
                let start = Date(timeIntervalSince1970: Double(slot.startMs) / 1_000)
                return PriceSlot(
                    start: start, end: start.addingTimeInterval(Double(slot.durationMs) / 1_000),
                    totalMinor: Double(slot.totalMinor), spotMinor: Double(slot.spotMinor))
            })
    }
}
