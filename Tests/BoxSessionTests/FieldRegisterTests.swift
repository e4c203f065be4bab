import BoxLink
import Testing

@testable import BoxSession

@Suite struct FieldRegisterTests {
    private let box: FakeBox
    private var register = FieldRegister()

    init() throws {
        box = try FakeBox()
        register.apply(try SnapMessage(body: box.snap(blocked: ["meter"])))
    }

    private func delta(_ body: CBORValue) throws -> DeltaMessage { try DeltaMessage(body: body) }

    @Test mutating func trap12ATableWithoutABlockedListClearsIt() throws {
        #expect(register.blockedBy == ["meter"])
        _ = register.apply(try delta(box.delta(fields: ["2": 5])))
        #expect(register.blockedBy == ["meter"])
        _ = register.apply(try delta(box.delta(sources: box.table())))
        #expect(register.blockedBy.isEmpty)
    }

    @Test mutating func aBlockedListComesWithItsTable() throws {
        _ = register.apply(try delta(box.delta(sources: box.table(), blocked: ["meter", "roof"])))
        #expect(register.blockedBy == ["meter", "roof"])
    }

    @Test mutating func trap15AFieldThatVanishedStaysUntilTheNextSnapshot() throws {
        _ = register.apply(try delta(box.delta(fields: [:])))
        #expect(register.fields[5] == 613)
        register.apply(try SnapMessage(body: box.snap(fields: ["1": 0, "2": 1])))
        #expect(register.fields == [1: 0, 2: 1])
    }

    @Test mutating func aGapCostsTheFramesInItAndNothingElse() throws {
        #expect(register.apply(try TickMessage(body: box.tick())) == .init(missing: 0, isLate: false))
        box.seq += 3
        #expect(register.apply(try TickMessage(body: box.tick())) == .init(missing: 3, isLate: false))
        #expect(register.fields[2] == 1_200)
    }

    @Test mutating func aLateFrameDoesNotBringOldNumbersBack() throws {
        let early = box.delta(fields: ["2": 1, "3": -1])
        let late = box.delta(fields: ["2": 2])
        _ = register.apply(try delta(late))
        #expect(register.apply(try delta(early)).isLate)
        #expect(register.fields[2] == 2)
        #expect(register.fields[3] == -1)
    }

    @Test mutating func aNewSessionCountsFromOneAgain() throws {
        for _ in 0..<50 { _ = register.apply(try TickMessage(body: box.tick())) }
        register.sessionStarted()
        box.seq = 0
        register.apply(try SnapMessage(body: box.snap()))
        #expect(register.apply(try delta(box.delta(fields: ["2": 9]))) == .init())
        #expect(register.fields[2] == 9)
    }

    @Test mutating func unknownFieldsAreKeptButNotWithoutBound() throws {
        for id in 0..<1_000 {
            _ = register.apply(try delta(box.delta(fields: .map(CBORMap([("\(1_000 + id)", .int(1))])))))
        }
        #expect(register.fields.count == FieldRegister.maxFields)
        _ = register.apply(try delta(box.delta(fields: ["2": 77])))
        #expect(register.fields[2] == 77)
    }

    @Test mutating func anotherRunForgetsEverything() {
        register.restarted()
        #expect(register == FieldRegister())
        #expect(!register.hasSnapshot)
    }
}
