import EnergyModel
import FoundationEssentials

/// The house itself: moves in steps of at most a minute, keeps the balance, and
/// does the same for the same seed. Knows nothing of boxes and wires.
struct HouseModel: Sendable {
    let settings: SimulatedHouseSettings
    let noise: HouseNoise
    let sun: Sun
    let load: HouseLoad
    /// Changed by hand only in play; the planner looks at the same ones.
    var prices: DayAhead { planner.prices }
    var planner: HousePlanner

    private(set) var at: Date
    private(set) var flows = HouseFlows()
    var ledger = EnergyLedger()
    var batterySoc: Double?
    var mode = "planner_passive_arbitrage"
    var chargers: [Charger]
    private(set) var plan: HousePlan?
    /// Grows by one with each plan.
    private(set) var planCount = 0
    /// What is to be missing at the deadline, whatever the plan could do.
    var forcedShortfallWh: [String: Double] = [:]
    var isReplanning = false
    /// No plan is served, and none is followed.
    var isPlanWithheld = false
    /// Whether schedules are read on the household's clock (new boxes).
    var readsLocalMinute = false

    var zone: Zone { settings.zone }

    /// A house that already has some days behind it, so that "today" and the
    /// day before have numbers.
    init(settings: SimulatedHouseSettings, now: Date) {
        self.settings = settings
        noise = HouseNoise(seed: settings.seed)
        sun = Sun(
            latitude: settings.latitude, longitude: settings.longitude, peakW: settings.pvPeakW,
            noise: noise)
        load = HouseLoad(noise: noise)
        planner = HousePlanner(
            settings: settings, sun: sun, load: load,
            prices: DayAhead(zone: settings.zone, noise: noise))
        batterySoc = settings.battery?.soc
        chargers = settings.chargers.map(Charger.init(settings:))
        at = settings.zone.start(of: settings.zone.day(of: now).adding(days: -1))
        for index in chargers.indices { applyEveryday(to: index) }
        replan("scheduled")
        advance(to: now, step: 300)
        batterySoc = settings.battery?.soc
        replan("scheduled")
        settle(seconds: 0)
    }

    /// Lets time pass until `instant`. More than four days at once are not lived
    /// through, only the last four; when the clock was set back, the house goes
    /// on from the earlier time as it is.
    ///
    /// - Parameter step: The longest step, in seconds; steps end on its multiples. Long steps
    ///   also make for fewer plans.
    mutating func advance(to instant: Date, step: Double = 60) {
        if instant.timeIntervalSince(at) > 4 * 86_400 { at = instant.addingTimeInterval(-4 * 86_400) }
        if at.timeIntervalSince(instant) > 5 {
            at = instant
            for index in chargers.indices { setTarget(index) }
            replan("scheduled")
        }
        while at < instant {
            let second = at.timeIntervalSince1970
            let mark = (second / step).rounded(.down) * step + step
            let next = min(instant, Date(timeIntervalSince1970: mark))
            settle(seconds: next.timeIntervalSince(at))
            at = next
            if let plan, at.timeIntervalSince(plan.generatedAt) >= max(900, step * 12), !isPlanWithheld,
                !isReplanning
            {
                replan("scheduled")
            }
        }
        settle(seconds: 0)
    }

    mutating func replan(_ trigger: String) {
        planCount += 1
        refreshTargets()
        let cars = chargers.compactMap { charger -> HousePlanner.Car? in
            guard charger.pluggedIn, let target = charger.target, target.time > at, target.soc > 0 else {
                return nil
            }
            let goal = min(target.soc, charger.carLimit ?? 1)
            let forced = forcedShortfallWh[charger.settings.id] ?? 0
            return HousePlanner.Car(
                id: charger.settings.id, soc: charger.workingSoc,
                goal: max(0, goal - forced / charger.settings.carCapacityWh), deadline: target.time,
                maxW: charger.settings.maxW, capacityWh: charger.settings.carCapacityWh)
        }
        var made = planner.plan(
            now: at, mode: mode, batterySoc: batterySoc, cars: cars, trigger: trigger, number: planCount)
        for car in cars { made.shortfallWh[car.id, default: 0] += forcedShortfallWh[car.id] ?? 0 }
        plan = made
    }

    func charger(_ id: String) -> Int? { chargers.firstIndex { $0.settings.id == id } }

    /// Deadlines that have passed make room for the next one of the schedule.
    mutating func refreshTargets() {
        for index in chargers.indices where chargers[index].schedule.recurring {
            if let target = chargers[index].target, target.time > at { continue }
            setTarget(index)
        }
    }

    /// Takes the schedule's next deadline as the goal in force.
    mutating func setTarget(_ index: Int) {
        let charger = chargers[index]
        guard
            let time = charger.nextDeadline(
                after: at, zone: zone, readsLocalMinute: readsLocalMinute)
        else { return }
        let goal = charger.schedule.finishAtLimit ? charger.carLimit ?? 1 : charger.schedule.soc
        chargers[index].target = Charger.Target(soc: goal, time: time)
    }

    // MARK: One step

    /// Works out the flows that hold from `at` on, and lets them act for `seconds`.
    private mutating func settle(seconds: Double) {
        let minute = zone.minuteOfDay(of: at)
        var now = HouseFlows()
        now.loadW = load.powerW(at: at, minuteOfDay: minute)
        now.pvW = -sun.outputW(at: at)
        for index in chargers.indices {
            follow(routine: index)
            expire(index)
            let spare = -(now.loadW + now.pvW + now.totalEVW)
            chargers[index].updatedAt = at
            let power = chargePower(index, spareW: spare)
            if power != chargers[index].powerW { chargers[index].commandedSince = at }
            chargers[index].powerW = power
            now.evW[chargers[index].settings.id] = power
        }
        now.batteryW = batteryPower(now, seconds: max(seconds, 1))
        flows = now
        guard seconds > 0 else { return }
        if let battery = settings.battery, let soc = batterySoc {
            batterySoc = min(1, max(0, soc + now.batteryW * seconds / 3_600 / battery.capacityWh))
        }
        for index in chargers.indices { chargers[index].take(seconds: seconds) }
        ledger.add(now, at: at, seconds: seconds)
    }

    private func batteryPower(_ now: HouseFlows, seconds: Double) -> Double {
        guard let battery = settings.battery, let soc = batterySoc else { return 0 }
        let price = prices.price(
            at: Date(timeIntervalSince1970: (at.timeIntervalSince1970 / 900).rounded(.down) * 900))
        let mean = plan?.meanTotal ?? price.totalMinor
        let boosted = chargers.contains { $0.boost.map { soc > $0.minBatterySoc } ?? false }
        let house = now.loadW + now.pvW
        let wish = BatteryWish.power(
            mode: boosted ? "self_consumption" : mode, netW: boosted ? house + now.totalEVW : house,
            carW: boosted ? 0 : now.totalEVW, price: price.totalMinor, mean: mean, battery: battery)
        let hours = seconds / 3_600
        let most = min(battery.maxW, max(0, 1 - soc) * battery.capacityWh / hours)
        let least = -min(battery.maxW, max(0, soc - battery.floorSoc) * battery.capacityWh / hours)
        return min(most, max(least, wish))
    }

    private func chargePower(_ index: Int, spareW: Double) -> Double {
        let charger = chargers[index]
        guard charger.pluggedIn, charger.truth < min(1, charger.carLimit ?? 1), !charger.declined,
            charger.draw != .nothing
        else { return 0 }
        var wish = 0.0
        if let hold = charger.hold {
            wish = hold.powerW
        } else if charger.draw == .all {
            wish = charger.settings.maxW
        } else if charger.boost != nil {
            wish = charger.settings.maxW
        } else if charger.surplusOnly {
            wish = spareW
        } else if !isPlanWithheld, let planned = plan?.slot(at: at)?.carW[charger.settings.id],
            charger.workingSoc < charger.target?.soc ?? 0
        {
            wish = planned > 100 ? max(planned, charger.settings.minW) : 0
        }
        // Below six amperes per phase a car takes nothing at all.
        return wish < charger.settings.minW ? 0 : min(wish, charger.settings.maxW)
    }

    private mutating func expire(_ index: Int) {
        if let end = chargers[index].hold?.expiresAt, end <= at { chargers[index].hold = nil }
        if !chargers[index].pluggedIn { chargers[index].hold = nil }
        if let boost = chargers[index].boost {
            if boost.expiresAt <= at {
                chargers[index].stopBoost("expired", at: at)
            } else if let soc = batterySoc, soc <= boost.minBatterySoc {
                chargers[index].stopBoost("battery_reserve_reached", at: at)
            } else if let goal = boost.targetSoc, chargers[index].workingSoc >= goal {
                chargers[index].stopBoost("ev_target_reached", at: at)
            }
        }
    }

    /// To work and back, or out at the weekend.
    private mutating func follow(routine index: Int) {
        guard chargers[index].followsRoutine else { return }
        let day = zone.day(of: at)
        let minute = zone.minuteOfDay(of: at)
        let place = Int64(day.number) * 16 + Int64(index)
        let weekend = day.weekday >= 5
        let leaving = (weekend ? 640 : 455) + Int(noise.roll(.leaving, place) * 30)
        let coming = (weekend ? 850 : 1_030) + Int(noise.roll(.coming, place) * 50)
        let away = (leaving..<coming).contains(minute)
        if away, chargers[index].pluggedIn {
            chargers[index].unplug(at: at)
        } else if !away, !chargers[index].pluggedIn {
            let trip = 0.12 + 0.2 * noise.roll(.trip, place)
            chargers[index].truth = max(0.12, chargers[index].truth - trip)
            chargers[index].plugIn()
            if chargers[index].isLive { chargers[index].confirm(soc: chargers[index].truth) }
            replan("loadpoint_plugged_in")
        }
    }
}
