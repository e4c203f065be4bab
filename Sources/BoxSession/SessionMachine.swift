import BoxLink

/// One conversation with the box from greeting to end: subscription, boot
/// retries, the watchdog, and what each message means (FTW wire §6).
///
/// Pure: the session feeds it events and carries out the actions. It outlives
/// single sessions, because a restart of the box shows only against the last one.
struct SessionMachine: Equatable {
    enum Action: Equatable {
        case send(Envelope)
        /// The box introduced itself; `booting` or not is in the message.
        case greeted(HelloOKMessage)
        /// The box process is another one than before: what it told is void.
        case restarted
        case snapshot(SnapMessage)
        case delta(DeltaMessage)
        case tick(TickMessage)
        /// Belongs to a request, if to anything.
        case answer(Envelope)
        /// A plan that nobody asked for.
        case planPushed(PlanMessage)
        case commandAcknowledged(CommandAckMessage)
        case commandSettled(CommandResultMessage)
        /// The box speaks about the session as a whole.
        case refused(BoxRefusal)
        /// The box says how far its start is, from 0 to 100, when it says so.
        case booting(percent: Int?)
        case terminated(revoked: Bool)
        /// Nothing arrived for too long.
        case silent
        /// The source table is too old and only a new session brings it.
        case renew
        /// A body that is not what its type says.
        case malformed(type: String)
    }
    enum Stage: Equatable {
        case closed
        case greeting
        case booting
        /// Subscribed, the first snapshot is to come.
        case subscribed
        case streaming
    }
    struct Settings: Equatable {
        var build: String
        var beat: Beat
        /// How long the box may take to answer a greeting and to begin the stream.
        var greetingTimeout = Duration.seconds(8)
        var bootRetry = Contract.Session.bootRetry
        /// From this age on a source table that TRUNC may have outdated is not trusted.
        var tableAge = Duration.seconds(600)
        /// No more than one session is spent on a fresh table in this time.
        var renewalPause = Duration.seconds(900)
    }

    private struct Uptime: Equatable {
        var ms: Int64
        var at: Duration
    }
    /// How far an uptime may be behind what it has to be: a greeting comes late, and two
    /// clocks that are kept right by the network differ by up to 500 in a million.
    private static let lateness = Duration.seconds(10)
    private static let drift = 0.001

    private(set) var stage = Stage.closed
    private let settings: Settings
    /// The cadence wanted, and the one the box was last asked for.
    private(set) var beat: Beat
    private var askedBeat: Beat
    private var silentAt: Duration = .zero
    private var helloAt: Duration?
    /// The box's newest uptime in any session, and our clock when it came.
    private var lastUptime: Uptime?
    private var uptimeChecked = false
    private var tableConfirmedAt: Duration?
    private var renewedAt: Duration?

    init(settings: Settings) {
        self.settings = settings
        beat = settings.beat
        askedBeat = settings.beat
    }

    var isOpen: Bool { stage != .closed }

    /// When ``timerFired(at:)`` has something to do.
    var nextDeadline: Duration? {
        guard isOpen else { return nil }
        if let helloAt { return min(helloAt, silentAt) }
        return silentAt
    }

    /// Whether beats say that the table changed while none arrived for too long
    /// (FTW wire §6.5); its states are not trusted then.
    func isTableOld(at now: Duration) -> Bool {
        guard let tableConfirmedAt else { return false }
        return now - tableConfirmedAt > settings.tableAge
    }

    // MARK: Events

    /// A Noise session is up.
    mutating func opened(at now: Duration) -> [Action] {
        stage = .greeting
        uptimeChecked = false
        tableConfirmedAt = nil
        helloAt = nil
        silentAt = now + settings.greetingTimeout
        return [hello()]
    }

    /// The session is gone, for whatever reason.
    mutating func closed() {
        stage = .closed
        helloAt = nil
    }

    /// Somebody wants another cadence.
    mutating func cadenceWanted(_ wanted: Beat, at now: Duration) -> [Action] {
        beat = wanted
        guard stage == .subscribed || stage == .streaming else { return [] }
        return subscribeIfNeeded(at: now)
    }

    mutating func timerFired(at now: Duration) -> [Action] {
        guard isOpen else { return [] }
        if now >= silentAt {
            closed()
            return [.silent]
        }
        if let due = helloAt, now >= due {
            helloAt = now + settings.bootRetry
            return [hello()]
        }
        return []
    }

    /// One envelope of this session.
    ///
    /// - Parameter isTruncated: The frame's TRUNC flag.
    mutating func received(_ envelope: Envelope, isTruncated: Bool = false, at now: Duration) -> [Action] {
        guard isOpen else { return [] }
        do throws(MessageError) {
            return try read(envelope, isTruncated: isTruncated, at: now)
        } catch {
            return [.malformed(type: envelope.type)]
        }
    }

    // MARK: Messages

    private mutating func read(
        _ envelope: Envelope, isTruncated: Bool, at now: Duration
    ) throws(MessageError) -> [Action] {
        let body = envelope.body
        switch envelope.type {
        case HelloOKMessage.type: return greeted(try HelloOKMessage(body: body), at: now)
        case SnapMessage.type: return snapshot(try SnapMessage(body: body), at: now)
        case DeltaMessage.type:
            let delta = try DeltaMessage(body: body)
            if delta.sources != nil || !isTruncated { tableConfirmedAt = now }
            heard(uptimeMs: delta.uptimeMs, at: now)
            return [.delta(delta)] + renewal(isTruncated: isTruncated, at: now)
        case TickMessage.type:
            let tick = try TickMessage(body: body)
            tableConfirmedAt = now
            heard(uptimeMs: tick.uptimeMs, at: now)
            return [.tick(tick)]
        case PlanMessage.type where envelope.id == nil:
            heard(at: now)
            return [.planPushed(try PlanMessage(body: body))]
        case CommandAckMessage.type:
            heard(at: now)
            return [.commandAcknowledged(try CommandAckMessage(body: body))]
        case CommandResultMessage.type:
            heard(at: now)
            return [.commandSettled(try CommandResultMessage(body: body))]
        case TerminateMessage.type:
            let message = try TerminateMessage(body: body)
            closed()
            return [.terminated(revoked: message.isRevoked)]
        case ErrorMessage.type: return refused(try BoxRefusal(body: body), envelope, at: now)
        default:
            // Answers find their request by id; what no request waits for is a
            // type of a later box, or too late, and is ignored.
            heard(at: now)
            return envelope.id == nil ? [] : [.answer(envelope)]
        }
    }

    private mutating func greeted(_ message: HelloOKMessage, at now: Duration) -> [Action] {
        var actions = checkRun(uptimeMs: message.uptimeMs, at: now)
        heard(uptimeMs: message.uptimeMs, at: now)
        actions.append(.greeted(message))
        if message.boot != nil || message.mode == "booting" {
            guard stage != .streaming else { return actions }
            startBooting(at: now)
            return actions + [.booting(percent: message.boot.map { percent($0.percent) })]
        }
        guard stage == .greeting || stage == .booting else { return actions }
        stage = .subscribed
        helloAt = nil
        silentAt = now + max(settings.greetingTimeout, beat.silence)
        if message.subscribed == true { return actions + subscribeIfNeeded(at: now) }
        return actions + [subscribe()]
    }

    private mutating func snapshot(_ message: SnapMessage, at now: Duration) -> [Action] {
        let actions = checkRun(uptimeMs: message.uptimeMs, at: now)
        if stage == .subscribed { stage = .streaming }
        heard(uptimeMs: message.uptimeMs, at: now)
        tableConfirmedAt = now
        return actions + [.snapshot(message)]
    }

    private mutating func refused(
        _ refusal: BoxRefusal, _ envelope: Envelope, at now: Duration
    ) -> [Action] {
        heard(at: now)
        var actions: [Action] = envelope.id == nil ? [.refused(refusal)] : [.answer(envelope)]
        if refusal.code == Contract.ErrorCode.grantRevoked.rawValue {
            closed()
            actions.append(.terminated(revoked: true))
        } else if envelope.id == nil, refusal.code == Contract.ErrorCode.booting.rawValue, stage != .streaming
        {
            startBooting(at: now)
            actions.append(.booting(percent: refusal.args["pct"]?.intValue.map(percent)))
        }
        return actions
    }

    // MARK: Steps

    private func hello() -> Action {
        .send(
            Envelope(
                type: HelloMessage.type,
                body: HelloMessage(build: settings.build, sub: SubMessage(beat: askedBeat)).body))
    }

    private mutating func subscribe() -> Action {
        askedBeat = beat
        return .send(Envelope(type: SubMessage.type, body: SubMessage(beat: beat).body))
    }

    private mutating func subscribeIfNeeded(at now: Duration) -> [Action] {
        guard askedBeat != beat else { return [] }
        // The next frame may still come at the old cadence.
        silentAt = max(silentAt, now + max(beat.silence, askedBeat.silence))
        return [subscribe()]
    }

    private mutating func startBooting(at now: Duration) {
        stage = .booting
        helloAt = now + settings.bootRetry
        // Three greetings in a row without an answer.
        silentAt = now + settings.bootRetry * 7 / 2
    }

    /// A frame of ours came: the session is alive.
    private mutating func heard(uptimeMs: Int64? = nil, at now: Duration) {
        if let uptimeMs, uptimeMs >= lastUptime?.ms ?? .min { lastUptime = Uptime(ms: uptimeMs, at: now) }
        if stage == .streaming { silentAt = now + beat.silence }
    }

    /// Within a process uptime cannot go back (FTW wire §6.7), and it cannot lag behind the
    /// time that passed here either: a box that restarts while the link is down for longer
    /// than it had run comes back with a higher uptime than the last one seen. Looked at once
    /// per session: within one, a lower uptime is only a late frame.
    ///
    /// Our clock goes on while this machine sleeps, so that sleep makes no difference. The box's
    /// stands still while its machine sleeps; that looks like a restart and is taken for one,
    /// since uptimes from before it lie elsewhere on our clock.
    private mutating func checkRun(uptimeMs: Int64, at now: Duration) -> [Action] {
        guard !uptimeChecked else { return [] }
        uptimeChecked = true
        guard let last = lastUptime else { return [] }
        let passed = max(.zero, now - last.at)
        let leastMs = Double(last.ms) + (passed * (1 - Self.drift) - Self.lateness) / .milliseconds(1)
        guard uptimeMs < last.ms || Double(uptimeMs) < leastMs else { return [] }
        lastUptime = nil
        renewedAt = nil
        return [.restarted]
    }

    private mutating func renewal(isTruncated: Bool, at now: Duration) -> [Action] {
        guard isTruncated, isTableOld(at: now) else { return [] }
        if let renewedAt, now - renewedAt < settings.renewalPause { return [] }
        renewedAt = now
        return [.renew]
    }

    private func percent(_ value: Int64) -> Int { Int(max(0, min(100, value))) }
}
