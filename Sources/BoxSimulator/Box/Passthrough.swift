import BoxLink
import FoundationEssentials
import JSONText

/// `api.req`: the form, the one slot, the tiers and their refusals (FTW wire §8).
extension SimulatedBox {
    /// What the box's HTTP handler said.
    struct HTTPAnswer: Sendable {
        var status: Int
        var document: JSONValue

        static func error(_ status: Int, _ text: String) -> HTTPAnswer {
            HTTPAnswer(status: status, document: ["error": .string(text)])
        }
    }

    enum Tier {
        case read
        case configure(needsStepUp: Bool)
        /// Moves energy; with the command that does it instead, if there is one.
        case actuate(op: String?)
        case local
    }

    static let chunkSize = Contract.Request.apiChunkBytes
    static let answerCeiling: Int64 = 8_388_608

    func apiRequest(_ envelope: Envelope, _ session: PhoneSession) throws {
        guard let id = envelope.id else { return }
        let body = try BodyReader(envelope.body)
        let call = APICall(
            method: try body.text("method") ?? "", path: try body.text("path") ?? "",
            query: try body.texts("query") ?? [], body: try body.bytes("body"),
            maxBytes: try body.int("maxBytes"), stepUp: try body.bool("stepUp") ?? false)
        do {
            try admit(call, session)
        } catch {
            note(call, session, status: nil, refusal: error.code)
            let body = error.body
            // A refusal that does not fit is no answer at all; the session lives on.
            guard payload("error", id, body).count <= session.bucket - 6 else { return }
            control("error", body, id: id, to: session)
            if error.code == "E_GRANT_REVOKED" { terminate(session) }
            return
        }
        let isRead = call.method == "GET" || call.method == "HEAD"
        session.pending = PhoneSession.Pending(
            id: id, request: call, beatsLeft: script.answerBeats,
            answer: isRead ? nil : handle(call, session))
        if script.answerBeats == 0 { answerPending(session) }
    }

    /// In the box's order: form, busy, enrolment, route, whole document, role, step-up.
    private func admit(_ call: APICall, _ session: PhoneSession) throws(Refusal) {
        if let field = Self.malformedField(call) {
            throw Refusal("E_UNKNOWN_OP", ["t": "api.req", "field": .text(field)])
        }
        if session.pending != nil || script.busyCalls > 0 {
            if session.pending == nil { script.busyCalls -= 1 }
            throw Refusal("E_UNAVAILABLE", ["reason": "busy"])
        }
        guard let role = enrolment.role(of: session.clientKey) else { throw Refusal("E_GRANT_REVOKED") }
        if script.faults[call.path] == .refused { throw Refusal("E_UNAVAILABLE", ["subsystem": "api"]) }
        guard vintage.hasPassthrough, let tier = tier(call) else {
            throw Refusal("E_UNKNOWN_OP", ["t": "api.req", "field": "path"])
        }
        if call.method == "POST", call.path == "/api/config" {
            throw Refusal("E_WHOLE_DOCUMENT", ["path": .text(call.path)])
        }
        switch tier {
        case .read: return
        case .local: throw Refusal("E_LOCAL_ONLY", ["path": .text(call.path)])
        case .actuate(let op):
            var args: [(String, CBORValue)] = [("path", .text(call.path))]
            if let op { args.append(("op", .text(op))) }
            throw Refusal("E_USE_CMD", .map(CBORMap(args)))
        case .configure(let needsStepUp):
            guard role == .owner else {
                throw Refusal("E_SCOPE_DENIED", ["needRole": "owner", "role": .text(role.rawValue)])
            }
            guard script.alwaysStepUp ?? needsStepUp else { return }
            if call.stepUp { session.steppedUpUntilMs = uptimeMs + Contract.Request.stepUpWindowMs }
            guard uptimeMs < session.steppedUpUntilMs else {
                throw Refusal("E_NEEDS_STEP_UP", ["tier": "configure"])
            }
        }
    }

    private static func malformedField(_ call: APICall) -> String? {
        let path = call.path
        guard ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].contains(call.method) else { return "method" }
        let isPlain = path.utf8.allSatisfy { $0 >= 32 && $0 != 127 }
        let isWhole = !["..", "//", "?", "#"].contains { path.contains($0) }
        guard path.hasPrefix("/api/"), path.utf8.count <= 1_024, isPlain, isWhole else { return "path" }
        for (key, value) in call.query {
            let bytes = Array(key.utf8) + Array(value.utf8)
            guard !key.isEmpty, !bytes.contains(where: { [0, 10, 13].contains($0) }) else { return "query" }
        }
        return nil
    }

    /// The tier of a route; `nil` when there is none.
    private func tier(_ call: APICall) -> Tier? {
        let method = call.method == "HEAD" ? "GET" : call.method
        let parts = call.path.split(separator: "/").map(String.init)
        if parts.count == 4, parts[1] == "loadpoints" {
            let newOp = { (name: String) in self.vintage.hasCarLevels ? name : nil }
            switch (method, parts[3]) {
            case ("GET", "manual_hold"): return .read
            case ("PUT", "schedule"): return .configure(needsStepUp: !vintage.isLate)
            case ("DELETE", "schedule"): return .configure(needsStepUp: true)
            case ("POST", "soc"): return .actuate(op: newOp("loadpoint.soc.set"))
            case ("POST", "surplus_only"): return .actuate(op: newOp("loadpoint.surplus_only.set"))
            case ("POST", "manual_hold"), ("DELETE", "manual_hold"), ("POST", "target"),
                ("POST", "battery_boost"), ("POST", "force_start"):
                return .actuate(op: nil)
            default: return nil
            }
        }
        switch (method, call.path) {
        case ("GET", "/api/status"), ("GET", "/api/mode"), ("GET", "/api/modes"), ("GET", "/api/drivers"),
            ("GET", "/api/loadpoints"), ("GET", "/api/mpc/plan"), ("GET", "/api/prices"),
            ("GET", "/api/energy/daily"), ("GET", "/api/energy/history"), ("GET", "/api/app-link/devices"):
            return .read
        case ("POST", "/api/mpc/replan"): return .configure(needsStepUp: true)
        case ("POST", "/api/mode"): return .actuate(op: "site.mode.set")
        case ("POST", "/api/target"), ("POST", "/api/peak_limit"), ("POST", "/api/ev/command"):
            return .actuate(op: nil)
        case ("GET", "/api/config"), ("POST", "/api/config"): return .local
        default: return nil
        }
    }

    /// Runs the handler, and notes that it ran.
    private func handle(_ call: APICall, _ session: PhoneSession) -> HTTPAnswer {
        let fault = script.faults[call.path]
        var answer = document(for: call, role: enrolment.role(of: session.clientKey) ?? .viewer)
        if case .status(let status) = fault { answer = .error(status, "broken on purpose") }
        if fault == .foreign { answer.document = ["hello": "world"] }
        note(call, session, status: answer.status, refusal: nil)
        return answer
    }

    // MARK: The answer

    /// Sends the answer that waits, once its beats have passed.
    func answerPending(_ session: PhoneSession) {
        guard var pending = session.pending else { return }
        guard pending.beatsLeft <= 0 else {
            pending.beatsLeft -= 1
            session.pending = pending
            return
        }
        let call = pending.request
        let fault = script.faults[call.path]
        let answer = pending.answer ?? handle(call, session)
        let head: CBORValue = [
            "status": .int(Int64(answer.status)), "headers": ["Content-Type": "application/json"],
            "len": nil,
        ]
        bulk("api.head", head, id: pending.id, to: session)
        // The handlers' encoder ends every document with a line feed.
        var bytes = call.method == "HEAD" ? [] : answer.document.bytes + [10]
        let ceiling = Int(min(Self.answerCeiling, max(0, call.maxBytes ?? Self.answerCeiling)))
        if fault == .garbled { bytes = Array(bytes.dropLast(bytes.count / 2)) }
        let isTruncated = bytes.count > ceiling || fault == .truncated
        if bytes.count > ceiling { bytes = Array(bytes.prefix(ceiling)) }
        var sequence: Int64 = 0
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(Self.chunkSize))
            rest = rest.dropFirst(Self.chunkSize)
            bulk("api.chunk", ["seq": .int(sequence), "data": .bytes(part)], id: pending.id, to: session)
            sequence += 1
        }
        let end: CBORValue = ["bytes": .int(Int64(bytes.count)), "truncated": .bool(isTruncated)]
        bulk("api.end", end, id: pending.id, to: session)
        session.pending = nil
    }

    private func note(_ call: APICall, _ session: PhoneSession, status: Int?, refusal: String?) {
        log.add(
            BoxLog.Request(
                at: house.clock.now, uptimeMs: uptimeMs, method: call.method, path: call.path,
                query: call.query.map { "\($0.key)=\($0.value)" }.sorted(),
                client: BoxNames.deviceID(clientKey: session.clientKey), status: status, refusal: refusal,
                body: call.body))
    }
}
