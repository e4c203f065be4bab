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
/// A box or role without the passthrough is asked by `price.get`.
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
    /// `/api/prices` was refused; in this run of the box the session is asked instead.
    private var usesMessage = false
    /// This box keeps no ledger: it is asked for its day instead.
    private var hasNoLedger = false
    /// Nor does it tell of days.
    private var hasNoDays = false
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
        usesMessage = false
        hasNoLedger = false
        hasNoDays = false
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
        }
        let name = name(at: wall)
        if let priceName, priceName != name { book.changed(.prices, "\(name) is another than \(priceName)") }
        priceName = name
        let index = Self.fiveMinutes(wall)
        if let last = fiveMinutes, last != index { book.changed(.energy, "the five minutes turned") }
        fiveMinutes = index
    }

    /// What an answer about prices is about: zone, day, and how much of it there
    /// is. While something is missing that should be there, each quarter is
    /// another name; once it is there the name stays.
    private func name(at wall: Date) -> String {
        let today = zone.day(of: wall)
        let day = "\(zone.name) \(today.iso)"
        if hasNoPrices { return day }
        let midnight = zone.start(of: today.adding(days: 1))
        let isTodayKnown = prices.prices?.coverage(of: min(wall, midnight)..<midnight).isComplete ?? false
        let isTomorrowKnown = prices.prices?.isTomorrowKnown(zone: zone, now: wall) ?? false
        let isLate = zone.minuteOfDay(of: wall) >= Self.publicationMinute && !isTomorrowKnown
        guard isTodayKnown, !isLate else { return "\(day) \(Self.index(wall, 900))" }
        return day
    }

    private static func index(_ wall: Date, _ seconds: Double) -> Int64 {
        Int64(clamping: wall.timeIntervalSince1970 / seconds)
    }
    private static func fiveMinutes(_ wall: Date) -> Int64 {
        index(wall.addingTimeInterval(-energyOffset), EnergyLedger.bucketS)
    }

    // MARK: Questions

    private func has(_ capability: Contract.Capability) -> Bool { capabilities.contains(capability.rawValue) }

    private var wanted: Set<AskBook.Kind> {
        guard isOpen else { return [] }
        var wanted: Set<AskBook.Kind> = []
        if has(.apiPassthrough) || has(.spotPrice) { wanted.insert(.prices) }
        if has(.apiPassthrough), !hasNoDays { wanted.insert(.energy) }
        return wanted
    }

    /// What to ask now.
    mutating func take(at now: Duration, wall: Date) -> [Ask] {
        book.take(wanted, at: now).compactMap { ask in
            guard let question = question(ask.kind, wall: wall) else {
                book.answered(ask.kind, at: now)
                return nil
            }
            return Ask(kind: ask.kind, why: ask.why, question: question)
        }
    }

    private mutating func question(_ kind: AskBook.Kind, wall: Date) -> RequestTable.Question? {
        switch kind {
        case .chargers, .plan: return nil
        case .prices:
            let today = zone.day(of: wall)
            let from = Self.ms(zone.start(of: today))
            let to = Self.ms(zone.start(of: today.adding(days: 2)))
            if !has(.apiPassthrough) || usesMessage, has(.spotPrice) {
                return .price(PriceGetMessage(fromMs: from, toMs: to))
            }
            return .api(
                APIRequest(
                    path: "/api/prices", query: ["since_ms": "\(from)", "until_ms": "\(to)"],
                    maxBytes: 1 << 20, priority: .prices))
        case .energy:
            guard let stretch = energy.nextAsk(zone: zone, now: wall) else { return nil }
            if hasNoLedger {
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
            return lacksRoute(kind, "the box has no such route", at: now)
        case .failure(let error):
            book.failed(kind, at: now)
            return error.description
        case .success(.price(let message)): take(Prices(message), wall: wall)
        case .success(.api(let answer)):
            if kind == .energy, answer.status == 404 {
                return lacksRoute(kind, "the box answered 404", at: now)
            }
            if let fault = take(kind, answer, wall: wall) {
                guard kind == .prices else {
                    book.failed(kind, at: now)
                    return fault
                }
                return lacksRoute(kind, fault, at: now)
            }
        case .success(.plan): break
        }
        book.answered(kind, at: now)
        if kind == .energy, !hasNoLedger, energy.isBehind(now: wall) {
            book.changes(.energy, at: now + Self.catchUpPause, "there is more to catch up with")
        }
        return nil
    }

    /// The way that was tried leads nowhere: takes the other one, until the box restarts.
    ///
    /// - Returns: What was wrong, when there is no other way.
    private mutating func lacksRoute(_ kind: AskBook.Kind, _ fault: String, at now: Duration) -> String? {
        switch kind {
        case .prices where has(.spotPrice) && !usesMessage:
            usesMessage = true
            book.answered(kind, at: now)
            book.changed(kind, "the passthrough gives none: \(fault)")
        case .energy where !hasNoLedger:
            hasNoLedger = true
            book.answered(kind, at: now)
            book.changed(kind, "the box keeps no ledger")
        case .energy:
            hasNoDays = true
            book.answered(kind, at: now)
        default:
            book.failed(kind, at: now)
            return fault
        }
        return nil
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
            take(read, wall: wall)
        case .energy where hasNoLedger:
            guard let days = EnergyDays(document) else { return "not such a document" }
            energy.add(days)
        case .energy:
            guard let history = EnergyHistory(document) else { return "not such a document" }
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
        let wanted = wanted
        if wanted.contains(.energy) {
            moments.append(
                Date(
                    timeIntervalSince1970: Double(Self.fiveMinutes(wall) + 1) * EnergyLedger.bucketS
                        + Self.energyOffset))
        }
        var next = book.nextDeadline(wanted)
        for moment in moments {
            let at = now + .seconds(max(0, moment.timeIntervalSince(wall)))
            next = next.map { min($0, at) } ?? at
        }
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
