public import Ambient
public import BoxLink
import FoundationEssentials

/// A box in software: joins a room, answers handshakes, speaks the session.
///
/// For `demo` and for tests. It writes every message itself, from the protocol's
/// description, and shares with the client only Noise, framing and the coding of
/// CBOR primitives; a misreading of a message therefore shows.
public actor SimulatedBox {
    public nonisolated let settings: SimulatedBoxSettings
    public nonisolated let house: SimulatedHouse
    let carrier: any Carrier
    nonisolated let ambient: Ambient
    var vintage: BoxVintage
    var enrolment = Enrolment()
    var board: SourceBoard
    var sessions: [PhoneSession] = []
    var dice: BoxDice
    var script = BoxScriptState()
    var log = BoxLog()
    /// Monotonic time at which the process "started".
    var startedAt: Duration
    var controlRev: Int64 = 1
    private var knownMode: String
    /// Plans that were made before this run of the process.
    var planBase = 0
    private var lastBeat: Int64
    private var sessionCount = 0
    /// The ephemeral key of the next handshake, where a test has to know it.
    var nextEphemeral: X25519KeyPair?

    /// The most sessions a box keeps; one more pushes out the oldest (FTW wire §10).
    static let sessionLimit = 4

    /// - Parameters:
    ///   - house: Where the numbers come from; `nil` builds one that lives now.
    ///   - carrier: The box's end of a room.
    public init(
        settings: SimulatedBoxSettings, house: SimulatedHouse? = nil, carrier: any Carrier,
        ambient: Ambient
    ) {
        let house = house ?? SimulatedHouse(clock: HouseClock(following: ambient.time))
        self.settings = settings
        self.house = house
        self.carrier = carrier
        self.ambient = ambient
        vintage = settings.vintage
        // Not the dice that made the keys, or the first code would be a piece of one.
        dice = BoxDice(seed: settings.seed.map { ~$0 })
        board = SourceBoard(
            staleAfterMs: Self.milliseconds(settings.staleAfter),
            hasSolar: house.settings.pvPeakW > 0, hasBattery: house.settings.battery != nil,
            chargers: house.settings.chargers.map { ($0.driver, $0.id) })
        startedAt = ambient.time.monotonic - settings.uptimeAtStart
        lastBeat = Self.milliseconds(settings.uptimeAtStart) / 1_000
        knownMode = house.mode
        for client in settings.clients {
            enrolment.enrol(key: client.key, role: client.role, date: house.clock.now)
        }
        let readsLocalMinute = settings.vintage.isLate
        planBase = house.now { model in
            model.readsLocalMinute = readsLocalMinute
            return model.planCount - 1
        }
    }

    /// Joins the room and serves it until the task is cancelled.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.carrier.run() }
            group.addTask { for await event in self.carrier.events { await self.handle(event) } }
            group.addTask { await self.beatUntilCancelled() }
            await group.next()
            group.cancelAll()
        }
        sessions.removeAll()
    }

    private func beatUntilCancelled() async {
        while !Task.isCancelled {
            let next = startedAt + .seconds(uptimeMs / 1_000 + 1)
            do { try await ambient.time.sleep(until: next) } catch { return }
            beat()
        }
    }

    // MARK: Time

    static func milliseconds(_ duration: Duration) -> Int64 {
        let parts = duration.components
        return parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000
    }

    /// Milliseconds since the process started.
    public var uptimeMs: Int64 { Self.milliseconds(ambient.time.monotonic - startedAt) }

    // MARK: What the relay brings

    func handle(_ event: CarrierEvent) {
        switch event {
        case .message(let bytes): receive(bytes)
        case .lost: sessions.removeAll()
        case .joined, .ready, .gone: break
        }
    }

    /// There is no type byte: try every session, then take it for a handshake (FTW wire §2.5).
    func receive(_ bytes: [UInt8]) {
        for session in sessions {
            guard let (_, plain) = session.transport.open(bytes) else { continue }
            guard let frame = try? Frame(decoding: plain),
                let envelope = try? Envelope(decoding: frame.payload)
            else { return }
            answer(envelope, from: session)
            return
        }
        guard bytes.count >= 96 else { return }
        do { try admit(bytes) } catch { script.refusedHandshakes += 1 }
    }

    /// A bad key, a bad code and a garbled message all meet the same silence.
    private func admit(_ message1: [UInt8]) throws {
        guard !script.isDeafToHandshakes else { return }
        let seeded = settings.seed == nil ? nil : try X25519KeyPair(secret: dice.bytes(32))
        let ephemeral = nextEphemeral ?? seeded
        nextEphemeral = nil
        var handshake = try ResponderHandshake(
            prologue: Array("ftw.session.v1:".utf8) + settings.identity.publicKey,
            staticKey: settings.identity, ephemeral: ephemeral)
        let (clientKey, payload) = try handshake.readMessage1(message1)
        let isKnown = enrolment.role(of: clientKey) != nil
        guard
            enrolment.admits(
                key: clientKey, payload: payload, now: ambient.time.monotonic, date: house.clock.now)
        else {
            script.refusedHandshakes += 1
            return
        }
        if !isKnown {
            ambient.log.info("simulated box: paired with \(BoxNames.deviceID(clientKey: clientKey))")
            clientsChanged()
        }
        let (message2, keys) = try handshake.writeMessage2(payload: [])
        if sessions.count >= Self.sessionLimit { sessions.removeFirst() }
        sessionCount += 1
        sessions.append(
            PhoneSession(
                number: sessionCount, clientKey: clientKey,
                transport: try NoiseTransport(sendKey: keys.sendKey, receiveKey: keys.receiveKey)))
        log.handshakes += 1
        carrier.pathProven()
        transmit(message2)
    }

    func clientsChanged() { settings.onClientsChanged?(record) }

    private func answer(_ envelope: Envelope, from session: PhoneSession) {
        log.messages[envelope.type, default: 0] += 1
        settings.onMessage?(envelope.type)
        do {
            switch envelope.type {
            case "hello": try hello(envelope.body, session)
            case "sub": try subscribe(BodyReader(envelope.body), session)
            case "plan.get": planGet(envelope.id, session)
            case "price.get": try priceGet(envelope, session)
            case "hist.query": try historyQuery(envelope, session)
            case "cmd": try command(BodyReader(envelope.body), session)
            case "api.req": try apiRequest(envelope, session)
            default:
                guard envelope.id != nil else { return }
                refuse("E_UNKNOWN_OP", ["t": .text(envelope.type)], envelope.id, session)
            }
        } catch {
            // Something in the body cannot be read: the message never was.
        }
    }

    // MARK: Sending

    func transmit(_ bytes: [UInt8]) {
        if !script.isMute { carrier.send(bytes) }
    }

    func payload(_ type: String, _ id: UInt32?, _ body: CBORValue?) -> [UInt8] {
        var body = body
        if script.sendsUnknownKeys, case .map(let map) = body {
            body = .map(CBORMap(map.members.map { ($0.key, $0.value) } + [("xNext", ["a": [1, nil]])]))
        }
        return Envelope(type: type, id: id, body: body).encoded(.deterministic)
    }

    /// Sends on the control lane. A reply that does not fit its bucket ends the
    /// session without a word (FTW wire §11.9).
    func control(
        _ type: String, _ body: CBORValue, id: UInt32? = nil, isTruncated: Bool = false,
        to session: PhoneSession
    ) {
        let frame = Frame(
            lane: .control, flags: isTruncated ? 2 : 0, payload: payload(type, id, body))
        guard let plain = try? frame.encoded(bucket: session.bucket),
            let sealed = try? session.transport.seal(plain)
        else { return drop(session) }
        transmit(sealed)
    }

    /// Sends on the bulk lane, in the smallest frame that fits.
    func bulk(_ type: String, _ body: CBORValue, id: UInt32? = nil, to session: PhoneSession) {
        let frame = Frame(lane: .bulk, payload: payload(type, id, body))
        guard let bucket = Frame.bulkBucket(forPayload: frame.payload.count),
            let plain = try? frame.encoded(bucket: bucket), let sealed = try? session.transport.seal(plain)
        else { return }
        transmit(sealed)
    }

    func refuse(
        _ code: String, _ args: CBORValue, _ id: UInt32?, _ session: PhoneSession
    ) {
        control("error", Refusal(code, args).body, id: id, to: session)
    }

    func drop(_ session: PhoneSession) {
        session.transport.close()
        sessions.removeAll { $0 === session }
    }

    /// The client is no longer enrolled: say so, then know it no more.
    func terminate(_ session: PhoneSession) {
        control("session.terminate", ["reason": "revoked"], to: session)
        drop(session)
    }

    // MARK: Beats

    /// Polls the drivers and looks at the house, as each beat and each answer does.
    func observe() -> Telemetry {
        let seen = house.now { (flows: $0.flows, soc: $0.batterySoc, mode: $0.mode) }
        if seen.mode != knownMode {
            knownMode = seen.mode
            controlRev += 1
        }
        board.poll(uptimeMs: uptimeMs, flows: seen.flows, batterySoc: seen.soc)
        let index = modes.firstIndex { $0.key == seen.mode } ?? -1
        return Telemetry(
            board: board, uptimeMs: uptimeMs, controlRev: controlRev, modeIndex: index,
            hasCars: vintage.hasLoadpoints && board.chargerCount > 0,
            hasUnknownField: script.sendsUnknownKeys)
    }

    func useEphemeral(_ keys: X25519KeyPair) { nextEphemeral = keys }

    /// One beat, if a new second of uptime has begun.
    func beat() {
        guard uptimeMs / 1_000 > lastBeat else { return }
        lastBeat = uptimeMs / 1_000
        let now = observe()
        for session in sessions {
            answerPending(session)
            carryOutSlowOrders(session)
            sendLateResults(session)
            guard session.isSubscribed else { continue }
            session.beatsSinceFrame += 1
            guard session.beatsSinceFrame >= (session.isSlow ? 5 : 1) else { continue }
            session.beatsSinceFrame = 0
            if session.feed.controlRev != now.controlRev { snap(now, session) }
            if script.sendsUnknownKeys { control("weather.hint", ["sky": "blue"], to: session) }
            let room = session.bucket - 6
            let beat = session.feed.beat(now) { type, body in payload(type, nil, body).count <= room }
            control(beat.type, beat.body, isTruncated: beat.isTruncated, to: session)
        }
    }

    func snap(_ now: Telemetry, _ session: PhoneSession) {
        session.feed.snapped(now)
        bulk("snap", now.snap, to: session)
    }

    /// Starts the process again: nothing of the old run is left.
    func beginRun() {
        sessions.removeAll()
        startedAt = ambient.time.monotonic
        lastBeat = 0
        controlRev = 1
        board.forget()
        let restores = vintage.hasCarLevels
        planBase = house.now { model in
            model.forgetLevels(restoresConfirmed: restores)
            model.replan("scheduled")
            return model.planCount - 1
        }
    }
}

/// A refusal with its code and whether trying again can help.
struct Refusal: Error {
    let code: String
    let args: CBORValue?

    init(_ code: String, _ args: CBORValue? = nil) {
        self.code = code
        self.args = args
    }

    private static let retryable: Set<String> = [
        "E_BOOTING", "E_CONFLICT", "E_UNAVAILABLE", "E_NEEDS_STEP_UP",
    ]

    var body: CBORValue {
        var members: [(String, CBORValue)] = [
            ("code", .text(code)), ("retryable", .bool(Self.retryable.contains(code))),
        ]
        if let args { members.append(("args", args)) }
        return .map(CBORMap(members))
    }
}
