import Ambient
import BoxLink
public import EnergyModel
import FoundationEssentials
import JSONText

/// Takes orders to the box and tells how they fare.
extension BoxSession {
    /// Carries out one order.
    ///
    /// Elements: ``BoxProgress/acknowledged`` at most once, then exactly one of the
    /// two that end it, then the stream finishes. Nothing is sent twice except, on the
    /// same session, the same command under the same id. Whoever stops listening ends
    /// the waiting, not what the box has already been told.
    public func perform(_ order: BoxOrder) -> AsyncStream<BoxProgress> {
        let (stream, input) = AsyncStream.makeStream(of: BoxProgress.self, bufferingPolicy: .unbounded)
        guard orders.running < OrderBook.maxRunning else {
            let reason = BoxRefusalReason(kind: .unavailable, detail: "too many orders at once")
            input.yield(.ended(.refused(reason)))
            input.finish()
            return stream
        }
        orders.running += 1
        // Ended by whoever stops listening, or in `end()`.
        let task = start { session in
            let end = await session.carryOut(order) { input.yield(.acknowledged) }
            await session.orderEnded()
            input.yield(end)
            input.finish()
        }
        input.onTermination = { _ in task.cancel() }
        return stream
    }

    /// Does the box hold what that order asked for? For orders that were cut off.
    ///
    /// Never sends a command. A level may have grown by charging since.
    public func readBack(_ order: BoxOrder) async -> BoxReadBack {
        if case .mode(let key) = order.intent {
            guard machine.stage == .streaming, let mode = siteNow().mode?.current else { return .unknown }
            return mode.key == key ? .matches(.text(mode.key)) : .differs(.text(mode.key))
        }
        guard machine.stage == .streaming, let id = order.loadpoint,
            case .success(let list) = await loadpoints(by: now + CommandTracker.settlesWithin)
        else { return .unknown }
        guard let loadpoint = list.loadpoints.first(where: { $0.id == id }) else { return .differs(nil) }
        let answer = BoxReadBack(order.intent, loadpoint, zone: zone, now: ambient.time.wall)
        if case .matches(let value) = answer { resumeLease(order, loadpoint, value) }
        if let shown = siteNow().cars?.first(where: { $0.id == id })?.loadpoint,
            !shown.holdsTheSame(loadpoint)
        {
            // The order, or somebody else, has changed it: everybody shall see that at once.
            house.commandEnded()
            settle()
        }
        return answer
    }

    /// Runs something that ends by itself, or in `end()`.
    @discardableResult
    func start(_ body: @escaping @Sendable (BoxSession) async -> Void) -> Task<Void, Never> {
        let ticket = orders.ticket()
        let task = Task { [self] in
            await body(self)
            orders.tasks[ticket] = nil
        }
        orders.tasks[ticket] = task
        return task
    }

    /// The household's zone, the box's own word first.
    var zone: HouseholdZone {
        HouseholdZone(boxZone: house.zoneName(tracker.facts), configured: configuredZone)
    }

    private func orderEnded() { orders.running -= 1 }

    // MARK: One order

    private func carryOut(
        _ order: BoxOrder, _ acknowledged: @escaping @Sendable () -> Void
    ) async -> BoxProgress {
        guard now < order.deadline else { return .ended(.expired) }
        if let refusal = preflight(order) { return .ended(.refused(refusal)) }
        guard machine.stage == .streaming else { return .ended(.neverArrived) }
        let until = order.intent.until.map(monotonic)
        let progress: BoxProgress
        if case .goal(let wish) = order.intent {
            progress = await carryOutGoal(wish, order, acknowledged)
        } else {
            progress = await carryOutCommand(order, until: until, acknowledged)
        }
        if case .linkBroke = progress, let until { orders.broke(order.id, endsAt: until) }
        house.commandEnded()
        settle()
        return progress
    }

    /// When that will be by our own clock. Both clocks are read at the same moment, so this
    /// is asked for once, when an order is begun, and kept.
    private func monotonic(_ date: Date) -> Duration {
        now + .seconds(date.timeIntervalSince(ambient.time.wall))
    }

    /// What is known without asking.
    private func preflight(_ order: BoxOrder) -> BoxRefusalReason? {
        if machine.stage == .booting {
            return BoxRefusalReason(kind: .starting, boxCode: Contract.ErrorCode.booting.rawValue)
        }
        guard let facts = tracker.facts else { return nil }
        if facts.role == Contract.Role.viewer.rawValue {
            return BoxRefusalReason(kind: .notAllowed, detail: "this bridge may only look")
        }
        if orders.unsupported(facts).contains(order.intent.kind) {
            return BoxRefusalReason(kind: .unsupported, detail: "box \(facts.build) cannot do it")
        }
        return nil
    }

    private func carryOutCommand(
        _ order: BoxOrder, until: Duration?, _ acknowledged: @escaping @Sendable () -> Void
    ) async -> BoxProgress {
        var fresh: Loadpoint?
        if OrderDraft.needsLoadpoint(order.intent) {
            let arrivesBy = min(now + CommandTracker.arrivesWithin, order.deadline)
            switch await loadpoints(by: arrivesBy) {
            case .success(let list): fresh = list.loadpoints.first { $0.id == order.loadpoint }
            case .failure(let failure): return .ended(failure.outcome(isLate: now >= order.deadline))
            }
            if fresh == nil {
                let detail = "the box has no charger \(order.loadpoint ?? "")"
                return .ended(.refused(BoxRefusalReason(kind: .noCharger, detail: detail)))
            }
        }
        let draft: OrderDraft
        do throws(OrderRefused) {
            draft = try OrderDraft(
                order.intent, loadpoint: order.loadpoint, fresh: fresh, modes: tracker.catalogue.map(\.key),
                remaining: until.map { $0 - now })
        } catch { return .ended(.refused(error.reason)) }
        if draft.op == .loadpointHold, let id = order.loadpoint { endLease(id, .anotherOrder) }
        switch await settle(draft, deadline: order.deadline, acknowledged) {
        case .linkBroke(let wasAcknowledged): return .linkBroke(acknowledged: wasAcknowledged)
        case .ended(let answered):
            let outcome = await besideTheCar(answered, order, draft)
            applied(outcome, order, draft, endsAt: until)
            return .ended(outcome)
        case .acknowledged: return .ended(.unconfirmed)
        }
    }

    /// What a level came to while the car itself says how full it is.
    ///
    /// A box applies such a level and lets the car's next report take its place (box API §C), so what
    /// counts is read once more. When that fails the last good reading has to do.
    private func besideTheCar(
        _ outcome: BoxOutcome, _ order: BoxOrder, _ draft: OrderDraft
    ) async -> BoxOutcome {
        guard case .soc(let asked) = draft.expectation, case .applied = outcome else { return outcome }
        var read: Loadpoint?
        if case .success(let list) = await loadpoints(by: now + CommandTracker.arrivesWithin) {
            read = list.loadpoints.first { $0.id == order.loadpoint }
        } else {
            read = siteNow().cars?.first { $0.id == order.loadpoint }?.loadpoint
        }
        guard let said = read?.socOfLiveCar else { return outcome }
        // Half a percent is as exactly as people are told.
        return abs(said - asked) < 0.005 ? .applied(.number(said)) : .overtaken(.number(said))
    }

    private func applied(_ outcome: BoxOutcome, _ order: BoxOrder, _ draft: OrderDraft, endsAt: Duration?) {
        guard case .applied(let value) = outcome, let id = order.loadpoint else { return }
        switch draft.expectation {
        case .soc(let soc):
            if case .number(let read) = value {
                personSet(loadpoint: id, soc: read)
            } else {
                personSet(loadpoint: id, soc: soc)
            }
        case .held: if let endsAt { beginLease(id, draft, value, endsAt: endsAt) }
        default: break
        }
    }

    // MARK: One command

    /// Sends a command and waits for its end. A conflict is met once with the revision
    /// the box names, because the wish does not depend on what else was changed.
    func settle(
        _ draft: OrderDraft, deadline: Duration, _ acknowledged: @escaping @Sendable () -> Void
    ) async -> BoxProgress {
        guard let build = tracker.facts?.build, var rev = tracker.register.controlRev else {
            return .ended(.neverArrived)
        }
        for attempt in 0...1 {
            guard let message = message(draft, rev: rev, deadline: deadline) else {
                return .ended(now < deadline ? .neverArrived : .expired)
            }
            switch await send(message, acknowledged) {
            case .linkBroke(let wasAcknowledged): return .linkBroke(acknowledged: wasAcknowledged)
            case .neverArrived: return .ended(.neverArrived)
            case .unconfirmed: return .ended(.unconfirmed)
            case .settled(let result):
                if let refusal = result.refusal {
                    if attempt == 0, let fresh = freshRevision(after: rev, refusal) {
                        rev = fresh
                        continue
                    }
                    if refusal.isUnknownOperation { learned(lacks: draft.op, build: build) }
                }
                return .ended(draft.outcome(of: result))
            }
        }
        return .ended(.unconfirmed)
    }

    private func freshRevision(after sent: UInt64, _ refusal: BoxRefusal) -> UInt64? {
        guard refusal.code == Contract.ErrorCode.conflict.rawValue else { return nil }
        if let actual = refusal.args["actual"]?.intValue.flatMap({ UInt64(exactly: $0) }) { return actual }
        return tracker.register.controlRev.flatMap { $0 != sent ? $0 : nil }
    }

    /// `nil` when it is too late, the box's uptime is not known, or it would not fit a frame.
    ///
    /// The box must not do it after we called it not delivered: its own deadline is
    /// never later than ours for a receipt.
    private func message(_ draft: OrderDraft, rev: UInt64, deadline: Duration) -> CommandMessage? {
        let remaining = min(deadline - now, CommandTracker.arrivesWithin).wholeMilliseconds
        guard remaining > 0, machine.stage == .streaming, let uptimeMs = tracker.uptimeMs(at: now) else {
            return nil
        }
        let (notValidAfterMs, overflow) = uptimeMs.addingReportingOverflow(remaining)
        let message = CommandMessage(
            commandID: CommandID.make(at: ambient.time.wall), operation: draft.op.rawValue, args: draft.args,
            notValidAfterMs: notValidAfterMs, rev: rev)
        let size = Envelope(type: CommandMessage.type, body: message.body).encoded().count
        return overflow || size > 512 - Frame.headerLength ? nil : message
    }

    /// The waiter first, then the command.
    private func send(
        _ message: CommandMessage, _ acknowledged: @escaping @Sendable () -> Void
    ) async -> CommandTracker.End {
        let ticket = orders.ticket()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (end: CheckedContinuation<CommandTracker.End, Never>) in
                guard !Task.isCancelled, machine.stage == .streaming, !orders.commands.isFull else {
                    return end.resume(returning: .neverArrived)
                }
                orders.waiters[ticket] = OrderBook.Waiter(end: end, acknowledged: acknowledged)
                perform(orders.commands.submitted(ticket, message, at: now))
                settle()
            }
        } onCancel: {
            // One hop into the actor; ends with it.
            Task { await self.withdrawCommand(ticket) }
        }
    }

    private func withdrawCommand(_ ticket: OrderBook.Ticket) {
        perform(orders.commands.withdrawn(ticket))
        settle()
    }

    // MARK: What the wire says

    func commandAcknowledged(_ id: String) {
        if let actions = orders.commands.acknowledged(id) { return perform(actions) }
        ambient.log.info("a receipt for a command that has ended: \(id)")
    }

    func commandSettled(_ result: CommandResultMessage) {
        if let actions = orders.commands.settled(result) { return perform(actions) }
        ambient.log.notice("a late answer to a command that has ended: \(result.stateText)")
    }

    /// The session is gone.
    func loseCommands() { perform(orders.commands.linkLost()) }

    func perform(_ actions: [CommandTable.Action]) {
        for action in actions {
            switch action {
            case .send(let message): send(Envelope(type: CommandMessage.type, body: message.body))
            case .acknowledged(let ticket): orders.waiters[ticket]?.acknowledged()
            case .finish(let ticket, let end):
                orders.waiters.removeValue(forKey: ticket)?.end.resume(returning: end)
            }
        }
    }

    func ordersTimerFired() {
        perform(orders.commands.timerFired(at: now))
        renewDueLeases()
    }

    /// Ends everything that runs, with the session.
    func endOrders() {
        orders.leases = [:]
        loseCommands()
        for task in orders.tasks.values { task.cancel() }
    }

    // MARK: What the box lacks

    private func learned(lacks op: Contract.Op, build: String) {
        guard orders.learned(lacks: op, build: build) else { return }
        ambient.log.notice("box \(build) cannot do \(op.rawValue)")
        guard let memory, var document = orders.document.objectValue else { return }
        document["box"] = .string(boxName)
        memory.save(OrderBook.memoryName, .object(document))
    }

    static func recall(_ memory: (any SessionMemory)?, of box: String, into orders: inout OrderBook) {
        guard let kept = memory?.load(OrderBook.memoryName), kept["box"]?.stringValue == box else { return }
        orders.recall(kept)
    }

    /// Adds to the site what is known from orders.
    func addOrders(_ site: inout SiteState) {
        endLeasesSeenGone(site.cars ?? [])
        site.unsupported = orders.unsupported(tracker.facts)
        site.leases = orders.leases.mapValues { ambient.time.wall + ($0.endsAt - now) / .seconds(1) }
        site.takenHolds = orders.taken
        site.holdEnds = orders.holdEnds(site.cars ?? [], at: now, wall: ambient.time.wall)
    }
}

extension Intent {
    /// When a timed charging shall end.
    var until: Date? {
        if case .control(.chargeNow(_, let until)) = self { until } else { nil }
    }
}
