public import EnergyModel

/// One text in every language.
public struct LocalText: Sendable, Equatable {
    public var en: String
    public var sv: String

    public init(_ en: String, _ sv: String) {
        self.en = en
        self.sv = sv
    }

    public subscript(language: Language) -> String {
        switch language {
        case .en: en
        case .sv: sv
        }
    }
}
