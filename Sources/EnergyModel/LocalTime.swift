public import FoundationEssentials

/// A date of the calendar on the wall (proleptic Gregorian), without a zone.
public struct LocalDay: Sendable, Hashable, Comparable {
    /// Days since 1 January 1970.
    public let number: Int

    public init(number: Int) { self.number = number }

    /// The day that contains that second, counted without any offset.
    init(secondsSince1970 seconds: Int64) {
        number = Int(seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400)
    }

    public init(year: Int, month: Int, day: Int) {
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        number = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private var civil: (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let m = (5 * dayOfYear + 2) / 153
        let month = m < 10 ? m + 3 : m - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * m + 2) / 5 + 1)
    }

    public var year: Int { civil.year }
    /// 1 to 12.
    public var month: Int { civil.month }
    /// 1 to 31.
    public var day: Int { civil.day }
    /// 0 = Monday … 6 = Sunday, as the bits of ``DayMask``.
    public var weekday: Int { ((number + 3) % 7 + 7) % 7 }

    public func adding(days: Int) -> LocalDay { LocalDay(number: number + days) }

    /// `2026-10-25`.
    public var iso: String {
        let (year, month, day) = civil
        return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))"
    }

    public static func < (a: LocalDay, b: LocalDay) -> Bool { a.number < b.number }

    static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// A number with leading zeros.
func pad(_ value: Int, _ width: Int) -> String {
    let digits = String(abs(value))
    return (value < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
}

extension Zone {
    /// The household's day that contains the instant.
    public func day(of instant: Date) -> LocalDay {
        let second = instant.wholeSeconds
        return LocalDay(secondsSince1970: second + Int64(offset(atSecond: second)))
    }

    /// What a clock on the wall shows: minutes after midnight, 0 to 1439.
    public func minuteOfDay(of instant: Date) -> Int { secondOfDay(of: instant) / 60 }

    func secondOfDay(of instant: Date) -> Int {
        let local = instant.wholeSeconds + Int64(offset(at: instant))
        return Int((local % 86_400 + 86_400) % 86_400)
    }

    /// The instant at which a clock on the wall shows that time on that day.
    ///
    /// A time that happens twice is the first of the two. A time that never
    /// happens is as many minutes after the gap's start as it is after the
    /// skipped hour's: 02:30 becomes 03:30 (box-api.md §E.3).
    ///
    /// - Parameter minute: Minutes after midnight on the clock, 0 to 1439.
    public func instant(_ day: LocalDay, minute: Int) -> Date {
        let local = Int64(day.number) * 86_400 + Int64(minute) * 60
        let before = Int64(offset(atSecond: local - 86_400))
        let after = Int64(offset(atSecond: local + 86_400))
        let fits = [local - before, local - after].filter { candidate in
            candidate + Int64(offset(atSecond: candidate)) == local
        }
        return Date(timeIntervalSince1970: Double(fits.min() ?? (local - before)))
    }

    /// The first instant of that day; days may last 23 or 25 hours.
    public func start(of day: LocalDay) -> Date { instant(day, minute: 0) }

    /// From midnight to midnight.
    public func bounds(of day: LocalDay) -> Range<Date> {
        let start = start(of: day)
        // A zone that crossed the date line has skipped a day: then the day is empty.
        return start..<max(start, self.start(of: day.adding(days: 1)))
    }

    /// ISO 8601 with the offset in force, to the second: `2026-10-25T02:15:00+02:00`.
    public func iso8601(_ instant: Date) -> String {
        let second = secondOfDay(of: instant)
        let minutes = offset(at: instant) / 60
        let clock = "\(pad(second / 3_600, 2)):\(pad(second / 60 % 60, 2)):\(pad(second % 60, 2))"
        let sign = minutes < 0 ? "-" : "+"
        return
            "\(day(of: instant).iso)T\(clock)\(sign)\(pad(abs(minutes) / 60, 2)):\(pad(abs(minutes) % 60, 2))"
    }

    /// Which of two equal times on the clock an instant is.
    public enum Turn: Sendable { case first, second }

    /// `nil` when the clock on the wall shows this time once only, as nearly always: where the clocks
    /// go back an hour, that hour's times are there twice, first in summer time, then in winter time.
    public func turn(of instant: Date) -> Turn? {
        let second = instant.wholeSeconds
        let local = second + Int64(offset(atSecond: second))
        let before = second - 86_400
        let after = second + 86_400
        let twice = Set([before, after].map { local - Int64(offset(atSecond: $0)) })
            .filter { $0 + Int64(offset(atSecond: $0)) == local }
        guard twice.count == 2, let first = twice.min() else { return nil }
        return second == first ? .first : .second
    }

    /// `07:05`, what a clock on the wall shows.
    public func clock(_ instant: Date) -> String { clockText(minute: minuteOfDay(of: instant)) }
}

/// `07:05` for 425.
public func clockText(minute: Int) -> String { "\(pad(minute / 60, 2)):\(pad(minute % 60, 2))" }

/// Reads an RFC 3339 date and time with any number of fractional digits;
/// `nil` for anything else.
public func instant(rfc3339 text: String) -> Date? {
    let bytes = Array(text.utf8)
    func digits(_ at: Int, _ count: Int) -> Int? {
        guard at + count <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[at..<at + count] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        return value
    }
    func has(_ at: Int, _ characters: String) -> Bool {
        at < bytes.count && characters.utf8.contains(bytes[at])
    }
    guard let year = digits(0, 4), has(4, "-"), let month = digits(5, 2), (1...12).contains(month),
        has(7, "-"),
        let day = digits(8, 2), day >= 1, day <= LocalDay.length(ofMonth: month, year: year), has(10, "Tt "),
        let hour = digits(11, 2), hour < 24, has(13, ":"), let minute = digits(14, 2), minute < 60,
        has(16, ":"), let second = digits(17, 2), second <= 60
    else { return nil }
    var at = 19
    var fraction = 0.0
    if has(at, ".") {
        at += 1
        var scale = 0.1
        let begin = at
        while let digit = digits(at, 1) {
            fraction += Double(digit) * scale
            scale /= 10
            at += 1
        }
        guard at > begin else { return nil }
    }
    var east = 0
    if has(at, "Zz") {
        at += 1
    } else {
        guard has(at, "+-"), let hours = digits(at + 1, 2), hours < 24, has(at + 3, ":"),
            let minutes = digits(at + 4, 2), minutes < 60
        else { return nil }
        east = (hours * 60 + minutes) * 60 * (has(at, "-") ? -1 : 1)
        at += 6
    }
    guard at == bytes.count else { return nil }
    let days = LocalDay(year: year, month: month, day: day).number
    let whole = days * 86_400 + hour * 3_600 + minute * 60 + second - east
    return Date(timeIntervalSince1970: Double(whole) + fraction)
}
