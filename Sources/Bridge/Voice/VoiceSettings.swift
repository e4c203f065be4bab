/// How the bridge answers voice assistants that speak the Hermes protocol.
///
/// Hermes is what Rhasspy 2.5 and its kin say over MQTT. Every skill of a home
/// listens to the same topics, so ours are told by a prefix, and what is not
/// ours is left alone without a word.
public struct VoiceSettings: Sendable, Equatable {
    /// What the names of our intents begin with, such as `Ftw` in `FtwCarLevel`.
    public var prefix: String
    /// Answers what names no home. In a household of several sites that is the
    /// first one of the configuration, or each would answer.
    public var isFirst: Bool
    /// Names and ids of the household's other sites: what names one of them is theirs.
    public var otherHomes: [String]

    public init(prefix: String = "Ftw", isFirst: Bool = true, otherHomes: [String] = []) {
        self.prefix = prefix
        self.isFirst = isFirst
        self.otherHomes = otherHomes
    }
}

/// What people may say, by the part of the intent's name after the prefix.
enum VoiceIntent: String, Sendable, CaseIterable {
    case carLevel = "CarLevel"
    case carReady = "CarReady"
    case chargeNow = "ChargeNow"
    case pause = "Pause"
    case backToPlan = "BackToPlan"
    case setLevel = "SetLevel"
    case setGoal = "SetGoal"
    /// The answer to "which car?".
    case whichCar = "WhichCar"
    /// No answer to it: nothing is to be done.
    case cancel = "Cancel"
}
