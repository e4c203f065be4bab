import Ambient
import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText

/// Keeps timed charging alive, see ``Lease``.
extension BoxSession {
    /// The box holds; whatever lasts longer than that one hold becomes a lease.
    func beginLease(_ id: String, _ draft: OrderDraft, _ value: BoxOutcome.BoxValue?, endsAt: Duration) {
        guard case .held(let powerW, let stepsW) = draft.expectation, let seconds = draft.holdSeconds else {
            return
        }
        var heldW = powerW
        if case .number(let read) = value { heldW = read }
        let lease = Lease(
            number: orders.ticket(), loadpoint: id, powerW: powerW,
            phaseMode: draft.args["phase_mode"]?.textValue, stepsW: stepsW, heldW: heldW,
            holdSeconds: seconds, endsAt: endsAt, at: now, wall: ambient.time.wall)
        guard let lease else { return }
        orders.leases[id] = lease
        ambient.log.info("charging at \(id) is renewed until its end")
        lookAtLease(id, lease.number)
    }

    /// An order of this process that broke turns out to be done: its time goes on.
    func resumeLease(_ order: BoxOrder, _ loadpoint: Loadpoint, _ value: BoxOutcome.BoxValue?) {
        guard let endsAt = orders.takeBroken(order.id), endsAt > now, orders.leases[loadpoint.id] == nil,
            let draft = try? OrderDraft(
                order.intent, loadpoint: loadpoint.id, fresh: loadpoint, remaining: endsAt - now)
        else { return }
        beginLease(loadpoint.id, draft, value, endsAt: endsAt)
    }

    func endLease(_ id: String, _ reason: Lease.Reason, number: UInt64? = nil) {
        guard let lease = orders.leases[id], number ?? lease.number == lease.number else { return }
        orders.leases[id] = nil
        ambient.log.info("charging at \(id) is not renewed any more: \(reason.rawValue)")
    }

    func endLeases(_ reason: Lease.Reason) {
        for id in orders.leases.keys.sorted() { endLease(id, reason) }
    }

    /// A reading that was taken after the hold was placed may already show its end.
    func endLeasesSeenGone(_ cars: [CarState]) {
        guard !orders.leases.isEmpty else { return }
        for car in cars where car.isCurrent {
            guard let lease = orders.leases[car.loadpoint.id], car.readAt > lease.heldSince,
                let reason = lease.stranger(car.loadpoint)
            else { continue }
            endLease(lease.loadpoint, reason)
        }
    }

    func renewDueLeases() {
        for lease in orders.leases.values where now >= lease.dueAt {
            guard orders.renewing.insert(lease.loadpoint).inserted else { continue }
            start { session in
                await session.renew(lease)
                await session.renewalEnded(lease.loadpoint)
            }
        }
    }

    private func renewalEnded(_ id: String) {
        orders.renewing.remove(id)
        settle()
    }

    /// A hold that is new: only the box can say whether it ends by itself (box API §D).
    func askWhenHoldsEnd() {
        guard machine.stage == .streaming, table.isOpen, let cars = published?.cars else { return }
        for (id, number) in orders.holdsSeen(cars) {
            start { session in
                guard let detail = await session.hold(of: id) else { return }
                await session.heard(id, number, detail)
            }
        }
    }

    private func heard(_ id: String, _ number: OrderBook.Ticket, _ detail: ManualHoldDetail) {
        orders.holdEnds(id, number, detail)
        settle()
    }

    /// The hold as it is untouched, to recognise it later.
    private func lookAtLease(_ id: String, _ number: UInt64) {
        start { session in
            guard let detail = await session.hold(of: id) else { return }
            await session.looked(id, number, detail)
        }
    }

    private func looked(_ id: String, _ number: UInt64, _ detail: ManualHoldDetail) {
        guard orders.leases[id]?.number == number else { return }
        if let reason = orders.leases[id]?.looked(detail) { endLease(id, reason, number: number) }
        settle()
    }

    private func renew(_ lease: Lease) async {
        let id = lease.loadpoint
        let detail = await hold(of: id)
        // Another order may have come while the box was asked.
        guard let current = orders.leases[id], current.number == lease.number else { return }
        guard let detail else { return renewalFailed(lease, mayHaveRenewed: false) }
        let seconds: Int
        switch current.verdict(detail, at: now) {
        case .end(let reason): return endLease(id, reason)
        case .renew(let wanted): seconds = wanted
        }
        let draft = OrderDraft(
            lease: id, powerW: lease.powerW, phaseMode: lease.phaseMode, stepsW: lease.stepsW,
            seconds: seconds)
        let sentAt = now
        let progress = await settle(draft, deadline: sentAt + .seconds(30)) {}
        house.commandEnded()
        guard orders.leases[id]?.number == lease.number else { return }
        switch progress {
        case .ended(.applied(let value)):
            var heldW = lease.powerW
            if case .number(let read) = value { heldW = read }
            let end = orders.leases[id]?.renewed(
                heldW: heldW, seconds: seconds, at: sentAt, wall: ambient.time.wall)
            if let end { return endLease(id, end) }
            lookAtLease(id, lease.number)
        case .ended(.overtaken): endLease(id, .changed)
        case .ended(.refused(let reason)) where reason.kind.lasts: endLease(id, .refused)
        case .ended(.refused), .ended(.expired): renewalFailed(lease, mayHaveRenewed: false)
        case .ended(.neverArrived), .ended(.unconfirmed), .linkBroke, .acknowledged:
            renewalFailed(lease, mayHaveRenewed: true)
        }
    }

    private func renewalFailed(_ lease: Lease, mayHaveRenewed: Bool) {
        guard orders.leases[lease.loadpoint]?.number == lease.number else { return }
        let end = orders.leases[lease.loadpoint]?.failed(mayHaveRenewed: mayHaveRenewed, at: now)
        if let end { endLease(lease.loadpoint, end) }
    }

    /// What is held there now; `nil` when the box cannot be asked.
    private func hold(of id: String) async -> ManualHoldDetail? {
        guard !id.contains("/") else { return nil }
        let limit = now + CommandTracker.settlesWithin
        let request = APIRequest(
            path: "/api/loadpoints/\(id)/manual_hold", maxBytes: 1 << 16, priority: .chargers, notAfter: limit
        )
        guard case .success(let answer) = await ask(request, by: limit), answer.status == 200,
            let json = try? JSONValue(parsing: answer.body)
        else { return nil }
        return ManualHoldDetail(json)
    }
}

extension BoxRefusalReason.Kind {
    /// The very same order would meet the same answer a minute later: there is no use in
    /// trying it once more.
    var lasts: Bool {
        switch self {
        case .notPluggedIn, .noCharger, .notAllowed, .needsConsent, .unsupported, .outOfRange, .precondition:
            true
        case .dispatchBlocked, .conflict, .unavailable, .starting: false
        }
    }
}
