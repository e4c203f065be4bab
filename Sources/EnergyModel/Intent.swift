public import FoundationEssentials

/// What a person, an automation or a voice may ask of the box.
public enum Intent: Sendable, Equatable {
    /// Tells the box how full the car is.
    case level(LevelWish)
    /// Charge now, pause, or back to the plan.
    case control(ControlWish)
    case goal(GoalWish)
    /// Charge from spare sun only.
    case surplusOnly(Bool)
    /// Let the house battery feed the car.
    case boost(BoostWish)
    /// A site mode by the box's own key.
    case mode(String)

    /// What an intent is about, whatever it asks for.
    public enum Kind: String, Sendable, CaseIterable {
        case level, control, goal
        case surplusOnly = "surplus_only"
        case boost, mode
    }

    public var kind: Kind {
        switch self {
        case .level: .level
        case .control: .control
        case .goal: .goal
        case .surplusOnly: .surplusOnly
        case .boost: .boost
        case .mode: .mode
        }
    }

    public enum LevelWish: Sendable, Equatable {
        /// State of charge from 0 to 1.
        case exactly(Double)
        /// A step from the newest level asked for, from -1 to 1.
        case step(Double)
    }

    public enum ControlWish: Sendable, Equatable {
        /// - `powerW`: `nil` asks for the charger's full power.
        /// - `until`: `nil` lasts until released or unplugged.
        case chargeNow(powerW: Double?, until: Date?)
        case pause
        /// Release the hold; never a hold of 0 W.
        case plan
    }

    public enum GoalWish: Sendable, Equatable {
        case clear
        /// What is `nil` stays as the box has it.
        case change(soc: Double?, minuteOfDay: Int?, days: Int?, isRecurring: Bool?)
    }

    public enum BoostWish: Sendable, Equatable {
        case cancel
        /// - `seconds`: 60 to 14,400.
        /// - `minBatterySoc`: 0.05 to 1; the house battery is not drawn below it.
        case start(seconds: Int, minBatterySoc: Double)
    }
}

/// How one order to the box ended, as far as the box said.
public enum BoxOutcome: Sendable, Equatable {
    /// Read back as asked, with what the box holds now.
    case applied(BoxValue?)
    /// Taken, but the read-back differs: the box holds this.
    case overtaken(BoxValue?)
    /// Taken; nothing to read back, or the answer did not come.
    case unconfirmed
    /// The box took it for too old.
    case expired
    /// Not done, and why.
    case refused(BoxRefusalReason)
    /// Neither receipt nor answer: it never arrived, or nobody knows.
    case neverArrived

    /// What the box read back.
    public enum BoxValue: Sendable, Equatable {
        case number(Double)
        case text(String)
        case flag(Bool)
    }
}

/// Why the box did not do it.
public struct BoxRefusalReason: Sendable, Equatable {
    /// The box's own code, such as `E_CONFLICT`; `nil` when the bridge itself saw the reason.
    public var boxCode: String?
    /// The kind of reason, independent of the box's spelling.
    public var kind: Kind
    /// What the box added, for the log.
    public var detail: String?
    /// What the wish would have had to name; `nil` when that is not the reason.
    public var missing: Missing?

    /// A part that a change cannot do without, because there is nothing it could be taken from.
    public enum Missing: Sendable, CaseIterable { case goalLevel, goalTime, goalDays }

    public enum Kind: String, Sendable, CaseIterable {
        case notPluggedIn = "not_plugged_in"
        case noCharger = "no_charger"
        case dispatchBlocked = "dispatch_blocked"
        case notAllowed = "not_allowed"
        case needsConsent = "needs_consent"
        case conflict
        case precondition
        case unsupported
        case unavailable
        case starting
        case outOfRange = "out_of_range"
    }

    public init(kind: Kind, boxCode: String? = nil, detail: String? = nil, missing: Missing? = nil) {
        self.kind = kind
        self.boxCode = boxCode
        self.detail = detail
        self.missing = missing
    }
}
