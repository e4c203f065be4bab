import EnergyModel
import FoundationEssentials
import Testing

@Suite struct ZoneTests {
    @Test(arguments: [
        (1_792_818_000, "2026-10-24T07:00:00+02:00"),
        (1_792_879_200, "2026-10-25T00:00:00+02:00"),
        (1_792_887_300, "2026-10-25T02:15:00+02:00"),
        (1_792_889_999, "2026-10-25T02:59:59+02:00"),
        (1_792_890_000, "2026-10-25T02:00:00+01:00"),
        (1_792_890_900, "2026-10-25T02:15:00+01:00"),
        (1_792_969_199, "2026-10-25T23:59:59+01:00"),
        (1_806_195_599, "2027-03-28T01:59:59+01:00"),
        (1_806_195_600, "2027-03-28T03:00:00+02:00"),
        (1_767_225_600, "2026-01-01T01:00:00+01:00"),
        (0, "1970-01-01T01:00:00+01:00"),
        (4_102_444_800, "2100-01-01T01:00:00+01:00"),
        (4_118_083_200, "2100-07-01T02:00:00+02:00"),
    ])
    func instantsReadAsStockholmsClocks(second: Int, text: String) throws {
        #expect(try stockholm().iso8601(at(second)) == text)
    }

    @Test(arguments: [
        ("Asia/Kolkata", "2026-10-24T10:30:00+05:30"), ("America/St_Johns", "2026-10-24T02:30:00-02:30"),
        ("America/New_York", "2026-10-24T01:00:00-04:00"),
        ("Australia/Lord_Howe", "2026-10-24T16:00:00+11:00"),
        ("Etc/UTC", "2026-10-24T05:00:00+00:00"), ("Pacific/Kiritimati", "2026-10-24T19:00:00+14:00"),
        ("Africa/Casablanca", "2026-10-24T06:00:00+01:00"), ("Europe/Dublin", "2026-10-24T06:00:00+01:00"),
    ])
    func otherZonesReadToo(name: String, text: String) throws {
        let zone = try #require(Zone(named: name))
        #expect(zone.iso8601(at(1_792_818_000)) == text)
    }

    @Test(arguments: [
        "", "Local", "Nope/Zone", "../etc/passwd", "/etc/localtime", "Europe/../../etc", "Europe",
        "right/UTC",
        "posix/UTC", "Europe/Stock holm", "tzdata.zi", "zone.tab", String(repeating: "a", count: 1_000),
        "Åre",
    ])
    func aNameThatIsNoZoneIsNone(name: String) { #expect(Zone(named: name) == nil) }

    @Test(arguments: [
        (2026, 10, 24, 24.0), (2026, 10, 25, 25.0), (2026, 10, 26, 24.0), (2027, 3, 27, 24.0),
        (2027, 3, 28, 23.0),
        (2027, 3, 29, 24.0), (2028, 2, 29, 24.0),
    ])
    func daysLastAsLongAsTheyLast(year: Int, month: Int, day: Int, hours: Double) throws {
        let bounds = try stockholm().bounds(of: LocalDay(year: year, month: month, day: day))
        #expect(bounds.upperBound.timeIntervalSince(bounds.lowerBound) == hours * 3_600)
    }

    @Test(arguments: [
        // The hour that happens twice: the first.
        (2026, 10, 25, 150, 1_792_888_200), (2026, 10, 25, 120, 1_792_886_400),
        (2026, 10, 25, 180, 1_792_893_600),
        // The hour that never happens: as many minutes after the gap's start.
        (2027, 3, 28, 150, 1_806_197_400), (2027, 3, 28, 120, 1_806_195_600),
        (2027, 3, 28, 119, 1_806_195_540),
        (2027, 3, 28, 180, 1_806_195_600), (2026, 10, 24, 420, 1_792_818_000),
        (2026, 10, 26, 0, 1_792_969_200),
    ])
    func clockTimesBecomeInstants(year: Int, month: Int, day: Int, minute: Int, second: Int) throws {
        let day = LocalDay(year: year, month: month, day: day)
        #expect(try stockholm().instant(day, minute: minute) == at(second))
    }

    @Test func aDayThatAZoneSkippedIsEmpty() throws {
        let zone = try #require(Zone(named: "Pacific/Apia"))
        #expect(zone.bounds(of: LocalDay(year: 2011, month: 12, day: 30)).isEmpty)
        #expect(!zone.bounds(of: LocalDay(year: 2011, month: 12, day: 31)).isEmpty)
    }

    @Test func daysAndNumbersAreTheSameBothWays() {
        for number in stride(from: -800_000, through: 800_000, by: 37) {
            let day = LocalDay(number: number)
            #expect(LocalDay(year: day.year, month: day.month, day: day.day) == day)
        }
        #expect(LocalDay(year: 2026, month: 10, day: 25).weekday == 6)
        #expect(LocalDay(year: 2026, month: 10, day: 26).weekday == 0)
        #expect(LocalDay(year: 2026, month: 10, day: 5).iso == "2026-10-05")
    }

    @Test func everyPrefixOfAZoneFileIsRefusedOrRead() throws {
        let path = "/usr/share/zoneinfo/Europe/Stockholm"
        let bytes = Array(try #require(FileManager.default.contents(atPath: path)))
        for length in 0..<bytes.count { _ = Zone(name: "x", compiled: Array(bytes[..<length])) }
        #expect(Zone(name: "Europe/Stockholm", compiled: bytes) == (try stockholm()))
    }

    @Test func aDamagedZoneFileNeverTraps() throws {
        let path = "/usr/share/zoneinfo/Europe/Stockholm"
        let good = Array(try #require(FileManager.default.contents(atPath: path)))
        var random = Seeded(state: 7)
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            guard let zone = Zone(name: "x", compiled: bytes) else { continue }
            let instant = at(Int.random(in: -10_000_000_000...10_000_000_000, using: &random))
            _ = zone.iso8601(instant)
            _ = zone.bounds(of: zone.day(of: instant))
        }
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300])
    func absurdInstantsAreNotATrap(seconds: Double) throws {
        let zone = try stockholm()
        _ = zone.iso8601(Date(timeIntervalSince1970: seconds))
        _ = zone.day(of: Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        ("2026-10-24T05:00:00Z", 1_792_818_000.0), ("2026-10-24T07:00:00+02:00", 1_792_818_000),
        ("2026-10-24T05:00:00.5Z", 1_792_818_000.5), ("2026-10-24T05:00:00.000000000Z", 1_792_818_000),
        ("2026-10-24T00:30:00-04:30", 1_792_818_000), ("1970-01-01T00:00:00Z", 0),
        ("0001-01-01T00:00:00Z", -62_135_596_800),
    ])
    func rfc3339IsRead(text: String, seconds: Double) {
        #expect(instant(rfc3339: text) == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        "", "2026", "2026-10-24", "2026-10-24T05:00:00", "2026-13-24T05:00:00Z", "2026-02-30T05:00:00Z",
        "2026-10-24T25:00:00Z", "2026-10-24T05:00:00Zx", "2026-10-24T05:00:00.Z", "2026-10-24T05:00:00+2:00",
        "å",
    ])
    func whatIsNoRFC3339IsNone(text: String) { #expect(instant(rfc3339: text) == nil) }
}
