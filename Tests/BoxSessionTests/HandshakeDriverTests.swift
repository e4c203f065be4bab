import Testing

@testable import BoxSession

@Suite struct HandshakeDriverTests {
    private func up(_ driver: inout HandshakeDriver, at now: Duration) {
        _ = driver.ready(at: now)
        _ = driver.established(at: now)
    }

    @Test func everyReadyStartsAFreshHandshake() {
        var driver = HandshakeDriver(hasCode: false)
        #expect(driver.ready(at: .zero) == [.wipe, .begin(withCode: false)])
        #expect(driver.ready(at: .seconds(1)) == [.wipe, .begin(withCode: false)])
        _ = driver.established(at: .seconds(2))
        #expect(driver.ready(at: .seconds(3)) == [.wipe, .begin(withCode: false)])
    }

    @Test func trap3SilenceAfterJoiningIsWaitedFor() {
        let driver = HandshakeDriver(hasCode: false)
        #expect(driver.nextDeadline == nil)
        #expect(driver.phase == .away)
    }

    @Test func trap4GoneWipesAndReadyBeginsAnew() {
        var driver = HandshakeDriver(hasCode: false)
        up(&driver, at: .zero)
        #expect(driver.gone() == [.wipe])
        #expect(driver.nextDeadline == nil)
        #expect(driver.ready(at: .seconds(5)) == [.wipe, .begin(withCode: false)])
    }

    @Test(arguments: [(0, 3.0), (1, 6.0), (2, 12.0), (3, 24.0), (4, 48.0), (5, 60.0), (20, 60.0)])
    func theFullPauseDoublesUpToAMinute(failures: Int, pauseS: Double) {
        var fresh = HandshakeDriver(hasCode: false)
        _ = fresh.ready(at: .zero)
        var now = Duration.zero
        for _ in 0..<failures {
            now += .seconds(12)
            _ = fresh.timerFired(at: now, chance: 0)
            _ = fresh.timerFired(at: now, chance: 0)
        }
        now += .seconds(12)
        _ = fresh.timerFired(at: now, chance: 1)
        #expect(fresh.phase == .pausing(until: now + .seconds(pauseS)))
    }

    @Test func chanceSpreadsTheRetries() {
        var driver = HandshakeDriver(hasCode: false)
        _ = driver.ready(at: .zero)
        _ = driver.timerFired(at: .seconds(12), chance: 0.5)
        #expect(driver.phase == .pausing(until: .milliseconds(13_500)))
    }

    @Test func aFreshReadyStartsThePausesOver() {
        var driver = HandshakeDriver(hasCode: false)
        _ = driver.ready(at: .zero)
        for second in [12, 24, 36] {
            _ = driver.timerFired(at: .seconds(second), chance: 0)
            _ = driver.timerFired(at: .seconds(second), chance: 0)
        }
        _ = driver.ready(at: .seconds(40))
        _ = driver.timerFired(at: .seconds(52), chance: 1)
        #expect(driver.phase == .pausing(until: .seconds(55)))
    }

    /// Each accepted message 1 takes one of the box's four places.
    @Test func trap5AttemptsNeverComeFasterThanTheirDeadline() {
        var driver = HandshakeDriver(hasCode: false)
        var begun: [Duration] = [.zero]
        _ = driver.ready(at: .zero)
        for second in 0...600 {
            let actions = driver.timerFired(at: .seconds(second), chance: 0)
            if actions.contains(.begin(withCode: false)) { begun.append(.seconds(second)) }
        }
        #expect(zip(begun, begun.dropFirst()).allSatisfy { $1 - $0 >= .seconds(12) })
    }

    /// A session outlives its socket in the box, so each reconnect takes a place.
    @Test func trap5APathThatBreaksAgainAndAgainDoesNotFillTheBoxsPlaces() {
        var driver = HandshakeDriver(hasCode: false)
        var begun: [Int] = []
        for second in 0..<180 {
            var actions = driver.ready(at: .seconds(second))
            actions += driver.timerFired(at: .seconds(second), chance: 0)
            guard actions.contains(.begin(withCode: false)) else { continue }
            begun.append(second)
            _ = driver.established(at: .seconds(second))
            _ = driver.lost()
        }
        #expect(begun == [0, 1, 2, 60, 61, 62, 120, 121, 122])
    }

    @Test func aBoxThatForgotItsSessionsIsGreetedAtOnce() {
        var driver = HandshakeDriver(hasCode: false)
        for second in 0..<9 {
            up(&driver, at: .seconds(second))
            #expect(driver.phase == .up(since: .seconds(second)))
            _ = driver.gone()
        }
    }

    // MARK: The code

    @Test func theCodeIsUsedUpByTheFirstHandshake() {
        var driver = HandshakeDriver(hasCode: true)
        #expect(driver.ready(at: .zero) == [.wipe, .begin(withCode: true)])
        #expect(driver.established(at: .seconds(1)) == [.paired])
        #expect(driver.ready(at: .seconds(2)) == [.wipe, .begin(withCode: false)])
        #expect(driver.established(at: .seconds(3)) == [])
    }

    @Test func trap24ACodeThatMetSilenceThreeTimesIsNotSentAgain() {
        var driver = HandshakeDriver(hasCode: true)
        _ = driver.ready(at: .zero)
        #expect(driver.timerFired(at: .seconds(12), chance: 0) == [.wipe, .unanswered])
        #expect(driver.timerFired(at: .seconds(12), chance: 0) == [.begin(withCode: true)])
        #expect(driver.timerFired(at: .seconds(24), chance: 0) == [.wipe, .unanswered])
        #expect(driver.timerFired(at: .seconds(24), chance: 0) == [.begin(withCode: true)])
        #expect(driver.timerFired(at: .seconds(36), chance: 0) == [.wipe, .refuseCode, .unanswered])
        #expect(driver.timerFired(at: .seconds(36), chance: 0) == [.begin(withCode: false)])
        #expect(driver.ready(at: .seconds(40)) == [.wipe, .begin(withCode: false)])
    }

    @Test func aLostSocketIsNoVerdictOnTheCode() {
        var driver = HandshakeDriver(hasCode: true)
        for second in 0..<10 {
            #expect(driver.ready(at: .seconds(second)) == [.wipe, .begin(withCode: true)])
            _ = driver.lost()
        }
    }

    @Test func aBoxThatAcceptsUsAfterAllStillPairs() {
        var driver = HandshakeDriver(hasCode: true)
        _ = driver.ready(at: .zero)
        for second in [12, 24, 36] {
            _ = driver.timerFired(at: .seconds(second), chance: 0)
            _ = driver.timerFired(at: .seconds(second), chance: 0)
        }
        #expect(driver.established(at: .seconds(37)) == [.paired])
    }

    // MARK: Silence and eviction

    @Test func trap6ASilentSessionIsAnsweredByANewHandshakeThenByARedial() {
        var driver = HandshakeDriver(hasCode: false)
        up(&driver, at: .zero)
        #expect(driver.sessionSilent(at: .seconds(100)) == [.wipe, .begin(withCode: false)])
        #expect(driver.timerFired(at: .seconds(112), chance: 0) == [.wipe, .unanswered, .redial])
        #expect(driver.nextDeadline == nil)
    }

    @Test func repeatedEvictionIsAnsweredLaterAndLater() {
        var driver = HandshakeDriver(hasCode: false)
        up(&driver, at: .zero)
        var now = Duration.zero
        var waits: [Duration] = []
        for _ in 0..<7 {
            now += .seconds(4)
            let actions = driver.sessionSilent(at: now)
            if actions == [.wipe, .standBack], let until = driver.nextDeadline {
                waits.append(until - now)
                now = until
                #expect(driver.timerFired(at: now, chance: 0) == [.begin(withCode: false)])
            } else {
                waits.append(.zero)
            }
            _ = driver.established(at: now)
        }
        #expect(waits == [0, 30, 60, 120, 300, 600, 600].map { .seconds($0) })
    }

    @Test func aLongSteadySessionClearsTheRecord() {
        var driver = HandshakeDriver(hasCode: false)
        up(&driver, at: .zero)
        _ = driver.sessionSilent(at: .seconds(4))
        _ = driver.established(at: .seconds(5))
        #expect(driver.sessionSilent(at: .seconds(605)) == [.wipe, .begin(withCode: false)])
    }

    @Test func aDeadPathIsNoEviction() {
        var driver = HandshakeDriver(hasCode: false)
        up(&driver, at: .zero)
        for round in 1...5 {
            let now = Duration.seconds(100 * round)
            #expect(driver.sessionSilent(at: now) == [.wipe, .begin(withCode: false)])
            _ = driver.timerFired(at: now + .seconds(12), chance: 0)
            up(&driver, at: now + .seconds(20))
        }
    }

    @Test func standingBackOutlivesARedialButNotABoxRestart() {
        var driver = HandshakeDriver(hasCode: false)
        up(&driver, at: .zero)
        _ = driver.sessionSilent(at: .seconds(4))
        _ = driver.established(at: .seconds(5))
        _ = driver.sessionSilent(at: .seconds(9))
        _ = driver.lost()
        #expect(driver.ready(at: .seconds(12)) == [.wipe])
        #expect(driver.phase == .pausing(until: .seconds(39)))
        _ = driver.gone()
        #expect(driver.ready(at: .seconds(20)) == [.wipe, .begin(withCode: false)])
    }

    // MARK: Revocation

    @Test func aRemovedClientTriesOnceAnHour() {
        var driver = HandshakeDriver(hasCode: false)
        up(&driver, at: .zero)
        #expect(driver.revoked(at: .seconds(10)) == [.wipe])
        #expect(driver.ready(at: .seconds(20)) == [.wipe])
        #expect(driver.timerFired(at: .seconds(3_609), chance: 0) == [])
        #expect(driver.timerFired(at: .seconds(3_610), chance: 0) == [.begin(withCode: false)])
        #expect(driver.timerFired(at: .seconds(3_622), chance: 0) == [.wipe, .unanswered, .wipe])
        #expect(driver.phase == .pausing(until: .seconds(7_222)))
        _ = driver.gone()
        #expect(driver.ready(at: .seconds(3_700)) == [.wipe])
    }

    @Test func aClientAdmittedAgainIsWellAgain() {
        var driver = HandshakeDriver(hasCode: false)
        up(&driver, at: .zero)
        _ = driver.revoked(at: .seconds(10))
        _ = driver.timerFired(at: .seconds(3_610), chance: 0)
        _ = driver.established(at: .seconds(3_611))
        #expect(driver.ready(at: .seconds(3_700)) == [.wipe, .begin(withCode: false)])
    }

    // MARK: The wrong time

    @Test func eventsAtTheWrongTimeDoNothing() {
        var driver = HandshakeDriver(hasCode: true)
        let fresh = driver
        #expect(driver.established(at: .zero) == [])
        #expect(driver.sessionSilent(at: .zero) == [])
        #expect(driver.renew(at: .zero) == [])
        #expect(driver.timerFired(at: .seconds(99), chance: 0) == [])
        #expect(driver == fresh)
        #expect(driver.gone() == [.wipe])
        #expect(driver.lost() == [.wipe])
        _ = driver.ready(at: .zero)
        #expect(driver.timerFired(at: .seconds(11), chance: 0) == [])
        #expect(driver.sessionSilent(at: .seconds(11)) == [])
        #expect(driver.renew(at: .seconds(11)) == [])
        _ = driver.established(at: .seconds(11))
        #expect(driver.established(at: .seconds(12)) == [])
        #expect(driver.timerFired(at: .seconds(99), chance: 0) == [])
    }
}
