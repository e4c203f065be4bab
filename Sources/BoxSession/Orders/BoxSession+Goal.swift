import Ambient
import EnergyModel
import FoundationEssentials
import JSONText

/// The goal: a fresh read, one write of the whole, and a read to see what stands
/// (box API §E).
extension BoxSession {
    func carryOutGoal(
        _ wish: Intent.GoalWish, _ order: BoxOrder, _ acknowledged: @escaping @Sendable () -> Void
    ) async -> BoxProgress {
        let started = now
        guard let id = order.loadpoint, !id.isEmpty else {
            return .ended(.refused(OrderRefused(.noCharger, "no charger is named").reason))
        }
        // A slash would name another route: such an id cannot be addressed (FTW wire §8.1).
        let path = "/api/loadpoints/\(id)/schedule"
        guard !id.contains("/"), APIRequest(method: "PUT", path: path).invalidField == nil else {
            let refused = OrderRefused(.unsupported, "the box cannot be told of a charger named so")
            return .ended(.refused(refused.reason))
        }
        let arrivesBy = min(started + CommandTracker.arrivesWithin, order.deadline)
        let settlesBy = started + CommandTracker.settlesWithin
        let list: LoadpointList
        switch await loadpoints(by: arrivesBy) {
        case .success(let read): list = read
        case .failure(let failure): return .ended(failure.outcome(isLate: now >= order.deadline))
        }
        guard let loadpoint = list.loadpoints.first(where: { $0.id == id }) else {
            return .ended(.refused(OrderRefused(.noCharger, "the box has no charger \(id)").reason))
        }
        let zone = self.zone
        let wall = ambient.time.wall
        let edit: GoalEdit
        do throws(OrderRefused) {
            edit = try GoalEdit(wish, into: loadpoint.schedule, zone: zone, now: wall)
        } catch { return .ended(.refused(error.reason)) }
        var request = APIRequest(
            method: "PUT", path: path, body: edit.body.bytes, priority: .person,
            notAfter: min(started + CommandTracker.arrivesWithin, order.deadline))
        var answer = await ask(request, by: settlesBy)
        if case .failure(.refused(let refusal)) = answer, RefusalTable.wantsStepUp(refusal), goalConsent {
            request.stepUp = true
            request.notAfter = min(settlesBy, order.deadline)
            answer = await ask(request, by: settlesBy)
        }
        switch answer {
        case .success(let answer):
            acknowledged()
            if let reason = RefusalTable.reason(status: answer.status, error: answer.errorText) {
                return .ended(.refused(reason))
            }
        case .failure(.malformedAnswer), .failure(.tooLarge): acknowledged()
        case .failure(.timedOut): return .ended(.unconfirmed)
        case .failure(.linkLost), .failure(.cancelled): return .linkBroke(acknowledged: false)
        case .failure(let error):
            return .ended(ReadFailure.request(error).outcome(isLate: now >= order.deadline))
        }
        guard case .success(let after) = await loadpoints(by: settlesBy),
            let held = after.loadpoints.first(where: { $0.id == id })
        else { return .ended(.unconfirmed) }
        let value = BoxOutcome.BoxValue.text(GoalEdit.text(held.schedule, zone: zone, now: wall))
        return .ended(edit.matches(held.schedule) ? .applied(value) : .overtaken(value))
    }
}

extension BoxReadBack {
    /// Compares a loadpoint read just now with what an order asked for.
    init(_ intent: Intent, _ loadpoint: Loadpoint, zone: HouseholdZone, now: Date) {
        let value: BoxOutcome.BoxValue?
        let isSo: Bool
        switch intent {
        case .level(.exactly(let soc)):
            guard let current = loadpoint.currentSoc, loadpoint.pluggedIn != false else {
                self = .differs(nil)
                return
            }
            value = .number(current)
            // It may have charged a little since. What is further off is more likely what was there before.
            isSo = (-0.003...0.006).contains(current - soc)
        // Nobody knows from where it was to count.
        case .level(.step):
            self = .unknown
            return
        case .control(let wish):
            guard let hold = loadpoint.hold else {
                self = .unknown
                return
            }
            value = hold.value
            isSo = hold.isWhat(wish, loadpoint)
        case .goal(let wish):
            value = .text(GoalEdit.text(loadpoint.schedule, zone: zone, now: now))
            isSo = GoalEdit.holds(wish, loadpoint.schedule, zone: zone, now: now)
        case .surplusOnly(let on):
            guard let held = loadpoint.surplusOnly else {
                self = .unknown
                return
            }
            value = .flag(held)
            isSo = held == on
        case .boost(let wish):
            guard let active = loadpoint.boost?.active else {
                self = .unknown
                return
            }
            value = .flag(active)
            isSo = active == (wish != .cancel)
        // The stream tells the mode, not the loadpoint.
        case .mode:
            self = .unknown
            return
        }
        self = isSo ? .matches(value) : .differs(value)
    }
}

extension Loadpoint {
    /// Whatever an order can change is the same, a little charging apart.
    func holdsTheSame(_ other: Loadpoint) -> Bool {
        let level = abs((currentSoc ?? -1) - (other.currentSoc ?? -1))
        return hold == other.hold && schedule == other.schedule && surplusOnly == other.surplusOnly
            && boost?.active == other.boost?.active && pluggedIn == other.pluggedIn && level < 0.005
    }
}

extension Loadpoint.Hold {
    /// As it is answered back: `plan`, `paused`, or the held watts.
    var value: BoxOutcome.BoxValue? {
        switch self {
        case .none: .text("plan")
        case .paused, .needsChoice: .text("paused")
        case .chargeNow(let powerW): powerW.map { .number($0) } ?? .text("charge_now")
        }
    }

    func isWhat(_ wish: Intent.ControlWish, _ loadpoint: Loadpoint) -> Bool {
        switch (wish, self) {
        case (.plan, .none), (.pause, .paused): true
        case (.chargeNow(let powerW, _), .chargeNow(let heldW)):
            heldW.map {
                OrderDraft.isHeld(
                    $0, asked: powerW ?? loadpoint.fullPower.powerW, stepsW: loadpoint.stepsW ?? [])
            } ?? true
        default: false
        }
    }
}
