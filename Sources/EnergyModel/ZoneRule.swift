/// The rule that a zone follows for the time after its last listed change:
/// a standard offset, and summer time from one day of the year to another
/// (POSIX.1-2024 §8.3 `TZ`, with the wider hours of RFC 9636 §3.3.2).
struct ZoneRule: Sendable, Equatable {
    struct Change: Sendable, Equatable {
        enum Day: Sendable, Equatable {
            /// Day 1 to 365, 29 February never counted.
            case julian(Int)
            /// Day 0 to 365, 29 February counted.
            case zeroBased(Int)
            /// Weekday 0 (Sunday) to 6 in week 1 to 5 (5 = the last) of a month.
            case monthWeek(month: Int, week: Int, weekday: Int)
        }
        var day: Day
        /// Seconds after midnight, local time before the change.
        var seconds: Int64

        /// The change in that year as if local time were UTC.
        func localSecond(year: Int) -> Int64 {
            let days: Int
            switch day {
            case .julian(let number):
                let leap = LocalDay.isLeap(year) && number >= 60 ? 1 : 0
                days = LocalDay(year: year, month: 1, day: 1).number + number - 1 + leap
            case .zeroBased(let number):
                days = LocalDay(year: year, month: 1, day: 1).number + number
            case .monthWeek(let month, let week, let weekday):
                let first = LocalDay(year: year, month: month, day: 1)
                let sundayBased = (first.weekday + 1) % 7
                var day = 1 + (weekday - sundayBased + 7) % 7 + (week - 1) * 7
                if day > LocalDay.length(ofMonth: month, year: year) { day -= 7 }
                days = first.number + day - 1
            }
            return Int64(days) * 86_400 + seconds
        }
    }

    var standard: Int
    var summer: (offset: Int, start: Change, end: Change)?

    static func == (a: ZoneRule, b: ZoneRule) -> Bool {
        a.standard == b.standard && a.summer?.offset == b.summer?.offset
            && a.summer?.start == b.summer?.start && a.summer?.end == b.summer?.end
    }

    func offset(atSecond second: Int64) -> Int {
        guard let summer else { return standard }
        let year = LocalDay(secondsSince1970: second + Int64(standard)).year
        let start = summer.start.localSecond(year: year) - Int64(standard)
        let end = summer.end.localSecond(year: year) - Int64(summer.offset)
        let isSummer =
            start < end ? (start..<end).contains(second) : !(end..<start).contains(second)
        return isSummer ? summer.offset : standard
    }

    /// Reads `CET-1CEST,M3.5.0,M10.5.0/3`; `nil` for anything else.
    init?(parsing text: some Sequence<UInt8>) {
        var reader = Reader(bytes: Array(text))
        guard reader.name(), let west = reader.time(maxHours: 25) else { return nil }
        standard = -Int(west)
        if reader.isAtEnd { return }
        guard reader.name() else { return nil }
        var offset = standard + 3_600
        if reader.peek != UInt8(ascii: ",") {
            guard let west = reader.time(maxHours: 25) else { return nil }
            offset = -Int(west)
        }
        guard let start = reader.change(), let end = reader.change(), reader.isAtEnd else { return nil }
        summer = (offset, start, end)
    }

    private struct Reader {
        let bytes: [UInt8]
        var at = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool { at >= bytes.count }
        var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard peek == UInt8(ascii: character) else { return false }
            at += 1
            return true
        }

        mutating func name() -> Bool {
            let begin = at
            if take("<") {
                while let byte = peek, byte != UInt8(ascii: ">") {
                    _ = byte
                    at += 1
                }
                return take(">")
            }
            while let byte = peek, (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) { at += 1 }
            return at - begin >= 3
        }

        mutating func number(max: Int) -> Int? {
            var value = 0
            let begin = at
            while let byte = peek, (0x30...0x39).contains(byte), at - begin < 4 {
                value = value * 10 + Int(byte - 0x30)
                at += 1
            }
            return at > begin && value <= max ? value : nil
        }

        /// `[+-]hh[:mm[:ss]]` in seconds.
        mutating func time(maxHours: Int) -> Int64? {
            let negative = take("-")
            if !negative { _ = take("+") }
            guard let hours = number(max: maxHours) else { return nil }
            var seconds = Int64(hours) * 3_600
            if take(":") {
                guard let minutes = number(max: 59) else { return nil }
                seconds += Int64(minutes) * 60
                if take(":") {
                    guard let rest = number(max: 59) else { return nil }
                    seconds += Int64(rest)
                }
            }
            return negative ? -seconds : seconds
        }

        mutating func change() -> Change? {
            guard take(",") else { return nil }
            let day: Change.Day
            if take("M") {
                guard let month = number(max: 12), month > 0, take("."), let week = number(max: 5), week > 0,
                    take("."), let weekday = number(max: 6)
                else { return nil }
                day = .monthWeek(month: month, week: week, weekday: weekday)
            } else if take("J") {
                guard let number = number(max: 365), number > 0 else { return nil }
                day = .julian(number)
            } else {
                guard let number = number(max: 365) else { return nil }
                day = .zeroBased(number)
            }
            var seconds: Int64 = 7_200
            if take("/") {
                guard let time = time(maxHours: 167) else { return nil }
                seconds = time
            }
            return Change(day: day, seconds: seconds)
        }
    }
}
