import EnergyModel
import FoundationEssentials
import JSONText
import Testing

@testable import BoxSession

/// A timed charging that lasts longer than one hold; every way in which it ends.
@Suite struct LeaseTests {
    /// Those about the value too, for a renewal asks for the same value again.
    @Test(
        arguments: [
            (.notPluggedIn, true), (.noCharger, true), (.notAllowed, true), (.unsupported, true),
            (.needsConsent, true), (.outOfRange, true), (.precondition, true), (.conflict, false),
            (.dispatchBlocked, false), (.unavailable, false), (.starting, false),
        ] as [(BoxRefusalReason.Kind, Bool)])
    func someRefusalsLast(kind: BoxRefusalReason.Kind, isSo: Bool) {
        #expect(kind.lasts == isSo)
    }

    private let wall = Date(timeIntervalSince1970: 1_796_023_000)

    /// Two hours from second 1,000 on.
    private func lease(lasting seconds: Int = 7_200) throws -> Lease {
        try #require(
            Lease(
                number: 1, loadpoint: "garage", powerW: 7_000, phaseMode: "3p",
                stepsW: [4_140, 6_900, 11_000],
                heldW: 6_900, holdSeconds: 1_800, endsAt: .seconds(1_000 + seconds), at: .seconds(1_000),
                wall: wall))
    }

    private func hold(_ powerW: Double = 6_900, expires: Int64? = 1_796_024_800_000, active: Bool = true)
        throws
        -> ManualHoldDetail
    {
        var document: [String: JSONValue] = ["active": .bool(active), "power_w": .double(powerW)]
        document["expires_at_ms"] = expires.map(JSONValue.int)
        return try #require(ManualHoldDetail(.object(document)))
    }

    @Test func oneHoldThatLastsToTheEndNeedsNone() {
        let short = Lease(
            number: 1, loadpoint: "garage", powerW: 7_000, phaseMode: nil, stepsW: [], heldW: 7_000,
            holdSeconds: 1_800, endsAt: .seconds(2_800), at: .seconds(1_000), wall: wall)
        #expect(short == nil)
    }

    @Test func itIsDueEveryTenMinutesWhileTheEndLiesAhead() throws {
        var lease = try lease()
        #expect(lease.dueAt == .seconds(1_600) && lease.holdEndsAt == .seconds(2_800))
        let first = lease.looked(try hold())
        #expect(first == nil)
        #expect(lease.verdict(try hold(), at: .seconds(1_600)) == .renew(seconds: 1_800))
        let renewed = lease.renewed(heldW: 6_900, seconds: 1_800, at: .seconds(1_600), wall: wall + 600)
        #expect(renewed == nil)
        #expect(lease.dueAt == .seconds(2_200) && lease.holdEndsAt == .seconds(3_400))
        #expect(lease.verdict(try hold(), at: .seconds(8_190)) == .renew(seconds: 10))
        #expect(lease.verdict(try hold(), at: .seconds(8_200)) == .end(.complete))
        let last = lease.renewed(heldW: 6_900, seconds: 600, at: .seconds(7_600), wall: wall)
        #expect(last == .complete)
    }

    @Test func whatSomebodyElseDidEndsIt() throws {
        var lease = try lease()
        #expect(lease.verdict(try hold(active: false), at: .seconds(1_600)) == .end(.notHeld))
        #expect(lease.verdict(try hold(3_680), at: .seconds(1_600)) == .end(.changed))
        #expect(lease.verdict(try hold(0), at: .seconds(1_600)) == .end(.changed))
        // Without an end it is somebody's who wants it to last.
        #expect(lease.verdict(try hold(expires: nil), at: .seconds(1_600)) == .end(.changed))
        // The same power with another end, once ours is known.
        let other = try hold(expires: 1_796_020_000_000)
        #expect(lease.verdict(other, at: .seconds(1_600)) == .renew(seconds: 1_800))
        let looked = lease.looked(try hold())
        #expect(looked == nil)
        #expect(lease.verdict(other, at: .seconds(1_600)) == .end(.changed))
        let gone = lease.looked(try hold(active: false))
        #expect(gone == .notHeld)
    }

    @Test func aReadingOfTheChargersMayShowItsEnd() throws {
        let lease = try lease()
        func reading(_ change: (inout Loadpoint) -> Void) -> Lease.Reason? {
            var loadpoint = Loadpoint(id: "garage")
            loadpoint.pluggedIn = true
            loadpoint.manualActive = true
            loadpoint.manualW = 6_900
            change(&loadpoint)
            return lease.stranger(loadpoint)
        }
        #expect(reading { _ in } == nil)
        #expect(reading { $0.manualW = 7_000 } == nil)
        #expect(reading { $0.manualActive = nil } == nil)
        #expect(reading { $0.pluggedIn = false } == .carLeft)
        #expect(reading { $0.manualActive = false } == .notHeld)
        #expect(reading { $0.manualW = 3_680 } == .changed)
        #expect(reading { $0.manualW = nil } == .changed)
        #expect(reading { $0.manualRestoreUnconfirmed = true } == .changed)
    }

    @Test func whatFailsIsTriedAgainUntilTheHoldRunsOut() throws {
        var lease = try lease()
        _ = lease.looked(try hold())
        let first = lease.failed(mayHaveRenewed: false, at: .seconds(1_600))
        #expect(first == nil && lease.dueAt == .seconds(1_660))
        // Perhaps it was renewed: its end is not held against it.
        let second = lease.failed(mayHaveRenewed: true, at: .seconds(1_660))
        #expect(second == nil)
        #expect(
            lease.verdict(try hold(expires: 1_796_025_000_000), at: .seconds(1_720)) == .renew(seconds: 1_800)
        )
        let last = lease.failed(mayHaveRenewed: false, at: .seconds(2_740))
        #expect(last == .ranOut)
    }
}
