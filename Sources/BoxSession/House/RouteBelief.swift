/// Whether a box has a route, as far as its answers tell. Pure.
///
/// A box that starts, a proxy in between or a busy process answers once what a box without
/// the route always answers. So one answer proves nothing, what was answered before is
/// believed longer, and what is believed is tried again.
struct RouteBelief: Equatable {
    /// So many in a row are believed of a route that was never answered.
    static let fewMisses = 2
    /// And so many of one that was, or of faults that say nothing about routes: with the pauses
    /// between questions some fifteen minutes.
    static let manyMisses = 6
    /// How long a route that is believed missing is left alone.
    static let memory = Duration.seconds(3_600)

    private var misses = 0
    private var faults = 0
    private var hasAnswered = false
    private var missingUntil: Duration?

    /// When it is tried again although it is believed missing; `nil` while it is not.
    var triedAgainAt: Duration? { missingUntil }

    func isMissing(at now: Duration) -> Bool { missingUntil.map { now < $0 } ?? false }

    /// The route gave what it is there for.
    mutating func answered() { self = Self(hasAnswered: true) }

    private init(hasAnswered: Bool) { self.hasAnswered = hasAnswered }
    init() {}

    /// The box said that there is no such route.
    ///
    /// - Returns: Whether that is believed now.
    mutating func missed(at now: Duration) -> Bool {
        misses = min(misses + 1, Self.manyMisses)
        guard misses >= (hasAnswered ? Self.manyMisses : Self.fewMisses) else { return false }
        missingUntil = now + Self.memory
        return true
    }

    /// The route gave nothing, for another reason.
    ///
    /// - Returns: Whether it has been so for long.
    mutating func failed() -> Bool {
        faults = min(faults + 1, Self.manyMisses)
        return faults >= Self.manyMisses
    }

    /// Leaves the route alone for a while, whatever the reason.
    mutating func leave(at now: Duration) { missingUntil = now + Self.memory }

    /// There is a reason to try again: time passed, or the session is another one. One more answer
    /// like those before is believed at once.
    ///
    /// - Returns: Whether it was believed missing.
    mutating func reconsider() -> Bool {
        defer { missingUntil = nil }
        return missingUntil != nil
    }
}
