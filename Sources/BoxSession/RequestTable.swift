import BoxLink

/// Which question awaits which answer, and until when (FTW wire §5.1, §6.8, §6.9, §8).
///
/// Ids count from 1 and wrap to 1; an answer whose id nobody waits for is too
/// late and ignored. Pure.
struct RequestTable: Equatable {
    typealias Ticket = UInt64

    enum Question: Equatable {
        case api(APIRequest)
        case plan
        case price(PriceGetMessage)
    }
    enum Answer: Equatable {
        case api(APIAnswer)
        case plan(PlanMessage)
        case price(PriceMessage)
    }
    enum Action: Equatable {
        case send(Envelope)
        case finish(Ticket, Result<Answer, BoxRequestError>)
    }
    private enum Kind: Equatable { case plan, price }
    private struct Pending: Equatable {
        var ticket: Ticket
        var kind: Kind
        var deadline: Duration
    }

    /// How long a plan or a price may take.
    static let timeout = Contract.Request.planTimeout
    static let maxPending = 16

    /// Which capabilities the session has; `nil` while there is none.
    private var capabilities: Set<String>?
    private var slot = APISlot()
    private var pending: [UInt32: Pending] = [:]
    private var lastID: UInt32

    /// - Parameter lastID: The id before the first one used.
    init(lastID: UInt32 = 0) { self.lastID = lastID }

    var isOpen: Bool { capabilities != nil }

    var nextDeadline: Duration? {
        let first = pending.values.map(\.deadline).min()
        guard let slotDeadline = slot.nextDeadline else { return first }
        return first.map { min($0, slotDeadline) } ?? slotDeadline
    }

    // MARK: Events

    /// The box greeted us with these capabilities.
    mutating func opened(capabilities: [String]) { self.capabilities = Set(capabilities) }

    /// The session is gone.
    mutating func closed() -> [Action] {
        capabilities = nil
        let questions = pending.sorted { $0.key < $1.key }
        pending = [:]
        return translate(slot.closed(.linkLost))
            + questions.map { .finish($0.value.ticket, .failure(.linkLost)) }
    }

    /// Somebody asks; answers come as `finish` with that ticket.
    mutating func submitted(_ ticket: Ticket, _ question: Question, at now: Duration) -> [Action] {
        guard let capabilities else { return [.finish(ticket, .failure(.notConnected))] }
        let needed =
            switch question {
            case .api: Contract.Capability.apiPassthrough
            case .plan: Contract.Capability.planDispatch
            case .price: Contract.Capability.spotPrice
            }
        guard capabilities.contains(needed.rawValue) else {
            return [.finish(ticket, .failure(.unsupported(capability: needed.rawValue)))]
        }
        switch question {
        case .api(let request):
            let size = Envelope(type: APIRequest.type, id: .max, body: request.messageBody).encoded().count
            guard size <= Frame.maxPayload else {
                return [.finish(ticket, .failure(.invalid(field: "body")))]
            }
            return translate(slot.submitted(ticket, request, at: now))
        case .plan:
            return ask(ticket, .plan, Envelope(type: PlanGetMessage.type), at: now)
        case .price(let window):
            return ask(ticket, .price, Envelope(type: PriceGetMessage.type, body: window.body), at: now)
        }
    }

    /// Whoever asked gave up.
    mutating func withdrawn(_ ticket: Ticket) -> [Action] {
        if let id = pending.first(where: { $0.value.ticket == ticket })?.key {
            pending[id] = nil
            return [.finish(ticket, .failure(.cancelled))]
        }
        return translate(slot.withdrawn(ticket))
    }

    /// An envelope with an id.
    mutating func answered(_ envelope: Envelope, at now: Duration) -> [Action] {
        guard let id = envelope.id else { return [] }
        if slot.isAsking(id) { return translate(slot.answered(envelope, at: now)) }
        guard let question = pending[id] else { return [] }
        do throws(MessageError) {
            switch (question.kind, envelope.type) {
            case (_, ErrorMessage.type):
                return settle(id, .failure(.refused(try BoxRefusal(body: envelope.body))))
            case (.plan, PlanMessage.type):
                return settle(id, .success(.plan(try PlanMessage(body: envelope.body))))
            case (.price, PriceMessage.type):
                return settle(id, .success(.price(try PriceMessage(body: envelope.body))))
            default: return []
            }
        } catch {
            return settle(id, .failure(.malformedAnswer))
        }
    }

    mutating func timerFired(at now: Duration) -> [Action] {
        var actions = translate(slot.timerFired(at: now))
        for (id, question) in pending.sorted(by: { $0.key < $1.key }) where now >= question.deadline {
            actions += settle(id, .failure(.timedOut))
        }
        return actions
    }

    // MARK: Steps

    private mutating func ask(
        _ ticket: Ticket, _ kind: Kind, _ envelope: Envelope, at now: Duration
    ) -> [Action] {
        guard pending.count < Self.maxPending else { return [.finish(ticket, .failure(.queueFull))] }
        var envelope = envelope
        let id = nextID()
        envelope.id = id
        pending[id] = Pending(ticket: ticket, kind: kind, deadline: now + Self.timeout)
        return [.send(envelope)]
    }

    private mutating func settle(_ id: UInt32, _ outcome: Result<Answer, BoxRequestError>) -> [Action] {
        guard let question = pending.removeValue(forKey: id) else { return [] }
        return [.finish(question.ticket, outcome)]
    }

    private mutating func translate(_ actions: [APISlot.Action]) -> [Action] {
        actions.map { action in
            switch action {
            case .ask(let request):
                let id = nextID()
                slot.sent(id: id)
                return .send(Envelope(type: APIRequest.type, id: id, body: request.messageBody))
            case .finish(let ticket, let outcome):
                return .finish(ticket, outcome.map { .api($0) })
            }
        }
    }

    private mutating func nextID() -> UInt32 {
        repeat {
            lastID = lastID == .max ? 1 : lastID + 1
        } while pending[lastID] != nil || slot.isAsking(lastID)
        return lastID
    }
}
