/// One intent on its way to the box.
public struct BoxOrder: Sendable, Equatable {
    /// The command's own id, for the log and for matching; the wire has ids of its own.
    public var id: String
    /// The loadpoint's id at the box; `nil` when the order is about the site.
    public var loadpoint: String?
    public var intent: Intent
    /// Monotonic time after which the box must not carry it out any more.
    public var deadline: Duration

    public init(id: String, loadpoint: String?, intent: Intent, deadline: Duration) {
        self.id = id
        self.loadpoint = loadpoint
        self.intent = intent
        self.deadline = deadline
    }
}

/// How an order fares. Exactly one of the two last ends it.
public enum BoxProgress: Sendable, Equatable {
    /// The box has it (`cmd.ack`, or the answer to a request began).
    case acknowledged
    case ended(BoxOutcome)
    /// The link broke in the middle; nobody knows until the box is read.
    case linkBroke(acknowledged: Bool)
}

/// What reading the box back showed about an order.
public enum BoxReadBack: Sendable, Equatable {
    /// The box holds what was asked for.
    case matches(BoxOutcome.BoxValue?)
    case differs(BoxOutcome.BoxValue?)
    /// The box could not be read.
    case unknown
}
