import BoxLink
import Testing

@testable import BoxSession

@Suite struct RequestTableTests {
    private let plan: CBORValue = ["rev": 4, "uptimeMs": 1, "slots": [], "stale": true, "ceilingW": 3_000]

    private func open(lastID: UInt32 = 0) -> RequestTable {
        var table = RequestTable(lastID: lastID)
        table.opened(capabilities: ["api.passthrough", "plan.dispatch", "price.spot"])
        return table
    }

    @Test func withoutASessionAQuestionFailsAtOnce() {
        var table = RequestTable()
        #expect(table.submitted(1, .plan, at: .zero) == [.finish(1, .failure(.notConnected))])
    }

    @Test func whatTheBoxDoesNotOfferIsNotAsked() {
        var table = RequestTable()
        table.opened(capabilities: ["status.core"])
        #expect(
            table.submitted(1, .api(APIRequest(path: "/api/status")), at: .zero)
                == [.finish(1, .failure(.unsupported(capability: "api.passthrough")))])
        #expect(
            table.submitted(2, .price(PriceGetMessage(fromMs: 0, toMs: 1)), at: .zero)
                == [.finish(2, .failure(.unsupported(capability: "price.spot")))])
    }

    @Test func idsCountFromOneAndWrapToOne() {
        var table = open()
        #expect(table.submitted(1, .plan, at: .zero) == [.send(Envelope(type: "plan.get", id: 1))])
        var late = open(lastID: .max - 1)
        #expect(late.submitted(1, .plan, at: .zero) == [.send(Envelope(type: "plan.get", id: .max))])
        #expect(late.submitted(2, .plan, at: .zero) == [.send(Envelope(type: "plan.get", id: 1))])
    }

    @Test func trap25OnlyThePlanOfTheSameIDSettlesTheQuestion() {
        var table = open()
        _ = table.submitted(1, .plan, at: .zero)
        #expect(table.answered(Envelope(type: "plan", id: 9, body: plan), at: .zero) == [])
        #expect(table.answered(Envelope(type: "plan", body: plan), at: .zero) == [])
        guard
            case .finish(1, .success(.plan(let answer))) = table.answered(
                Envelope(type: "plan", id: 1, body: plan), at: .zero
            ).first
        else {
            Issue.record("not settled")
            return
        }
        #expect(answer.rev == 4)
        #expect(answer.ceilingW == 3_000)
    }

    @Test func aPlanTakesEightSecondsAtMost() {
        var table = open()
        _ = table.submitted(1, .plan, at: .zero)
        #expect(table.timerFired(at: .seconds(7)) == [])
        #expect(table.timerFired(at: .seconds(8)) == [.finish(1, .failure(.timedOut))])
        #expect(table.answered(Envelope(type: "plan", id: 1, body: plan), at: .seconds(9)) == [])
    }

    @Test func anAnswerOfAnotherTypeIsNotTheAnswer() {
        var table = open()
        _ = table.submitted(1, .plan, at: .zero)
        #expect(table.answered(Envelope(type: "price", id: 1, body: plan), at: .zero) == [])
    }

    @Test func aMalformedAnswerSettlesAsThat() {
        var table = open()
        _ = table.submitted(1, .plan, at: .zero)
        #expect(
            table.answered(Envelope(type: "plan", id: 1, body: [:]), at: .zero)
                == [.finish(1, .failure(.malformedAnswer))])
    }

    @Test func aRequestThatFitsNoFrameFailsHere() {
        var table = open()
        let request = APIRequest(
            method: "PUT", path: "/api/x", body: Array(repeating: 0, count: 16_400))
        #expect(
            table.submitted(1, .api(request), at: .zero) == [.finish(1, .failure(.invalid(field: "body")))])
    }

    @Test func pendingQuestionsAreBounded() {
        var table = open()
        for ticket in 1...UInt64(RequestTable.maxPending) { _ = table.submitted(ticket, .plan, at: .zero) }
        #expect(table.submitted(99, .plan, at: .zero) == [.finish(99, .failure(.queueFull))])
    }

    @Test func aLostLinkFailsEveryQuestion() {
        var table = open()
        _ = table.submitted(1, .plan, at: .zero)
        _ = table.submitted(2, .api(APIRequest(path: "/api/status")), at: .zero)
        let actions = table.closed()
        #expect(
            actions == [.finish(2, .failure(.linkLost)), .finish(1, .failure(.linkLost))])
        #expect(table.nextDeadline == nil)
        #expect(!table.isOpen)
        #expect(table.closed() == [])
    }

    @Test func whoGivesUpIsToldSo() {
        var table = open()
        _ = table.submitted(1, .plan, at: .zero)
        #expect(table.withdrawn(1) == [.finish(1, .failure(.cancelled))])
        #expect(table.withdrawn(1) == [])
    }

    @Test func trap26ThePlansTimeIsWhenItWasSent() throws {
        let message = try PlanMessage(body: plan)
        #expect(message.uptimeMs == 1)
        #expect(message.isStale)
    }
}
