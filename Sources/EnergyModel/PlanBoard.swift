public import FoundationEssentials

/// The plan as it may be shown at one moment (box-api.md §H).
public struct PlanBoard: Sendable, Equatable {
    /// When one car is to be ready.
    public struct Deadline: Sendable, Equatable {
        /// The loadpoint's id at the box.
        public var loadpoint: String
        public var at: Date

        public init(loadpoint: String, at: Date) {
            self.loadpoint = loadpoint
            self.at = at
        }
    }

    /// The planner runs; `nil` when the box does not say.
    public var isEnabled: Bool?
    /// Now and the next 24 hours. Nothing in it once the plan is older than ``limit``.
    public var day: PlanDay
    /// Older than the box itself trusts, not readable when there was a reason to, or void.
    public var isStale: Bool
    /// In order of time.
    public var deadlines: [Deadline]

    /// A plan older than this is nobody's intention any more, in seconds.
    public static let limit = 3_600.0

    public init(isEnabled: Bool?, day: PlanDay, isStale: Bool, deadlines: [Deadline] = []) {
        self.isEnabled = isEnabled
        self.day = day
        self.isStale = isStale
        self.deadlines = deadlines
    }
}

/// Makes the plan's board of the newest answer, at the plan's edges and no oftener. Pure.
public struct PlanTracker: Sendable {
    private var answer: PlanAnswer?
    private var shown: PlanBoard?
    private var shownAt: Date?
    private var around: Around?
    /// When the board changes by time alone; `nil` while there is no plan.
    public private(set) var nextChange: Date?

    private struct Around: Sendable, Equatable {
        var isOld: Bool
        var deadlines: [PlanBoard.Deadline]
    }

    public init() {}

    /// The board at that moment; `nil` while the box told of no plan.
    ///
    /// - Parameter isOld: The box could not be asked when there was a reason to.
    public mutating func board(
        _ answer: PlanAnswer?, deadlines: [PlanBoard.Deadline], isOld: Bool, now: Date
    ) -> PlanBoard? {
        let around = Around(isOld: isOld, deadlines: deadlines)
        if let shownAt, now >= shownAt, nextChange.map({ now < $0 }) ?? (answer == nil),
            self.answer == answer,
            self.around == around
        {
            return shown
        }
        self.answer = answer
        self.around = around
        shownAt = now
        guard let answer else {
            shown = nil
            nextChange = nil
            return nil
        }
        let age = answer.plannedAt.map { now.timeIntervalSince($0) }
        let isUsable = age.map { $0 <= PlanBoard.limit } ?? true
        var day = PlanDay(isUsable ? answer : nil, now: now)
        day.plannedAt = answer.plannedAt
        shown = PlanBoard(
            isEnabled: answer.enabled, day: day,
            isStale: isOld || !isUsable || day.isStale || answer.isOutdated == true,
            deadlines: deadlines.filter { $0.at > now }.sorted {
                ($0.at, $0.loadpoint) < ($1.at, $1.loadpoint)
            }
        )
        let actions = answer.plan?.actions ?? []
        var moments = [day.start.addingTimeInterval(Double(PlanDay.stepS))]
        moments += actions.flatMap { [$0.start, $0.end] } + deadlines.map(\.at)
        if let made = answer.plannedAt {
            moments += [Readiness.planLimit, PlanBoard.limit].map { made.addingTimeInterval($0 + 0.001) }
        }
        nextChange = moments.filter { $0 > now }.min()
        return shown
    }
}
