import BoxLink
import FoundationEssentials

/// `cmd`: the order of checks, and what the commands do (FTW wire §7).
extension SimulatedBox {
    /// One operation the box knows.
    struct Operation {
        var scope: String
        var needsMeter: Bool
    }

    /// What has to be true of a field for a command to run.
    struct Guard {
        var field: Int64
        var comparison: String
        var value: Double
    }

    struct Order {
        var id: String
        var op: String
        var args: CBORMap
    }

    func operation(_ name: String) -> Operation? {
        switch name {
        case "site.mode.set": Operation(scope: "ftw.mode.write", needsMeter: false)
        case "loadpoint.hold", "loadpoint.boost":
            vintage.hasLoadpoints ? Operation(scope: "ftw.dispatch.write", needsMeter: true) : nil
        case "loadpoint.soc.set", "loadpoint.surplus_only.set":
            vintage.hasCarLevels ? Operation(scope: "ftw.dispatch.write", needsMeter: false) : nil
        default: nil
        }
    }

    func command(_ body: BodyReader, _ session: PhoneSession) throws {
        let order = Order(
            id: try body.text("cmdId") ?? "", op: try body.text("op") ?? "",
            args: try body["args"].map { value in
                guard let map = value.mapValue else { throw UnreadableBody() }
                return map
            } ?? CBORMap())
        let notValidAfter = try body.int("notValidAfterMs") ?? 0
        let expect = try body.map("expect")
        let rev = try expect?.unsigned("rev") ?? 0
        let guards = try Self.guards(expect)
        guard !script.swallowsCommands else { return }
        guard !order.id.isEmpty else {
            return refuse("E_UNKNOWN_OP", ["t": "cmd", "missing": "cmdId"], nil, session)
        }
        let fate = script.commandFates.isEmpty ? nil : script.commandFates.removeFirst()
        guard fate != .lost else { return }
        if let known = session.commands[order.id] {
            note(order, "repeated", nil)
            control("cmd.ack", known.ack, to: session)
            let isLate = session.lateResults.contains { $0.id == order.id }
            if let result = known.result, !isLate { control("cmd.result", result, to: session) }
            return
        }
        do throws(Refusal) {
            if case .refused(let code) = fate { throw Refusal(code, ["op": .text(order.op)]) }
            try check(order, notValidAfter: notValidAfter, rev: rev, guards: guards, session)
        } catch {
            let isExpired = error.code == "E_CMD_EXPIRED"
            finish(order, state: isExpired ? "expired" : "rejected", refusal: error, session)
            if error.code == "E_GRANT_REVOKED" { terminate(session) }
            return
        }
        accept(order, fate, session)
    }

    private static func guards(_ expect: BodyReader?) throws -> [Guard] {
        try (expect?.array("guards") ?? []).map { item in
            let item = try BodyReader(item)
            return Guard(
                field: try item.unsigned("fid") ?? 0, comparison: try item.text("op") ?? "",
                value: try item.number("value") ?? 0)
        }
    }

    /// Checks 4 to 11 of FTW wire §7.2, in that order. None of them is remembered.
    private func check(
        _ order: Order, notValidAfter: Int64, rev: Int64, guards: [Guard], _ session: PhoneSession
    ) throws(Refusal) {
        let now = observe()
        guard notValidAfter > uptimeMs else {
            throw Refusal(
                "E_CMD_EXPIRED", ["notValidAfterMs": .int(notValidAfter), "uptimeMs": .int(uptimeMs)])
        }
        guard let operation = operation(order.op) else {
            throw Refusal("E_UNKNOWN_OP", ["op": .text(order.op)])
        }
        guard let role = enrolment.role(of: session.clientKey) else { throw Refusal("E_GRANT_REVOKED") }
        guard BoxVintage.scopes(of: role).contains(operation.scope) || !vintage.hasRoles else {
            throw Refusal(
                "E_SCOPE_DENIED",
                [
                    "op": .text(order.op), "needScope": .text(operation.scope), "role": .text(role.rawValue),
                ])
        }
        guard rev == controlRev else {
            throw Refusal("E_CONFLICT", ["expected": .int(rev), "actual": .int(controlRev)])
        }
        if operation.needsMeter, !now.blockedBy.isEmpty {
            throw Refusal("E_UNAVAILABLE", ["dispatchBlockedBy": Telemetry.body(now.blockedBy)])
        }
        for item in guards where !Self.holds(item, now.fields) {
            throw Refusal(
                "E_PRECONDITION",
                [
                    "fid": .int(item.field), "op": .text(item.comparison), "value": .float(item.value),
                    "guards": .array(guards.map { .int($0.field) }),
                ])
        }
        try checkArguments(order)
    }

    private static func holds(_ item: Guard, _ fields: [Int: Int64]) -> Bool {
        guard let id = Int(exactly: item.field), let field = fields[id] else { return false }
        let value = Double(field)
        switch item.comparison {
        case "lt": return value < item.value
        case "lte": return value <= item.value
        case "gt": return value > item.value
        case "gte": return value >= item.value
        default: return false
        }
    }

    // MARK: Answers

    private func accept(_ order: Order, _ fate: CommandFate?, _ session: PhoneSession) {
        let ack: CBORValue = [
            "cmdId": .text(order.id), "leaseId": .text(dice.uuid()),
            "expiresAtMs": .int(uptimeMs + Contract.Command.leaseMs),
        ]
        session.commands[order.id] = PhoneSession.Remembered(ack: ack, result: nil)
        if fate != .answersLost, fate != .receiptLost { control("cmd.ack", ack, to: session) }
        guard !script.swallowsResults else { return note(order, "unsettled", nil) }
        if case .slow(let beats) = fate { return session.slowOrders.append((order, beats)) }
        carryOut(order, fate, session)
    }

    /// Goes on with what the box was slow to do, once its beats have passed.
    func carryOutSlowOrders(_ session: PhoneSession) {
        for index in session.slowOrders.indices { session.slowOrders[index].beatsLeft -= 1 }
        let due = session.slowOrders.filter { $0.beatsLeft <= 0 }
        session.slowOrders.removeAll { $0.beatsLeft <= 0 }
        for entry in due { carryOut(entry.order, nil, session) }
    }

    private func carryOut(_ order: Order, _ fate: CommandFate?, _ session: PhoneSession) {
        var isHeard = fate != .answersLost && fate != .resultLost
        if case .resultLate(let beats) = fate {
            isHeard = false
            session.lateResults.append((order.id, max(1, beats)))
        }
        do throws(Refusal) {
            if case .refusedAtExecution(let code) = fate { throw Refusal(code, ["op": .text(order.op)]) }
            if fate == .unconfirmed { return finish(order, state: "unconfirmed", session) }
            var done = try act(on: order)
            log.executed.append(order.id)
            if case .overtaken(let value) = fate { done = Outcome(value: value, applied: false) }
            finish(
                order, state: done.applied ? "applied" : "superseded", observed: done.value, isHeard: isHeard,
                session)
            if done.applied { bulk("plan", planBody(), to: session) }
        } catch {
            finish(order, state: "rejected", refusal: error, session)
        }
    }

    private func finish(
        _ order: Order, state: String, observed: Double? = nil, refusal: Refusal? = nil, isHeard: Bool = true,
        _ session: PhoneSession
    ) {
        var members: [(String, CBORValue)] = [("cmdId", .text(order.id)), ("state", .text(state))]
        if let observed {
            members.append(
                ("observed", ["value": .float(observed), "src": "core", "uptimeMs": .int(uptimeMs)]))
        }
        if let refusal { members.append(("error", refusal.body)) }
        let result = CBORValue.map(CBORMap(members))
        session.commands[order.id]?.result = result
        note(order, state, refusal?.code)
        if isHeard { control("cmd.result", result, to: session) }
    }

    /// Sends the results whose time has come.
    func sendLateResults(_ session: PhoneSession) {
        for index in session.lateResults.indices { session.lateResults[index].beatsLeft -= 1 }
        let due = session.lateResults.filter { $0.beatsLeft <= 0 }
        session.lateResults.removeAll { $0.beatsLeft <= 0 }
        for (id, _) in due {
            if let result = session.commands[id]?.result { control("cmd.result", result, to: session) }
        }
    }

    private func note(_ order: Order, _ outcome: String, _ refusal: String?) {
        log.add(
            BoxLog.Command(
                at: house.clock.now, uptimeMs: uptimeMs, id: order.id, op: order.op, args: .map(order.args),
                outcome: outcome, refusal: refusal))
    }
}
