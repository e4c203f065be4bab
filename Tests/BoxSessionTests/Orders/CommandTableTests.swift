import BoxLink
import Testing

@testable import BoxSession

/// Several commands at the box at once, each followed by its own id.
@Suite struct CommandTableTests {
    private func message(_ id: String) -> CommandMessage {
        CommandMessage(
            commandID: id, operation: "loadpoint.hold", args: ["id": "garage"], notValidAfterMs: 1, rev: 7)
    }

    private func result(_ id: String) throws -> CommandResultMessage {
        try CommandResultMessage(body: ["cmdId": .text(id), "state": "applied"])
    }

    private func table(_ ids: String...) -> CommandTable {
        var table = CommandTable()
        for (number, id) in ids.enumerated() {
            _ = table.submitted(UInt64(number), message(id), at: .seconds(number))
        }
        return table
    }

    @Test func aCommandIsSentOnceAndAnsweredUnderItsOwnId() throws {
        var table = CommandTable()
        #expect(table.submitted(4, message("a"), at: .zero) == [.send(message("a"))])
        #expect(table.submitted(5, message("b"), at: .zero) == [.send(message("b"))])
        #expect(table.acknowledged("b") == [.acknowledged(5)])
        #expect(table.settled(try result("a")) == [.finish(4, .settled(try result("a")))])
        #expect(table.count == 1)
        #expect(table.settled(try result("b")) == [.finish(5, .settled(try result("b")))])
        #expect(table.count == 0 && table.nextDeadline == nil)
    }

    @Test func anIdThatNobodyWaitsForIsTold() throws {
        var table = table("a")
        #expect(table.acknowledged("x") == nil)
        #expect(table.settled(try result("x")) == nil)
        _ = table.settled(try result("a"))
        #expect(table.settled(try result("a")) == nil)
        #expect(table.acknowledged("a") == nil)
    }

    @Test func eachHasItsOwnClock() {
        var table = table("a", "b")
        #expect(table.nextDeadline == .seconds(2))
        #expect(table.timerFired(at: .seconds(2)) == [.send(message("a"))])
        #expect(table.timerFired(at: .seconds(3)) == [.send(message("b"))])
        #expect(table.timerFired(at: .seconds(5)) == [.finish(0, .neverArrived)])
        _ = table.acknowledged("b")
        #expect(table.nextDeadline == .seconds(16))
        #expect(table.timerFired(at: .seconds(16)) == [.finish(1, .unconfirmed)])
    }

    @Test func aLostLinkEndsAllOfThem() {
        var table = table("a", "b")
        _ = table.acknowledged("b")
        #expect(
            table.linkLost() == [
                .finish(0, .linkBroke(acknowledged: false)), .finish(1, .linkBroke(acknowledged: true)),
            ])
        #expect(table.linkLost().isEmpty && table.count == 0)
    }

    @Test func oneThatNobodyWaitsForAnyMoreIsLetGo() {
        var table = table("a", "b")
        #expect(table.withdrawn(1) == [.finish(1, .linkBroke(acknowledged: false))])
        #expect(table.withdrawn(1).isEmpty && table.withdrawn(99).isEmpty)
        #expect(table.count == 1)
    }

    @Test func itHasABound() {
        var table = CommandTable()
        for number in 0..<CommandTable.limit {
            #expect(!table.isFull)
            _ = table.submitted(UInt64(number), message("c\(number)"), at: .zero)
        }
        #expect(table.isFull)
    }
}
