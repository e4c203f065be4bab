public import EnergyModel
public import FoundationEssentials
public import JSONText

/// One request on its way from a topic to the box.
public struct Command: Sendable, Equatable {
    /// Whoever sent it chose this, or we did for a bare payload. Unique for 24 hours.
    public var id: String
    /// The id is one of ours, so nobody can send it a second time.
    public var isOurID: Bool
    /// Who asks, in the message's own words, bounded; `nil` when it does not say.
    public var from: String?
    /// The topic it came in on.
    public var topic: String
    /// The loadpoint's id at the box; `nil` when the command is about the whole site.
    public var loadpoint: String?
    public var intent: Intent
    /// What was asked for, as it is answered back.
    public var requested: JSONValue
    /// After this it is too late; never more than 30 s after receipt.
    public var deadline: Duration
    /// MQTT 5 response topic; `nil` when none was named.
    public var responseTopic: String?
    public var correlationData: [UInt8]?

    public init(
        id: String, isOurID: Bool = false, from: String? = nil, topic: String, loadpoint: String?,
        intent: Intent, requested: JSONValue, deadline: Duration, responseTopic: String? = nil,
        correlationData: [UInt8]? = nil
    ) {
        self.id = id
        self.isOurID = isOurID
        self.from = from
        self.topic = topic
        self.loadpoint = loadpoint
        self.intent = intent
        self.requested = requested
        self.deadline = deadline
        self.responseTopic = responseTopic
        self.correlationData = correlationData
    }
}

/// How far a command is. Exactly one of the final ones ends it.
public enum Stage: String, Sendable, CaseIterable {
    case received
    case accepted
    case done
    case refused
    case expired
    case notDelivered = "not_delivered"
    case superseded
    case unconfirmed

    public var isFinal: Bool { self != .received && self != .accepted }
}

/// Stable, lower-case reasons that automations may compare with. Each is told in words too.
public typealias CommandCode = Sentence.Refusal

extension Sentence.Refusal {
    /// Every kind of refusal has the code of the same name.
    public init(_ kind: BoxRefusalReason.Kind) {
        self =
            switch kind {
            case .notPluggedIn: .notPluggedIn
            case .noCharger: .noCharger
            case .dispatchBlocked: .dispatchBlocked
            case .notAllowed: .notAllowed
            case .needsConsent: .needsConsent
            case .conflict: .conflict
            case .precondition: .precondition
            case .unsupported: .unsupported
            case .unavailable: .unavailable
            case .starting: .starting
            case .outOfRange: .outOfRange
            }
    }
}

/// One message on `result`: a command reached a stage.
public struct StageReport: Sendable, Equatable {
    /// Whether somebody may have been told this before.
    public enum Telling: Sendable {
        case first
        /// An end that was handed to a broker which then left, or by a run that is over:
        /// nobody knows whether it was heard.
        case perhapsAgain
        /// Somebody repeated the id.
        case askedAgain
        /// Somebody used the id of another command: this answer is to them alone, and the
        /// id keeps its own.
        case notRemembered
    }

    public var id: String
    /// Who asked, in the message's own words; `nil` when it did not say.
    public var from: String?
    public var topic: String
    public var loadpoint: String?
    public var stage: Stage
    /// `nil` for stages that need no reason.
    public var code: CommandCode?
    /// The box's own code, for whoever looks it up.
    public var boxCode: String?
    /// More than the code says: what was found and what is allowed; `nil` when the
    /// code says it all.
    public var detail: LocalText?
    public var requested: JSONValue
    /// What the box read back; `nil` when it read back nothing.
    public var value: JSONValue?
    public var at: Date
    public var responseTopic: String?
    public var correlationData: [UInt8]?
    public var telling = Telling.first

    public init(
        id: String, from: String? = nil, topic: String, loadpoint: String?, stage: Stage,
        code: CommandCode? = nil, boxCode: String? = nil, detail: LocalText? = nil, requested: JSONValue,
        value: JSONValue? = nil, at: Date, responseTopic: String? = nil, correlationData: [UInt8]? = nil
    ) {
        self.id = id
        self.from = from
        self.topic = topic
        self.loadpoint = loadpoint
        self.stage = stage
        self.code = code
        self.boxCode = boxCode
        self.detail = detail
        self.requested = requested
        self.value = value
        self.at = at
        self.responseTopic = responseTopic
        self.correlationData = correlationData
    }
}

/// Where else an answer is wanted (MQTT 5.0 §4.10.1), and the bytes to bring along.
struct ReplyTo: Sendable, Equatable {
    /// `nil` when no topic was named.
    var topic: String?
    var correlationData: [UInt8]?

    init(_ command: Command) { (topic, correlationData) = (command.responseTopic, command.correlationData) }
    init(_ report: StageReport) { (topic, correlationData) = (report.responseTopic, report.correlationData) }
}

extension StageReport {
    /// The same for somebody who asked for the same id.
    func again(to asker: ReplyTo) -> StageReport {
        var report = self
        (report.responseTopic, report.correlationData) = (asker.topic, asker.correlationData)
        report.telling = .askedAgain
        return report
    }
}
