public import JSONText

/// What the session remembers from run to run, because the box does not: that a
/// person entered the car's level, and when a car last spoke.
///
/// Small values, saved when they change and otherwise every quarter of an hour.
public protocol SessionMemory: Sendable {
    /// What was saved under that name; `nil` if nothing usable was.
    func load(_ name: String) -> JSONValue?
    /// Replaces what is saved under that name. Must not block for long; a failure
    /// is the implementation's to report.
    ///
    /// - Returns: Whether it would outlive the process.
    @discardableResult func save(_ name: String, _ value: JSONValue) -> Bool
}
