import EnergyModel
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSimulator

/// A house whose clock, prices and meter are moved by hand.
@Suite struct PlayTests {
    private func house(_ text: String) throws -> (house: SimulatedHouse, time: ManualTime) {
        let time = ManualTime(wall: try #require(instant(rfc3339: text)))
        return (SimulatedHouse(clock: HouseClock(time: time, startingAt: time.wall)), time)
    }

    @Test func theClockGoesFasterFromNowOnAndCanBeSet() throws {
        let time = ManualTime()
        let start = time.wall
        let clock = HouseClock(time: time, startingAt: start)
        let seenByOthers = HouseTime(base: time, clock: clock)
        time.advance(by: .seconds(10))
        #expect(clock.setSpeed(60))
        #expect(clock.now == start.addingTimeInterval(10))
        time.advance(by: .seconds(10))
        #expect(clock.now == start.addingTimeInterval(610))
        #expect(clock.set(start))
        time.advance(by: .seconds(1))
        #expect(seenByOthers.wall == start.addingTimeInterval(60))
        clock.setSpeed(.nan)
        time.advance(by: .seconds(1))
        #expect(clock.now == start.addingTimeInterval(61))
        #expect(!HouseClock(following: time).setSpeed(2) && !HouseClock(following: time).set(start))
    }

    @Test(arguments: [
        ("2026-11-30T12:00:00+01:00", 24), ("2026-10-25T12:00:00+01:00", 25),
        ("2027-03-28T12:00:00+02:00", 23),
    ])
    func pricesSetByHandAreTheDays(text: String, hours: Int) throws {
        let (house, _) = try house(text)
        let values = (0..<hours).map { Double($0 * 10 - 50) }
        #expect(house.setPrices(values) == nil)
        #expect(house.spotMinor() == values)
        let slots = house.now { model in model.prices.slots(of: model.zone.day(of: model.at)) }
        #expect(slots.count == hours * 4)
        for (index, slot) in slots.enumerated() {
            #expect(slot.spotMinor == values[index / 4])
            #expect(slot.totalMinor == (values[index / 4] + 40) * 1.25)
        }
        let quarters = (0..<hours * 4).map { Double($0) }
        #expect(house.setPrices(quarters) == nil)
        #expect(house.now { $0.prices.slots(of: $0.zone.day(of: $0.at)).map(\.spotMinor) } == quarters)
        #expect(house.setPrices([1, 2]) == [1, hours, hours * 4])
        #expect(house.setPrices([7]) == nil)
        #expect(Set(house.spotMinor()) == [7])
        #expect(house.now { $0.plan?.slots.first?.price.spotMinor } == 7)
        #expect(house.spotMinor(daysAhead: 1) != house.spotMinor())
        house.resetPrices()
        #expect(Set(house.spotMinor()).count > 10)
    }

    @Test func tomorrowIsPublishedWhenItIsSaid() throws {
        let (house, _) = try house("2026-11-30T12:00:00+01:00")
        func count() -> Int {
            house.now { $0.prices.slots(from: $0.at, to: $0.at + 3 * 86_400, now: $0.at).count }
        }
        #expect(count() == 48)
        house.setTomorrowPublished(true)
        #expect(count() == 144)
        house.setTomorrowPublished(nil)
        #expect(count() == 48)
    }

    @Test func theMeterGoesOnWhenItIsPushed() throws {
        let (house, _) = try house("2026-11-30T12:00:00+01:00")
        func imported() -> Double? {
            house.now { model in
                model.ledger.energy(in: model.zone.bounds(of: model.zone.day(of: model.at)))?.importWh
            }
        }
        let before = try #require(imported())
        house.addImport(wh: 1_500)
        house.addImport(wh: -5)
        house.addImport(wh: .nan)
        #expect(imported() == before + 1_500)
    }
}
