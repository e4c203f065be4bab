import EnergyModel
import FoundationEssentials

/// Arranging a loadpoint as a ``CarSituation`` says.
extension HouseModel {
    /// Makes the situation true for that loadpoint, now.
    mutating func arrange(_ situation: CarSituation, at index: Int) {
        guard chargers.indices.contains(index) else { return }
        reset(index)
        switch situation {
        case .everyday:
            applyEveryday(to: index)
        case .unplugged:
            chargers[index].unplug(at: at)
        case .assumed, .oldBox:
            plugInFresh(index)
        case .estimated(let soc), .personSet(let soc):
            plugInFresh(index)
            count(from: soc, index)
        case .carLive(let soc):
            plugInFresh(index)
            live(soc, index)
        case .carOld(let soc, let age):
            plugInFresh(index)
            count(from: soc, index)
            let seconds = age.isFinite ? max(0, age) : 0
            chargers[index].report = .old(at: at.addingTimeInterval(-seconds), soc: clamp(soc))
        case .carFlaggedOld(let soc):
            plugInFresh(index)
            count(from: soc, index)
            chargers[index].report = .flagged(at: at.addingTimeInterval(-30), soc: clamp(soc))
        case .late(let shortfallWh):
            plugInFresh(index)
            live(0.3, index)
            forcedShortfallWh[chargers[index].settings.id] = shortfallWh.isFinite ? max(0, shortfallWh) : 0
        case .noGoal:
            plugInFresh(index)
            live(0.5, index)
            chargers[index].schedule = Charger.Schedule()
            chargers[index].target = nil
        case .holding(let powerW):
            plugInFresh(index)
            live(0.5, index)
            chargers[index].hold = Charger.Hold(powerW: powerW.isFinite ? max(0, powerW) : 0, startedAt: at)
        case .replanning:
            plugInFresh(index)
            live(0.5, index)
        case .noPlan:
            plugInFresh(index)
            live(0.5, index)
        case .twoChargers:
            plugInFresh(index)
            live(0.5, index)
        }
        replan("loadpoint_schedule_changed")
        isReplanning = situation == .replanning
        isPlanWithheld = situation == .noPlan
        advance(to: at)
    }

    /// A goal of 80 % every morning at seven, a car that reports and comes and goes.
    mutating func applyEveryday(to index: Int) {
        chargers[index].followsRoutine = true
        chargers[index].report = .live
        giveMorningGoal(index)
        if chargers[index].pluggedIn { chargers[index].confirm(soc: chargers[index].truth) }
    }

    private mutating func reset(_ index: Int) {
        chargers[index].followsRoutine = false
        chargers[index].hold = nil
        chargers[index].boost = nil
        chargers[index].boostStopped = nil
        chargers[index].declined = false
        chargers[index].draw = .asOffered
        chargers[index].surplusOnly = false
        chargers[index].report = .none
        forcedShortfallWh[chargers[index].settings.id] = nil
        isReplanning = false
        isPlanWithheld = false
        giveMorningGoal(index)
    }

    private mutating func giveMorningGoal(_ index: Int) {
        let today = zone.day(of: at)
        let utcSecond = zone.instant(today, minute: 420).timeIntervalSince1970
        let utcMinute = Int((utcSecond / 60).rounded(.down).truncatingRemainder(dividingBy: 1_440))
        chargers[index].schedule = Charger.Schedule(
            soc: 0.8, localMinute: readsLocalMinute ? 420 : nil, utcMinute: utcMinute, recurring: true)
        setTarget(index)
    }

    private mutating func plugInFresh(_ index: Int) {
        chargers[index].unplug(at: at)
        chargers[index].boostStopped = nil
        chargers[index].plugIn()
        chargers[index].truth = 0.45
    }

    private mutating func count(from soc: Double, _ index: Int) {
        chargers[index].truth = clamp(soc)
        chargers[index].confirm(soc: clamp(soc))
    }

    private mutating func live(_ soc: Double, _ index: Int) {
        chargers[index].report = .live
        count(from: soc, index)
    }

    private func clamp(_ soc: Double) -> Double { soc.isFinite ? min(1, max(0, soc)) : 0 }

    /// The box's process starts again: what it had not stored is gone (box-api §B.3).
    ///
    /// - Parameter restoresConfirmed: Whether this box keeps a confirmed level over a restart.
    mutating func forgetLevels(restoresConfirmed: Bool) {
        for index in chargers.indices {
            if let hold = chargers[index].hold, hold.expiresAt != nil { chargers[index].hold = nil }
            chargers[index].stopBoost("restart_lease_invalid", at: at)
            if restoresConfirmed, chargers[index].anchor == .confirmed { continue }
            chargers[index].anchor = .assumed
            chargers[index].anchorSoc = Charger.pluginSoc
            chargers[index].anchorWh = 0
        }
    }
}
