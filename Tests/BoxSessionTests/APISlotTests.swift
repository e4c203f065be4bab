import BoxLink
import Testing

@testable import BoxSession

@Suite struct APISlotTests {
    private let status = APIRequest(path: "/api/status", priority: .status)

    /// A slot whose call has gone out under id 1.
    private func asking(_ request: APIRequest) -> APISlot {
        var slot = APISlot()
        _ = slot.submitted(1, request, at: .zero)
        slot.sent(id: 1)
        return slot
    }

    private func head(_ id: UInt32 = 1) -> Envelope {
        Envelope(type: "api.head", id: id, body: ["status": 200, "headers": [:], "len": .null])
    }
    private func chunk(_ seq: Int64, _ bytes: [UInt8], id: UInt32 = 1) -> Envelope {
        Envelope(type: "api.chunk", id: id, body: ["seq": .int(seq), "data": .bytes(bytes)])
    }
    private func end(_ bytes: Int64, truncated: Bool = false, id: UInt32 = 1) -> Envelope {
        Envelope(type: "api.end", id: id, body: ["bytes": .int(bytes), "truncated": .bool(truncated)])
    }
    private func refusal(_ code: String, _ args: CBORValue = [:], id: UInt32 = 1) -> Envelope {
        Envelope(type: "error", id: id, body: ["code": .text(code), "retryable": true, "args": args])
    }

    @Test func oneCallIsInFlightAndTheOthersWaitByPriorityThenArrival() {
        var slot = APISlot()
        #expect(slot.submitted(1, status, at: .zero) == [.ask(status)])
        slot.sent(id: 1)
        let order: [(UInt64, APIRequest.Priority)] = [
            (2, .prices), (3, .plan), (4, .plan), (5, .person), (6, .chargers),
        ]
        for (ticket, priority) in order {
            let request = APIRequest(path: "/api/\(ticket)", priority: priority)
            #expect(slot.submitted(ticket, request, at: .zero) == [])
        }
        var asked: [String] = []
        for id: UInt32 in 1...5 {
            _ = slot.answered(head(id), at: .zero)
            for case .ask(let request) in slot.answered(end(0, id: id), at: .zero) {
                asked.append(request.path)
                slot.sent(id: id + 1)
            }
        }
        #expect(asked == ["/api/5", "/api/6", "/api/3", "/api/4", "/api/2"])
    }

    @Test func trap30ABusySlotIsAskedAgainAfterAQuarterAHalfAndASecond() {
        var slot = asking(status)
        var now = Duration.zero
        for (index, pause) in [250, 500, 1_000].enumerated() {
            let id = UInt32(index + 1)
            #expect(slot.answered(refusal("E_UNAVAILABLE", ["reason": "busy"], id: id), at: now) == [])
            #expect(slot.timerFired(at: now + .milliseconds(pause - 1)) == [])
            now += .milliseconds(pause)
            #expect(slot.timerFired(at: now) == [.ask(status)])
            slot.sent(id: id + 1)
        }
        let busy = BoxRefusal(code: "E_UNAVAILABLE", retryable: true, args: ["reason": "busy"])
        #expect(
            slot.answered(refusal("E_UNAVAILABLE", ["reason": "busy"], id: 4), at: now)
                == [.finish(1, .failure(.refused(busy)))])
    }

    @Test(arguments: ["E_UNAVAILABLE", "E_NEEDS_STEP_UP", "E_NOVELTY"])
    func trap30NoOtherRefusalIsTriedAgain(code: String) {
        var slot = asking(status)
        let actions = slot.answered(refusal(code, ["tier": "configure"]), at: .zero)
        #expect(actions.count == 1)
        #expect(slot.nextDeadline == nil)
    }

    @Test func silenceIsTwentySecondsAndEveryPieceStartsItAnew() {
        var slot = asking(status)
        _ = slot.answered(head(), at: .seconds(19))
        _ = slot.answered(chunk(0, [1]), at: .seconds(38))
        #expect(slot.timerFired(at: .seconds(57)) == [])
        #expect(slot.timerFired(at: .seconds(58)) == [.finish(1, .failure(.timedOut))])
    }

    @Test func aWrongPieceSpoilsTheAnswerButTheSlotStaysTakenUntilItsEnd() {
        var slot = asking(status)
        _ = slot.submitted(2, APIRequest(path: "/api/modes"), at: .zero)
        _ = slot.answered(head(), at: .zero)
        #expect(slot.answered(chunk(1, [1]), at: .zero) == [.finish(1, .failure(.malformedAnswer))])
        #expect(slot.answered(chunk(2, [1]), at: .zero) == [])
        #expect(slot.answered(end(2), at: .zero) == [.ask(APIRequest(path: "/api/modes"))])
    }

    @Test func aLengthThatDoesNotMatchSpoilsTheAnswer() {
        var slot = asking(status)
        _ = slot.answered(head(), at: .zero)
        _ = slot.answered(chunk(0, [1, 2]), at: .zero)
        #expect(slot.answered(end(3), at: .zero) == [.finish(1, .failure(.malformedAnswer))])
    }

    @Test func anAnswerAboveItsCeilingIsNotKept() {
        var slot = asking(APIRequest(path: "/api/status", maxBytes: 3))
        _ = slot.answered(head(), at: .zero)
        _ = slot.answered(chunk(0, [1, 2]), at: .zero)
        #expect(slot.answered(chunk(1, [3, 4]), at: .zero) == [.finish(1, .failure(.tooLarge(limit: 3)))])
        #expect(slot.answered(end(4, truncated: true), at: .zero) == [])
    }

    @Test func anEmptyAnswerHasNoPiece() {
        var slot = asking(status)
        _ = slot.answered(head(), at: .zero)
        let answer = APIAnswer(status: 200, headers: [:], body: [])
        #expect(slot.answered(end(0), at: .zero) == [.finish(1, .success(answer))])
    }

    @Test func whoGivesUpLeavesTheSlotToTheNextOnlyWhenTheBoxIsDone() {
        var slot = asking(status)
        _ = slot.submitted(2, APIRequest(path: "/api/modes"), at: .zero)
        #expect(slot.withdrawn(1) == [.finish(1, .failure(.cancelled))])
        #expect(slot.withdrawn(1) == [])
        _ = slot.answered(head(), at: .zero)
        #expect(slot.answered(end(0), at: .zero) == [.ask(APIRequest(path: "/api/modes"))])
    }

    @Test func whoGivesUpWhileWaitingIsForgotten() {
        var slot = asking(status)
        _ = slot.submitted(2, APIRequest(path: "/api/modes"), at: .zero)
        #expect(slot.withdrawn(2) == [.finish(2, .failure(.cancelled))])
        #expect(slot.waitingCount == 0)
    }

    @Test func theQueueIsBoundedAndDropsTheLeastUrgent() {
        var slot = asking(status)
        for ticket in 2..<UInt64(2 + APISlot.maxWaiting) {
            #expect(slot.submitted(ticket, APIRequest(path: "/api/x", priority: .plan), at: .zero) == [])
        }
        #expect(
            slot.submitted(100, APIRequest(path: "/api/x", priority: .history), at: .zero)
                == [.finish(100, .failure(.queueFull))])
        let last = UInt64(1 + APISlot.maxWaiting)
        #expect(
            slot.submitted(101, APIRequest(path: "/api/x", priority: .person), at: .zero)
                == [.finish(last, .failure(.queueFull))])
    }

    @Test func aLostLinkFailsEverybodyAtOnce() {
        var slot = asking(status)
        _ = slot.submitted(2, status, at: .zero)
        #expect(
            slot.closed(.linkLost)
                == [.finish(1, .failure(.linkLost)), .finish(2, .failure(.linkLost))])
        #expect(slot.nextDeadline == nil)
        #expect(slot.answered(head(), at: .zero) == [])
    }

    @Test func eventsAtTheWrongTimeDoNothing() {
        var slot = APISlot()
        #expect(slot.answered(end(0), at: .zero) == [])
        #expect(slot.timerFired(at: .seconds(99)) == [])
        #expect(slot.withdrawn(9) == [])
        #expect(slot.closed(.linkLost) == [])
        slot.sent(id: 4)
        #expect(!slot.isAsking(4))
        slot = asking(status)
        #expect(slot.answered(chunk(0, [1]), at: .zero) == [.finish(1, .failure(.malformedAnswer))])
        #expect(slot.answered(head(7), at: .zero) == [])
    }

    @Test(arguments: [
        ("get", "/api/status", "method"), ("GET", "/status", "path"), ("GET", "/api/a/../b", "path"),
        ("GET", "/api//b", "path"), ("GET", "/api/b?c=1", "path"), ("GET", "/api/b#c", "path"),
        ("GET", "/api/b\u{0}", "path"), ("GET", "/api/b\u{7f}", "path"),
        ("GET", "/api/" + String(repeating: "x", count: 1_020), "path"),
    ])
    func aRequestTheBoxWouldNotTakeFailsHere(method: String, path: String, field: String) {
        var slot = APISlot()
        let request = APIRequest(method: method, path: path)
        #expect(slot.submitted(1, request, at: .zero) == [.finish(1, .failure(.invalid(field: field)))])
    }

    @Test(arguments: ["", "a\u{0}", "a\r", "a\n"])
    func aQueryKeyTheBoxWouldNotTakeFailsHere(key: String) {
        #expect(APIRequest(path: "/api/status", query: [key: "1"]).invalidField == "query")
    }

    @Test func trap31AnIDIsSentAsItIs() {
        let request = APIRequest(path: "/api/loadpoints/Bil å/manual_hold")
        #expect(request.invalidField == nil)
        #expect(request.messageBody["path"] == .text("/api/loadpoints/Bil å/manual_hold"))
    }
}
