import Ambient
import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText

/// Carries out what the house's reader decides.
extension BoxSession {
    /// Reads the chargers now, however young the last answer is; the cars follow
    /// in ``states``.
    public func refreshCars() {
        house.refresh()
        settle()
    }

    /// Somebody starts looking: a broker that is back, a home automation that
    /// started. What is older than its time to live is read again.
    public func someoneLooks() {
        house.someoneLooks(at: now)
        settle()
    }

    /// Changes how often the chargers are read although nothing happened; holds from
    /// the next read on.
    public func setReadInterval(_ interval: Duration) { house.setReadInterval(interval) }

    /// Remembers that a person entered this level and the box confirmed it: the box
    /// itself cannot tell it from its own estimate later.
    ///
    /// - Parameters:
    ///   - loadpoint: Its id at the box.
    ///   - soc: 0 to 1; anything else is ignored.
    public func personSet(loadpoint: String, soc: Double) {
        house.personSet(
            loadpoint: loadpoint, soc: soc, boxStartedAt: tracker.boxStartedAt, wall: ambient.time.wall)
        rememberHouse()
        settle()
    }

    /// Adds the cars to the site and looks for reasons to ask.
    func lookAtHouse(_ site: inout SiteState, wall: Date) {
        house.observed(
            HouseReader.Stream(
                site: site, controlRev: tracker.register.controlRev,
                isOpen: machine.stage == .streaming && table.isOpen),
            at: now, wall: wall)
        if let zone = house.unsavedZone(site.box) {
            memory?.save(
                Self.zoneName, ["box": .string(boxName), "zone": zone.map(JSONValue.string) ?? .null])
        }
        site.cars = house.cars(site, boxStartedAt: tracker.boxStartedAt, wall: wall)
    }

    func askAboutHouse() {
        rememberHouse()
        for ask in house.take(at: now, wall: ambient.time.wall) {
            let request = HouseReader.request(ask.kind)
            ambient.log.debug("asking for \(request.path): \(ask.why)")
            submit(.api(request), .house(ask.kind))
        }
    }

    func finishHouse(_ kind: AskBook.Kind, _ outcome: Outcome) {
        let answer = outcome.flatMap { answer -> Result<APIAnswer, BoxRequestError> in
            if case .api(let answer) = answer { .success(answer) } else { .failure(.malformedAnswer) }
        }
        let hadFailed = house.book.hasFailed(kind)
        let fault = house.finished(kind, answer, at: now, wall: ambient.time.wall)
        let path = HouseReader.request(kind).path
        if let fault {
            let line = "\(path) could not be read: \(fault)"
            if hadFailed { ambient.log.debug(line) } else { ambient.log.warning(line) }
        } else if hadFailed, !house.book.hasFailed(kind) {
            ambient.log.notice("\(path) can be read again")
        }
        for field in house.newFaults() { ambient.log.warning("\(path): \(field) is not usable") }
    }

    // MARK: Over a restart

    private static let memoryName = "car_levels"
    private static let zoneName = "box_zone"

    /// Another box's cars are not ours, even if their chargers have the same names.
    static func recall(
        _ memory: (any SessionMemory)?, of box: String, into house: inout HouseReader
    ) {
        if let kept = memory?.load(zoneName), kept["box"]?.stringValue == box {
            house.remember(zone: kept["zone"]?.stringValue)
        }
        guard let kept = memory?.load(memoryName), kept["box"]?.stringValue == box, let cars = kept["cars"]
        else { return }
        house.remember(cars)
    }

    func rememberHouse(isLast: Bool = false) {
        guard let memory, let cars = house.unsaved(at: now, isLast: isLast) else { return }
        memory.save(Self.memoryName, ["box": .string(boxName), "cars": cars])
    }
}
