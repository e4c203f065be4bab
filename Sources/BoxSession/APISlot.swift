import BoxLink

/// The one API call a session may have in flight, and who waits for it
/// (FTW wire §8, §11.30).
///
/// The box frees its slot only after its last frame, so a call right after
/// another can meet `busy`; that alone is tried again. Pure.
struct APISlot: Equatable {
    typealias Ticket = UInt64

    enum Action: Equatable {
        /// Send the call under a fresh id and tell it with ``sent(id:at:)``.
        case ask(APIRequest)
        case finish(Ticket, Result<APIAnswer, BoxRequestError>)
    }
    private struct Waiting: Equatable {
        var ticket: Ticket
        var request: APIRequest
    }
    private struct Call: Equatable {
        /// `nil` when nobody waits any more; the box's slot is taken all the same.
        var ticket: Ticket?
        var request: APIRequest
        var id: UInt32?
        var retries = 0
        /// Silence until then ends the call, or the pause before it is asked again.
        var deadline: Duration
        var isPausing = false
        var head: APIHeadMessage?
        var bytes: [UInt8] = []
        var nextSeq: UInt64 = 0

        var limit: Int { min(request.maxBytes ?? .max, Contract.Request.apiMaxBytes) }
    }

    static let maxWaiting = 32
    static let silence = Contract.Request.apiTimeout
    static let busyPauses = Contract.Request.busyRetries

    private var waiting: [Waiting] = []
    private var call: Call?

    /// Whether an answer with that id would belong here.
    func isAsking(_ id: UInt32) -> Bool { call?.id == id }
    var nextDeadline: Duration? {
        let overdue = waiting.compactMap(\.request.notAfter).min()
        guard let deadline = call?.deadline else { return overdue }
        return overdue.map { min($0, deadline) } ?? deadline
    }
    var waitingCount: Int { waiting.count }

    // MARK: Events

    /// Somebody asks. When too many wait, the least urgent of the newest is turned away.
    mutating func submitted(_ ticket: Ticket, _ request: APIRequest, at now: Duration) -> [Action] {
        if let field = request.invalidField { return [.finish(ticket, .failure(.invalid(field: field)))] }
        let place = waiting.firstIndex { $0.request.priority > request.priority } ?? waiting.count
        waiting.insert(Waiting(ticket: ticket, request: request), at: place)
        var actions: [Action] = []
        if waiting.count > Self.maxWaiting, let dropped = waiting.popLast() {
            actions.append(.finish(dropped.ticket, .failure(.queueFull)))
        }
        return actions + startNext(at: now)
    }

    mutating func sent(id: UInt32) { call?.id = id }

    /// Nobody waits for that ticket any more.
    mutating func withdrawn(_ ticket: Ticket) -> [Action] {
        if let place = waiting.firstIndex(where: { $0.ticket == ticket }) {
            waiting.remove(at: place)
        } else if call?.ticket == ticket {
            call?.ticket = nil
            call?.bytes = []
        } else {
            return []
        }
        return [.finish(ticket, .failure(.cancelled))]
    }

    /// An answer to the call in flight; see ``isAsking(_:)``.
    mutating func answered(_ envelope: Envelope, at now: Duration) -> [Action] {
        guard var current = call, let id = envelope.id, current.id == id else { return [] }
        current.deadline = now + Self.silence
        call = current
        do throws(MessageError) {
            switch envelope.type {
            case APIHeadMessage.type:
                call?.head = try APIHeadMessage(body: envelope.body)
                return []
            case APIChunkMessage.type: return chunk(try APIChunkMessage(body: envelope.body))
            case APIEndMessage.type: return end(try APIEndMessage(body: envelope.body), at: now)
            case ErrorMessage.type: return refused(try BoxRefusal(body: envelope.body), at: now)
            default: return []
            }
        } catch {
            // The box's slot stays taken until its end arrives or silence says so.
            let isLast = envelope.type == APIEndMessage.type || envelope.type == ErrorMessage.type
            return settle(.failure(.malformedAnswer)) + (isLast ? release(at: now) : [])
        }
    }

    mutating func timerFired(at now: Duration) -> [Action] {
        let late = dropOverdue(at: now)
        guard let current = call, now >= current.deadline else { return late }
        return late + pauseOrSilenceEnded(current, at: now)
    }

    private mutating func pauseOrSilenceEnded(_ current: Call, at now: Duration) -> [Action] {
        if current.isPausing {
            guard current.ticket != nil else { return release(at: now) }
            if current.request.isOverdue(at: now) {
                return settle(.failure(.tooLate)) + release(at: now)
            }
            call?.isPausing = false
            call?.deadline = now + Self.silence
            return [.ask(current.request)]
        }
        return settle(.failure(.timedOut)) + release(at: now)
    }

    /// The session is gone, and every call with it.
    mutating func closed(_ error: BoxRequestError) -> [Action] {
        let actions = settle(.failure(error)) + waiting.map { .finish($0.ticket, .failure(error)) }
        call = nil
        waiting = []
        return actions
    }

    // MARK: Steps

    private mutating func startNext(at now: Duration) -> [Action] {
        let late = dropOverdue(at: now)
        guard call == nil, !waiting.isEmpty else { return late }
        let next = waiting.removeFirst()
        call = Call(ticket: next.ticket, request: next.request, deadline: now + Self.silence)
        return late + [.ask(next.request)]
    }

    /// What waited past its time is never sent.
    private mutating func dropOverdue(at now: Duration) -> [Action] {
        let late = waiting.filter { $0.request.isOverdue(at: now) }
        waiting.removeAll { $0.request.isOverdue(at: now) }
        return late.map { .finish($0.ticket, .failure(.tooLate)) }
    }

    private mutating func chunk(_ chunk: APIChunkMessage) -> [Action] {
        guard let current = call, current.ticket != nil else { return [] }
        guard current.head != nil, chunk.seq == current.nextSeq else {
            return settle(.failure(.malformedAnswer))
        }
        guard chunk.bytes.count <= current.limit - current.bytes.count else {
            return settle(.failure(.tooLarge(limit: current.limit)))
        }
        call?.bytes += chunk.bytes
        call?.nextSeq += 1
        return []
    }

    private mutating func end(_ end: APIEndMessage, at now: Duration) -> [Action] {
        guard let current = call else { return [] }
        let outcome: Result<APIAnswer, BoxRequestError>
        if end.isTruncated {
            outcome = .failure(.tooLarge(limit: current.limit))
        } else if let head = current.head, end.bytes == UInt64(current.bytes.count) {
            outcome = .success(
                APIAnswer(
                    status: Int(truncatingIfNeeded: head.status), headers: head.headers, body: current.bytes))
        } else {
            outcome = .failure(.malformedAnswer)
        }
        return settle(outcome) + release(at: now)
    }

    private mutating func refused(_ refusal: BoxRefusal, at now: Duration) -> [Action] {
        guard let current = call else { return [] }
        guard refusal.isBusy, current.ticket != nil, current.retries < Self.busyPauses.count else {
            return settle(.failure(.refused(refusal))) + release(at: now)
        }
        call?.id = nil
        call?.isPausing = true
        call?.deadline = now + Self.busyPauses[current.retries]
        call?.retries += 1
        call?.head = nil
        return []
    }

    /// Tells whoever waits; the slot itself stays taken.
    private mutating func settle(_ outcome: Result<APIAnswer, BoxRequestError>) -> [Action] {
        guard let ticket = call?.ticket else { return [] }
        call?.ticket = nil
        call?.bytes = []
        return [.finish(ticket, outcome)]
    }

    private mutating func release(at now: Duration) -> [Action] {
        call = nil
        return startNext(at: now)
    }
}
