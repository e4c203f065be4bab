import BoxLink
import Testing

@testable import BoxSimulator

@Suite struct SourceBoardTests {
    private let flows = HouseFlows(loadW: 1_000, pvW: -600, batteryW: 200, evW: ["garage": 7_000])

    private func board(silentSince start: Int64 = 10_000, _ behaviour: SourceBehaviour) -> SourceBoard {
        var board = SourceBoard(
            staleAfterMs: 15_000, hasSolar: true, hasBattery: true,
            chargers: [(driver: "garage-charger", id: "garage")])
        board.poll(uptimeMs: start, flows: flows, batterySoc: 0.5)
        board.set("roof-pv", behaviour)
        board.set("grid-meter", behaviour)
        return board
    }

    @Test(arguments: [
        (10_000, "live"), (25_000, "live"), (25_001, "lagging"), (40_000, "lagging"), (40_001, "stale"),
        (100_000, "stale"), (100_001, "down"),
    ])
    func aSilentSourceGrowsOldInSteps(uptimeMs: Int64, state: String) {
        let board = board(.silent)
        #expect(board.state(of: "roof-pv", uptimeMs: uptimeMs) == state)
        // Until it is down its last word counts.
        #expect(board.reading(uptimeMs: uptimeMs).pvW == (state == "down" ? 0 : -600))
    }

    @Test func aFailingSourceFlapsOnceItsTimeHasPassed() {
        let board = board(.failing)
        let seen = (20...36).map { board.state(of: "grid-meter", uptimeMs: $0 * 1_000) }
        #expect(seen[...5].allSatisfy { $0 == "live" })
        #expect(
            seen[6...] == [
                "down", "lagging", "down", "lagging", "down", "lagging", "down", "lagging", "down", "lagging",
                "down",
            ])
        #expect(board.blockedBy(uptimeMs: 26_000) == ["grid-meter"])
        #expect(board.blockedBy(uptimeMs: 27_000).isEmpty)
        #expect(board.reading(uptimeMs: 26_000).gridW == 0)
        #expect(board.reading(uptimeMs: 27_000).gridW == flows.gridW)
        #expect(board.state(of: "grid-meter", uptimeMs: 101_000) == "down")
        #expect(board.state(of: "grid-meter", uptimeMs: 102_000) == "down")
    }

    @Test func aFrozenReadingBendsTheHouseLoad() {
        let board = board(.offline)
        let reading = board.reading(uptimeMs: 11_000)
        // Grid and sun count as nothing, so the house seems to use nothing.
        #expect(reading.gridW == 0 && reading.pvW == 0 && reading.loadW == 0)
    }

    @Test func anUnheardSourceIsMissingButTheMeterIsNot() {
        let board = SourceBoard(staleAfterMs: 15_000, hasSolar: true, hasBattery: true, chargers: [])
        let table = board.table(uptimeMs: 24)
        #expect(table.keys.sorted() == ["grid-meter"])
        #expect(table["grid-meter"]?.state == "never")
        #expect(board.blockedBy(uptimeMs: 24).isEmpty)
    }

    @Test func returningIsLiveAtOnce() {
        var board = board(.failing)
        board.set("grid-meter", .answering)
        board.poll(uptimeMs: 30_000, flows: flows, batterySoc: 0.5)
        #expect(board.state(of: "grid-meter", uptimeMs: 30_000) == "live")
    }
}

@Suite struct TelemetryFeedTests {
    private func telemetry(
        _ uptimeMs: Int64, sources: Int, blocked: [String] = [], state: String = "live", grid: Int64 = 5
    ) -> Telemetry {
        let board = SourceBoard(staleAfterMs: 15_000, hasSolar: true, hasBattery: true, chargers: [])
        var now = Telemetry(board: board, uptimeMs: uptimeMs, controlRev: 1, modeIndex: 3, hasCars: false)
        now.fields = [1: 3, 2: grid, 3: 0, 4: 0, 6: grid]
        now.sources = [:]
        for number in 0..<sources {
            now.sources["source-\(number)"] = SourceBoard.Entry(
                state: state, lastOkMs: uptimeMs, staleAfterMs: 15_000)
        }
        now.blockedBy = blocked
        return now
    }

    private func fits(_ type: String, _ body: CBORValue) -> Bool {
        Envelope(type: type, body: body).encoded(.deterministic).count <= 506
    }

    @Test func onlyWhatChangedIsSent() {
        var feed = TelemetryFeed()
        feed.snapped(telemetry(1_000, sources: 3))
        let quiet = feed.beat(telemetry(2_000, sources: 3), fits: fits)
        #expect(quiet.type == "tick")
        let beat = feed.beat(telemetry(3_000, sources: 3, grid: 9), fits: fits)
        #expect(beat.body["fields"] == ["2": 9, "6": 9])
        #expect(beat.body["sources"] == nil)
        #expect(beat.body["seq"] == 2)
    }

    @Test func aClearedListIsShownByItsAbsence() {
        var feed = TelemetryFeed()
        feed.snapped(telemetry(1_000, sources: 3))
        let blocked = feed.beat(telemetry(2_000, sources: 3, blocked: ["grid-meter"]), fits: fits)
        #expect(blocked.body["dispatchBlockedBy"] == ["grid-meter"])
        #expect(blocked.body["sources"]?.mapValue?.count == 3)
        let cleared = feed.beat(telemetry(3_000, sources: 3), fits: fits)
        #expect(cleared.body["sources"]?.mapValue?.count == 3)
        #expect(cleared.body["dispatchBlockedBy"] == nil)
    }

    @Test func aTableThatDoesNotFitIsTriedAgainOnEveryBeat() {
        var feed = TelemetryFeed()
        feed.snapped(telemetry(1_000, sources: 8))
        for second in 2...4 {
            let beat = feed.beat(
                telemetry(Int64(second) * 1_000, sources: 8, blocked: ["grid-meter"], state: "down"),
                fits: fits)
            #expect(beat.isTruncated)
            #expect(beat.type == "delta")
            #expect(beat.body["sources"] == nil && beat.body["dispatchBlockedBy"] == nil)
        }
        // The fields got through, so they are not repeated.
        let beat = feed.beat(telemetry(5_000, sources: 8, state: "down", grid: 7), fits: fits)
        #expect(beat.body["fields"] == ["2": 7, "6": 7])
    }

    @Test func fieldsAreCutFromTheHighestDownAndComeLater() {
        var feed = TelemetryFeed()
        feed.snapped(telemetry(1_000, sources: 1))
        let cut = feed.beat(telemetry(2_000, sources: 1, grid: 50)) { _, body in
            (body["fields"]?.mapValue?.count ?? 0) <= 1
        }
        #expect(cut.isTruncated)
        #expect(cut.body["fields"] == ["2": 50])
        let rest = feed.beat(telemetry(3_000, sources: 1, grid: 50), fits: fits)
        #expect(rest.body["fields"] == ["6": 50])
        #expect(!rest.isTruncated)
    }
}
