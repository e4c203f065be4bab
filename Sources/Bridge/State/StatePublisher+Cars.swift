import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes

/// What a new state means for the cars' topics.
extension StatePublisher {
    static let carNames: [TopicName] = [
        .carState, .carLevel, .carControl, .carHold, .carGoal, .carReady, .carTextEn, .carTextSv,
        .carTakes, .carCommands,
    ]
    /// A car that speaks every minute and says the same is dated anew this often.
    static let levelDating = Duration.seconds(600)
    static let carRenewal = Duration.seconds(1_200)
    /// Twice the longest interval at which cars are read, in seconds.
    static let heldLimit = 1_200.0

    /// Takes in the cars of `new`; to be called when everything else of it was.
    mutating func takeCars(_ new: SiteState, since old: SiteState, now: Moment) {
        let isUp = new.link.isUp
        let cars = site.cars ?? []
        let toldBefore = told
        told = isUp && new.cars != nil ? Set(cars.filter { isTold($0, by: new.link) }.map(\.id)) : []
        for car in cars where car.isCurrent {
            readHold(of: car)
            var reading = ShownCar.Reading(loadpoint: car.loadpoint, at: car.readAt)
            reading.loadpoint.sessionWh = steady(reading.loadpoint, after: goodCars[car.id]?.loadpoint)
            goodCars[car.id] = reading
        }
        if !cars.elementsEqual(
            old.cars ?? [], by: { $0.id == $1.id && $0.loadpoint.driverName == $1.loadpoint.driverName })
        {
            structure += 1
            arrange()
            let ids = Set(cars.map(\.id))
            goodCars = goodCars.filter { ids.contains($0.key) }
            holds = holds.filter { ids.contains($0.key) }
        }
        if new.link.state != old.link.state || site.box?.role != old.box?.role
            || site.unsupported != old.unsupported
        {
            markCars([.carTakes, .carCommands], now: now)
            mark(.init(.siteTakes), at: now.monotonic)
        }
        if site.holdEnds != old.holdEnds { markCars([.carHold], now: now) }
        guard site.cars != old.cars || told != toldBefore || isUp != old.link.isUp else { return }
        markCars(Self.carNames, now: now)
    }

    /// What a box holds (goal, orders, limits) stands while it answers, even if the charger is silent.
    private func isTold(_ car: CarState, by link: Link) -> Bool {
        let age = (link.lastFrameAt ?? car.readAt).timeIntervalSince(car.readAt)
        return car.isCurrent || (car.readAt >= link.since && age <= Self.heldLimit)
    }

    /// A counter may be corrected by a little and must not look as if it had started over.
    private func steady(_ loadpoint: Loadpoint, after before: Loadpoint?) -> Double? {
        guard let energy = loadpoint.sessionWh, loadpoint.pluggedIn == true, before?.pluggedIn == true,
            let shown = before?.sessionWh, energy < shown, energy > shown * 0.9
        else { return loadpoint.sessionWh }
        return shown
    }

    private mutating func markCars(_ names: [TopicName], now: Moment) {
        for level in carLevels.values {
            for name in names { mark(.init(name, level), at: now.monotonic) }
        }
    }

    /// Levels of the loadpoints, in the box's order and each once.
    var carPlaces: [TopicTree.Place] {
        (site.cars ?? []).flatMap { car in
            carLevels[car.id].map { level in
                (Self.carNames + (lastCommands[car.id] == nil ? [] : [.carLastCommand])).map {
                    TopicTree.Place($0, level)
                }
            } ?? []
        }
    }

    /// The car behind a place; `nil` when it has gone or the place is no car's.
    func shownCar(_ place: TopicTree.Place) -> ShownCar? {
        guard let level = place.level, let car = site.cars?.first(where: { carLevels[$0.id] == level }) else {
            return nil
        }
        let isUp = site.link.isUp
        return ShownCar(
            car: car, good: goodCars[car.id], isLinkUp: isUp, isTold: told.contains(car.id),
            askedBy: holds[car.id]?.origin?.word, holdEndsAt: site.holdEnds[car.id])
    }

    func isCarCurrent(_ place: TopicTree.Place) -> Bool { shownCar(place)?.car.isCurrent ?? false }

    func carPayload(of place: TopicTree.Place, now: Moment) -> Payload {
        guard let shown = shownCar(place) else { return .plain("") }
        if place.name == .carCommands { return presence(takesCommands) }
        if place.name == .carTakes { return takes(Self.carCommandNames) }
        let last = lastCommand(of: shown.car.id, now: now.wall)
        if place.name == .carLastCommand, let report = last {
            return .document(documents.result(report, path: tree.path(of: report.topic)))
        }
        switch place.name {
        case .carState: return .document(documents.carState(shown))
        case .carLevel: return .document(documents.carLevel(shown))
        case .carControl: return .plain(documents.carControl(shown))
        case .carHold: return .document(documents.carHold(shown))
        case .carGoal: return .document(documents.carGoal(shown))
        case .carReady: return .document(documents.carReady(shown, now: now.wall))
        case .carTextEn: return .document(texts(shown, .en, last, now: now))
        case .carTextSv: return .document(texts(shown, .sv, last, now: now))
        default: return .plain("")
        }
    }

    private func texts(
        _ shown: ShownCar, _ language: Language, _ last: StageReport?, now: Moment
    ) -> [String: JSONValue] {
        let receipt = documents.receipt(last, path: last.flatMap { tree.path(of: $0.topic) }, language)
        return documents.carTexts(shown, language, receipt: receipt, now: now.wall)
    }

    /// The same level, but of a later time than the topic says.
    func isDatingDue(_ place: TopicTree.Place, _ payload: Payload, _ slot: Slot, now: Moment) -> Bool {
        guard place.name == .carLevel, let sent = slot.sent, sent.at + Self.levelDating <= now.monotonic,
            case .document(let new) = payload, case .document(let old) = sent.payload
        else { return false }
        return new["at"] != old["at"]
    }

    /// The cars for the disk: of each the last good reading, even if the charger is silent now.
    var carsToRemember: [CarState]? {
        site.cars?.map { car in
            var car = car
            if let good = goodCars[car.id] {
                (car.loadpoint, car.readAt, car.isCurrent) = (good.loadpoint, good.at, true)
            } else {
                car.isCurrent = false
            }
            return car
        }
    }

    /// The site for the disk.
    var pictured: SiteState {
        var state = site
        state.cars = carsToRemember
        return state
    }

    /// Cars of an earlier run.
    mutating func recall(_ cars: [CarState]) {
        for car in cars where car.isCurrent {
            goodCars[car.id] = ShownCar.Reading(loadpoint: car.loadpoint, at: car.readAt)
        }
        site.cars = cars.map(\.asOld)
        arrange()
    }

    // MARK: Words that depend on the day

    /// "Tomorrow" becomes "today" at midnight, whatever else happens.
    mutating func turnDay(now: Moment) {
        let zone = documents.zone
        let today = zone.day(of: now.wall)
        let midnight = zone.bounds(of: today).upperBound
        dayEnds = now.monotonic + .seconds(max(1, midnight.timeIntervalSince(now.wall)))
        guard let before = day, before != today else {
            day = today
            return
        }
        day = today
        markCars([.carTextEn, .carTextSv], now: now)
        mark(.init(.control), at: now.monotonic)
        for hours in settings.cheapHours {
            mark(.init(.cheapest, Self.level(hours: hours)), at: now.monotonic)
        }
    }
}
