import Ambient
import Glibc
import MQTTTypes
import Synchronization

/// One connection from the first SYN to its end, on a thread of its own.
///
/// The thread polls the library's socket and a pipe, and hands the library one
/// message at a time: only when it has written everything it was given, and
/// only while few enough are unacknowledged. So nothing piles up inside the
/// library, whose own queue has no bound, and the newest value of a topic is
/// chosen at the last moment.
final class BrokerConnection {
    private let state: ClientState
    private let dial: RedialMachine.Dial
    private let handle: MosquittoHandle
    private var session: BrokerSession?
    private var end: ConnectionEnd?
    private var knowsClaim = false
    private var saidHello = false
    private var saidOverflow = false
    private var saidWaiting = false
    /// Nothing lay unread in the socket then.
    private var quietUntil = ContinuousClock.now
    private var asked:
        [Int32: (question: ClientState.Subscription, places: [Int], at: ContinuousClock.Instant)] =
            [:]
    /// Topics whose message was refused or too large: said once per connection.
    private var spokenTopics: Set<String> = []

    private static let spokenLimit = 1_000
    /// A broker that does not answer a SUBSCRIBE has not granted it.
    private static let subscribeLimit = Duration.seconds(30)
    private static let tickMilliseconds: Int32 = 1_000
    /// During a TLS handshake the library cannot say whether it waits for
    /// reading or for writing, so it is asked this often.
    private static let handshakeMilliseconds: Int32 = 20

    private init?(state: ClientState, dial: RedialMachine.Dial) {
        guard let handle = MosquittoHandle(settings: state.settings, version: dial.version) else {
            return nil
        }
        self.state = state
        self.dial = dial
        self.handle = handle
    }

    /// Runs to the end of the connection; blocks its thread.
    static func run(state: ClientState, dial: RedialMachine.Dial) -> ConnectionEnd {
        guard let connection = BrokerConnection(state: state, dial: dial) else {
            return .protocolError("the client id is not usable or there is no memory")
        }
        let end = connection.run()
        connection.failQuestions()
        state.connectionEnded()
        return end
    }

    private func run() -> ConnectionEnd {
        if let file = unreadableFile() { return .unreadable(file: file) }
        let families: [Int32]
        switch resolve() {
        case .failure(let end): return end.end
        case .success(let found): families = found
        }
        if state.isStopping { return .stopped }
        let deadline = ContinuousClock.now + state.settings.connectTimeout
        state.shared.withLock { $0.resolving = true }  // the library looks the name up once more
        let status = handle.connect(bind: bindAddress(families))
        state.shared.withLock { $0.resolving = false }
        if case .system(let number) = status, handle.complaints.isEmpty {
            return failure(toConnect: number)
        }
        if let end = ending(after: status) { return end }
        if let end = waitForSocket(until: deadline) { return end }
        while true {
            if state.isStopping {
                handle.disconnect()
                return .stopped
            }
            feed()
            if let end { return end }
            turn(until: deadline)
            if let end { return end }
        }
    }

    /// One look at the socket.
    private func turn(until deadline: ContinuousClock.Instant) {
        let handshaking = session == nil && state.settings.tls != nil
        var wait = handshaking ? (saidHello ? Self.handshakeMilliseconds : 0) : Self.tickMilliseconds
        saidHello = true
        if session == nil {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else {
                end = .timedOut(reached: true)
                return
            }
            wait = min(wait, Self.milliseconds(left))
        }
        // What is acknowledged has to be kept, so what cannot be kept is not read. The library
        // acknowledges what it reads by itself.
        let reads = session == nil || !state.channel.isFull
        if !reads { sayWaiting() }
        var events = reads ? Int16(POLLIN) : 0
        if !handshaking, handle.wantsToWrite { events |= Int16(POLLOUT) }
        var polled = [
            // A socket whose other end is gone would not let the thread sleep.
            pollfd(fd: events == 0 ? -1 : handle.socket, events: events, revents: 0),
            pollfd(fd: state.wakeup.readEnd, events: Int16(POLLIN), revents: 0),
        ]
        // A look that does not wait tells whether there was anything before this moment.
        let looked = ContinuousClock.now
        _ = poll(&polled, 1, 0)
        if reads, polled[0].revents & Int16(POLLIN) == 0 { quietUntil = looked }
        _ = poll(&polled, 2, wait)
        if polled[1].revents != 0 { state.wakeup.clear() }
        if reads, polled[0].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 { step { handle.read() } }
        // During the handshake reading goes first and writing waits for quiet: a TLS 1.3
        // broker refuses our certificate after we think we are through, and a CONNECT
        // sent into that would turn its reason into a reset.
        let mayWrite =
            handshaking
            ? polled[0].revents == 0 && handle.wantsToWrite : polled[0].revents & Int16(POLLOUT) != 0
        if mayWrite { step { handle.write() } }
        step { handle.tick() }
        expireQuestions()
    }

    private func step(_ body: () -> MosquittoHandle.Status) {
        guard end == nil else { return }
        let status = body()
        process()
        if end == nil { end = ending(after: status) }
        if end == nil, handle.socket < 0 { end = lost() }
    }

    private func process() {
        for report in handle.takeReports() {
            switch report {
            case .accepted(let limit):
                let session = BrokerSession(version: dial.version, maximumPacketBytes: limit)
                self.session = session
                claim()
                state.accepted(session)
            case .refused(let reason): end = .refused(reason: reason)
            case .dismissed(let reason): end = .dismissed(reason: reason)
            case .published(let id, let reason): published(id, reason)
            case .subscribed(let id, let granted): subscribed(id, granted)
            case .message(let message) where isOwnClaim(message): break
            case .message(let message):
                state.shared.withLock { $0.counters.received += 1 }
                let before = state.channel.dropped
                state.channel.put(.message(message), since: quietUntil)
                if !saidOverflow, state.channel.dropped > before {
                    saidOverflow = true
                    state.ambient.log.error(
                        "more messages arrive with QoS 0 than can be taken in: the oldest are left out and "
                            + "counted")
                }
            case .unreadableMessage: state.shared.withLock { $0.counters.receivedDropped += 1 }
            }
        }
        state.settleDrains()
    }

    // MARK: Out

    private func feed() {
        guard let session else { return }
        for question in state.shared.withLock({ state in
            defer { state.subscriptions = [] }
            return state.subscriptions
        }) { ask(question) }
        while end == nil, !handle.wantsToWrite {
            guard let entry = state.shared.withLock({ $0.outbox.next() }) else { break }
            hand(entry, session)
            state.shared.withLock { $0.outbox.givenUp() }
        }
        state.settleDrains()
    }

    private func hand(_ entry: Outbox.Entry, _ session: BrokerSession) {
        let message = entry.message
        let size = PacketSize.publish(message, version: session.version)
        if let limit = session.maximumPacketBytes, size > limit {
            tooLarge(message.topic, size, limit: limit)
            return
        }
        switch handle.publish(message) {
        case .taken(let id):
            state.shared.withLock { state in
                state.outbox.handedOver(entry, id: id)
                state.counters.publishes += 1
            }
            process()
            if end == nil, handle.socket < 0 { end = lost() }
        case .oversize: tooLarge(message.topic, size, limit: session.maximumPacketBytes ?? 268_435_455)
        case .impossible(let why):
            state.shared.withLock { $0.counters.refused += 1 }
            sayOnce(message.topic) { "\(message.topic) cannot be published: \(why)" }
        case .lost(let status):
            state.shared.withLock { $0.outbox.lost() }
            end = ending(after: status) ?? lost()
        }
    }

    private func tooLarge(_ topic: String, _ size: Int, limit: Int) {
        state.shared.withLock { $0.counters.oversize += 1 }
        sayOnce(topic) {
            "\(topic) is left out: \(size) bytes, and the broker takes packets of up to \(limit)"
        }
    }

    private func published(_ id: Int32, _ reason: UInt8) {
        let topic = state.shared.withLock { state -> String? in
            if reason >= 0x80 { state.counters.refused += 1 }
            return state.outbox.finished(id: id)
        }
        guard reason >= 0x80, let topic else { return }
        sayOnce(topic) { "the broker did not take \(topic): \(Reason.words(reason))" }
    }

    private func sayWaiting() {
        guard !saidWaiting else { return }
        saidWaiting = true
        state.ambient.log.warning(
            "more messages arrive than can be taken in: no more are read until there is room")
    }

    private func sayOnce(_ topic: String, _ line: () -> String) {
        guard spokenTopics.count < Self.spokenLimit, spokenTopics.insert(topic).inserted else { return }
        state.ambient.log.error(line())
    }

    // MARK: The claim

    /// Asks who was here last and writes down that it is us now. The broker
    /// handles one after the other, so the first answer is the old claim, if
    /// there was one.
    private func claim() {
        guard let topic = state.settings.claimTopic, TopicName.isValid(topic) else { return }
        _ = handle.subscribe([topic], withOwnMessages: true)
        _ = handle.publish(Message(topic, state.settings.instance, retained: true))
    }

    /// Reads the claim that was there, and ours on its way back. Whatever else is
    /// written on that topic later is a message like any other.
    private func isOwnClaim(_ message: Message) -> Bool {
        guard message.topic == state.settings.claimTopic else { return false }
        let isOurs = message.text == state.settings.instance
        guard !knowsClaim else { return isOurs }
        knowsClaim = true
        state.shared.withLock { $0.redial.claimRead(ours: isOurs) }
        return true
    }

    // MARK: Subscriptions

    /// Filters that are none are answered here: one of them in the packet and
    /// the broker would close the connection over it.
    private func ask(_ question: ClientState.Subscription) {
        let places = question.filters.indices.filter { TopicFilter(question.filters[$0]) != nil }
        guard !places.isEmpty, let id = handle.subscribe(places.map { question.filters[$0] }) else {
            question.answer.resume(returning: question.filters.map { _ in false })
            return
        }
        asked[id] = (question, places, ContinuousClock.now)
    }

    private func subscribed(_ id: Int32, _ granted: [Bool]) {
        guard let waiting = asked.removeValue(forKey: id) else { return }
        var answer = waiting.question.filters.map { _ in false }
        for (place, yes) in zip(waiting.places, granted) { answer[place] = yes }
        waiting.question.answer.resume(returning: answer)
    }

    private func expireQuestions() {
        guard !asked.isEmpty else { return }
        let now = ContinuousClock.now
        for (id, waiting) in asked where waiting.at + Self.subscribeLimit <= now { subscribed(id, []) }
    }

    private func failQuestions() {
        for id in asked.keys { subscribed(id, []) }
    }

    // MARK: In the beginning

    private struct Failure: Error { var end: ConnectionEnd }

    /// The address families the name has, in the resolver's order.
    private func resolve() -> Result<[Int32], Failure> {
        state.shared.withLock { $0.resolving = true }
        defer { state.shared.withLock { $0.resolving = false } }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(state.settings.host, nil, &hints, &list) == 0 else {
            return .failure(Failure(end: .nameUnknown))
        }
        defer { freeaddrinfo(list) }
        var families: [Int32] = []
        var entry = list
        while let address = entry {
            let family = address.pointee.ai_family
            if !families.contains(family) { families.append(family) }
            entry = address.pointee.ai_next
        }
        return .success(families)
    }

    /// The library tries one address only when it does not wait for it; binding
    /// to one family is the way to have it take another.
    private func bindAddress(_ families: [Int32]) -> String? {
        guard families.count > 1 else { return nil }
        return families[dial.addressTurn % families.count] == AF_INET6 ? "::" : "0.0.0.0"
    }

    private func waitForSocket(until deadline: ContinuousClock.Instant) -> ConnectionEnd? {
        while true {
            if state.isStopping { return .stopped }
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return .timedOut(reached: false) }
            var polled = [
                pollfd(fd: handle.socket, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: state.wakeup.readEnd, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&polled, 2, min(Self.milliseconds(left), Self.tickMilliseconds))
            if polled[1].revents != 0 { state.wakeup.clear() }
            guard polled[0].revents != 0 else { continue }
            var failure: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            if getsockopt(handle.socket, SOL_SOCKET, SO_ERROR, &failure, &size) == 0, failure != 0 {
                return self.failure(toConnect: failure)
            }
            return nil
        }
    }

    /// On a fast network the handshake may have begun, and failed, by then: only a connection
    /// that stood can be reset.
    private func failure(toConnect number: Int32) -> ConnectionEnd {
        let isHandshake = [EPROTO, ECONNRESET, EPIPE].contains(number) && state.settings.tls != nil
        return isHandshake ? lost() : .connectFailed(errno: number)
    }

    private func unreadableFile() -> String? {
        guard let tls = state.settings.tls else { return nil }
        let files = [tls.caFile, tls.certificate?.certificateFile, tls.certificate?.keyFile]
        return files.compactMap(\.self).first { access($0, R_OK) != 0 }
    }

    // MARK: In the end

    private func ending(after status: MosquittoHandle.Status) -> ConnectionEnd? {
        switch status {
        case .ok: nil
        case .lost, .tls: lost()
        case .keepAlive: .keepAlive
        case .nameUnknown: .nameUnknown
        case .system: lost()
        case .other(let words): handshakeFailure() ?? .protocolError(words)
        }
    }

    private func lost() -> ConnectionEnd { handshakeFailure() ?? .closed }

    /// A TLS 1.3 broker refuses our certificate only after we think we are
    /// through, so everything before CONNACK counts as the handshake.
    private func handshakeFailure() -> ConnectionEnd? {
        guard session == nil, state.settings.tls != nil else { return nil }
        return .tls(TLSFailure(complaints: handle.complaints) ?? .closedEarly)
    }

    private static func milliseconds(_ duration: Duration) -> Int32 {
        Int32(clamping: Int64(duration / .milliseconds(1)) + 1)
    }
}
