import Ambient
import BoxLink

/// Carries out what the machines decide.
extension BoxSession {
    func perform(_ actions: [HandshakeDriver.Action]) {
        let wall = ambient.time.wall
        for action in actions {
            switch action {
            case .begin(let withCode): beginHandshake(withCode: withCode)
            case .wipe:
                noise.wipe()
                if machine.isOpen { machine.closed() }
                perform(table.closed())
                loseCommands()
            case .redial: carrier.redial()
            case .paired:
                forgetCode()
                isCodeRefused = false
                note(.paired)
            case .refuseCode:
                forgetCode()
                isCodeRefused = true
                note(.codeRefused)
            case .unanswered: link.unanswered(codeRefused: isCodeRefused, at: wall)
            case .standBack: link.silent(evicted: true, at: wall)
            }
        }
    }

    private func beginHandshake(withCode: Bool) {
        do {
            let message =
                if withCode, let code {
                    try code.withBytes { bytes throws(NoiseError) in try noise.begin(payload: bytes) }
                } else {
                    try noise.begin(payload: [])
                }
            count.handshakes &+= 1
            carrier.send(message)
        } catch {
            // The deadline runs all the same and tries again.
            ambient.log.error("the handshake could not be begun: \(error)")
        }
    }

    private func forgetCode() {
        code?.wipe()
        code = nil
    }

    func perform(_ actions: [SessionMachine.Action]) {
        let wall = ambient.time.wall
        for action in actions {
            switch action {
            case .send(let envelope): send(envelope)
            case .greeted(let message):
                greeting = message.mode
                tracker.greeted(message, at: now, wall: wall)
                table.opened(capabilities: message.caps)
                carrier.pathProven()
            case .restarted:
                tracker.restarted()
                roleAsk.restarted()
                house.restarted()
                boards.restarted()
                endLeases(.boxRestarted)
                orders.forgetHolds()
                keep(plan: nil)
                note(.boxRestarted)
            case .snapshot(let snap):
                tracker.applied(snap, at: now, wall: wall)
                if machine.stage == .streaming { link.live(greeting: greeting, at: wall) }
                beat()
            case .delta(let delta): counted(tracker.applied(delta, at: now, wall: wall))
            case .tick(let tick): counted(tracker.applied(tick, at: now, wall: wall))
            case .answer(let envelope): perform(table.answered(envelope, at: now))
            case .planPushed(let plan):
                keep(plan: plan)
                house.planPushed(rev: plan.rev)
                note(.planPushed(plan))
            case .commandAcknowledged(let message):
                commandAcknowledged(message.commandID)
                note(.commandAcknowledged(message))
            case .commandSettled(let message):
                house.commandEnded()
                commandSettled(message)
                note(.commandSettled(message))
            case .refused(let refusal): ambient.log.info("the box says \(refusal.code) about the session")
            case .booting(let percent): link.booting(percent: percent, at: wall)
            case .terminated(revoked: true):
                link.revoked(at: wall)
                note(.revoked)
                perform(driver.revoked(at: now))
            case .terminated(revoked: false), .silent:
                if action == .silent { count.silences &+= 1 }
                link.silent(evicted: false, at: wall)
                perform(driver.sessionSilent(at: now))
            case .renew:
                link.keepQuiet(until: now + machine.beat.silence)
                perform(driver.renew(at: now))
            case .malformed: count.malformed &+= 1
            }
        }
    }

    private func counted(_ order: FieldRegister.Sequence) {
        count.missedBeats &+= order.missing
        beat()
    }

    func perform(_ actions: [RequestTable.Action]) {
        for action in actions {
            switch action {
            case .send(let envelope): send(envelope)
            case .finish(let ticket, let outcome): finish(ticket, outcome)
            }
        }
    }

    /// Frames and seals; what cannot be sent is dropped and meets its time-out.
    func send(_ envelope: Envelope) {
        // Lane and size are a privacy property of the product (FTW wire §4).
        let lane = Contract.MessageType(rawValue: envelope.type)?.lane ?? .control
        let frame = Frame(lane: lane, payload: envelope.encoded())
        let bucket = frame.lane == .control ? 512 : Frame.bulkBucket(forPayload: frame.payload.count)
        guard let bucket, let bytes = try? frame.encoded(bucket: bucket),
            let message = try? noise.seal(bytes)
        else {
            ambient.log.warning("a \(envelope.type) could not be sent")
            return
        }
        if envelope.id != nil { count.count(route: route(of: envelope)) }
        carrier.send(message)
    }

    private func route(of envelope: Envelope) -> String {
        guard let method = envelope.body?["method"]?.textValue, let path = envelope.body?["path"]?.textValue
        else { return envelope.type }
        return "\(method) \(path)"
    }
}
