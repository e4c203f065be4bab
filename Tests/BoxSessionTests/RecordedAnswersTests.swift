import BoxLink
import FoundationEssentials
import Testing

@testable import BoxSession

/// Recorded questions and their answers, through the table that matches them.
@Suite struct RecordedAnswersTests {
    /// Asks the recorded question of that id and plays every answer to it.
    private func outcome(
        _ name: String, id: UInt32
    ) throws -> (sent: Envelope?, finished: Result<RequestTable.Answer, BoxRequestError>?) {
        let envelopes = try Recording(name).envelopes
        let asked = try #require(envelopes.first { !$0.message.isIncoming && $0.envelope.id == id })
        var table = RequestTable(lastID: id - 1)
        table.opened(capabilities: ["api.passthrough", "plan.dispatch", "price.spot"])
        let question: RequestTable.Question =
            switch asked.envelope.type {
            case "plan.get": .plan
            case "price.get": .price(try PriceGetMessage(body: asked.envelope.body))
            default: .api(try APIRequest(body: asked.envelope.body))
            }
        var actions = table.submitted(7, question, at: .zero)
        for (message, envelope) in envelopes where message.isIncoming && message.index > asked.message.index {
            actions += table.answered(envelope, at: .milliseconds(message.atMs))
        }
        var sent: Envelope?
        for case .send(let envelope) in actions { sent = sent ?? envelope }
        for case .finish(7, let outcome) in actions { return (sent, outcome) }
        return (sent, nil)
    }

    @Test(arguments: [
        ("reads", 10, "loadpoints"), ("reads", 11, "mpc-plan"), ("reads", 12, "energy-daily"),
        ("reads", 13, "status"), ("reads", 14, "modes"), ("reads", 15, "mode"), ("reads", 16, "drivers"),
        ("reads", 18, "schedule-put"), ("reads", 19, "loadpoints-scheduled"),
        ("reads", 20, "schedule-delete"), ("reads", 21, "schedule-bad"),
        ("commands", 1, "loadpoints-held"), ("commands", 2, "manual-hold"),
        ("restart-next", 1, "loadpoints-next"), ("room-owner", 1, "devices"),
    ])
    func theChunksJoinToTheAnswer(session: String, id: UInt32, file: String) throws {
        let (sent, finished) = try outcome(session, id: id)
        let recorded = try Recording(session).envelopes.first {
            !$0.message.isIncoming && $0.envelope.id == id
        }
        #expect(sent == recorded?.envelope)
        guard case .success(.api(let answer)) = try #require(finished) else {
            Issue.record("no answer: \(String(describing: finished))")
            return
        }
        #expect(answer.body == (try Recording.file("api-\(file).json")))
        #expect(answer.status == (file == "schedule-bad" ? 400 : 200))
        #expect(answer.headers == ["Content-Type": "application/json"])
    }

    @Test(arguments: [
        (17, "E_NEEDS_STEP_UP", true), (22, "E_UNKNOWN_OP", false), (23, "E_USE_CMD", false),
        (24, "E_LOCAL_ONLY", false), (25, "E_WHOLE_DOCUMENT", false), (3, "E_UNKNOWN_OP", false),
    ])
    func aRefusalKeepsItsCodeAndArguments(id: UInt32, code: String, retryable: Bool) throws {
        guard case .failure(.refused(let refusal)) = try outcome("reads", id: id).finished else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.code == code)
        #expect(refusal.retryable == retryable)
        #expect(!refusal.args.isEmpty)
        #expect(!refusal.isBusy)
    }

    @Test func aCutAnswerIsDiscarded() throws {
        #expect(try outcome("reads", id: 26).finished == .failure(.tooLarge(limit: 100)))
    }

    @Test func theBusySlotIsTriedAgainInsteadOfFailing() throws {
        let (_, finished) = try outcome("reads", id: 28)
        #expect(finished == nil)
    }

    @Test func planAndPricesAreRead() throws {
        guard case .success(.plan(let plan)) = try outcome("reads", id: 1).finished,
            case .success(.price(let prices)) = try outcome("reads", id: 2).finished
        else {
            Issue.record("no answer")
            return
        }
        #expect(plan.slots.count == 97)
        #expect(!plan.isStale)
        #expect(prices.slots.count == 192)
        #expect(!prices.isStale)
        #expect(prices.zone == "SE3")
    }
}
