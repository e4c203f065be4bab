import FoundationEssentials
import JSONText

/// Reads the members of one JSON object that came from a box.
///
/// A key that is absent or `null` means "not told". A value of the wrong type or
/// out of range also reads as unknown, and its name is noted in ``faults`` so
/// that somebody can say it once.
struct FieldReader {
    private let members: [String: JSONValue]
    private let path: String
    private(set) var faults: [String] = []

    /// - Parameter path: Put before every name in ``faults``, such as `schedule.`.
    init(_ members: [String: JSONValue], path: String = "") {
        self.members = members
        self.path = path
    }

    func has(_ key: String) -> Bool { members[key].map { !$0.isNull } ?? false }

    mutating func fault(_ key: String) {
        if faults.count < 100 { faults.append(path + key) }
    }

    private mutating func read<T>(_ key: String, _ convert: (JSONValue) -> T?) -> T? {
        guard let value = members[key], !value.isNull else { return nil }
        if let converted = convert(value) { return converted }
        fault(key)
        return nil
    }

    /// Text of at most 1,000 characters; empty reads as not told.
    mutating func text(_ key: String) -> String? {
        let text = read(key) { value in
            value.stringValue.flatMap { $0.unicodeScalars.count <= 1_000 ? $0 : nil }
        }
        return text?.isEmpty == true ? nil : text
    }

    mutating func bool(_ key: String) -> Bool? { read(key) { $0.boolValue } }

    mutating func number(_ key: String, _ range: ClosedRange<Double>) -> Double? {
        // Boxes write -0, which would be shown with its sign; adding 0 takes that away.
        read(key) { value in value.doubleValue.flatMap { range.contains($0) ? $0 + 0 : nil } }
    }

    mutating func integer(_ key: String, _ range: ClosedRange<Int64>) -> Int? {
        read(key) { value in value.intValue.flatMap { range.contains($0) ? Int($0) : nil } }
    }

    /// Power in watts that cannot be negative.
    mutating func watts(_ key: String) -> Double? { number(key, 0...1_000_000) }

    /// Power or energy with a sign.
    mutating func signed(_ key: String) -> Double? { number(key, -1e9...1e9) }

    /// Energy in watt-hours that cannot be negative.
    mutating func wattHours(_ key: String) -> Double? { number(key, 0...1e9) }

    /// A fraction from 0 to 1 under `key`, else percent under its old spelling.
    ///
    /// The new key is never folded: 1.2 there is a fault, not 120 % (box-api.md §A.7).
    mutating func fraction(_ key: String, oldPercent: String? = nil) -> Double? {
        if has(key) {
            if let value = number(key, 0...1) { return value }
            if oldPercent == nil { return nil }
        }
        guard let oldPercent, has(oldPercent) else { return nil }
        return number(oldPercent, 0...100).map { $0 / 100 }
    }

    /// Unix milliseconds; 0 and negative numbers mean "never".
    mutating func instant(_ key: String) -> Date? {
        let range = -9e18...9e18
        guard let milliseconds = number(key, range), milliseconds > 0 else { return nil }
        guard milliseconds < latestMilliseconds else {
            fault(key)
            return nil
        }
        return Date(timeIntervalSince1970: milliseconds / 1_000)
    }

    /// Calls `body` with a reader of the object under `key`; `nil` if there is none.
    mutating func object<T>(_ key: String, _ body: (inout FieldReader) -> T?) -> T? {
        guard let inner = read(key, { $0.objectValue }) else { return nil }
        var reader = FieldReader(inner, path: path + key + ".")
        let value = body(&reader)
        faults.append(contentsOf: reader.faults.prefix(max(0, 100 - faults.count)))
        return value
    }

    /// The objects of an array, at most `limit` of them; `nil` if there is no array.
    mutating func objects<T>(_ key: String, limit: Int, _ body: (inout FieldReader) -> T?) -> [T]? {
        guard let items = read(key, { $0.arrayValue }) else { return nil }
        if items.count > limit { fault(key) }
        var result: [T] = []
        for item in items.prefix(limit) {
            guard let inner = item.objectValue else {
                fault(key)
                continue
            }
            var reader = FieldReader(inner, path: path + key + ".")
            if let value = body(&reader) { result.append(value) }
            faults.append(contentsOf: reader.faults.prefix(max(0, 100 - faults.count)))
        }
        return result
    }

    /// The numbers of an array; members that are none are left out and noted.
    mutating func numbers(_ key: String, _ range: ClosedRange<Double>, limit: Int) -> [Double]? {
        guard let items = read(key, { $0.arrayValue }) else { return nil }
        let good = items.prefix(limit).compactMap { $0.doubleValue }.filter(range.contains)
        if good.count != items.count { fault(key) }
        return good
    }

    /// A map from ids to numbers; members that are none are left out and noted.
    mutating func numberMap(_ key: String, _ range: ClosedRange<Double>) -> [String: Double]? {
        guard let map = read(key, { $0.objectValue }) else { return nil }
        var good: [String: Double] = [:]
        for (id, value) in map {
            if let number = value.doubleValue, range.contains(number) { good[id] = number }
        }
        if good.count != map.count { fault(key) }
        return good
    }
}

/// The year 2200; a later date is no date of a household.
let latestMilliseconds = 7_258_118_400_000.0
