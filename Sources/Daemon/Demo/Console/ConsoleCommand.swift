import BoxSimulator
import FoundationEssentials

/// One thing that a person, or a test, arranges in the demo's house.
enum ConsoleCommand: Sendable, Equatable {
    /// With the word whose commands are wanted; `nil`: all.
    case help(String?)
    /// Where broker and relay are.
    case place
    case link(BoxRole)
    /// Tells the house's time, or sets it.
    case clock(Date?)
    case speed(Double)
    case state
    case clearLog
    case quit

    case car(loadpoint: String?, CarChange)
    case order(loadpoint: String?, HouseholdOrder)
    case setMode(String)
    case addMode(key: String, label: String)
    case removeMode(String)

    case source(String, SourceChange)
    case meter(isThere: Bool)
    case removeBattery
    case box(BoxChange)
    case relay(RelayChange)
    case role(BoxRole)
    case revoke

    /// `nil` forgets what is arranged.
    case next(CommandFate?)
    /// Accepted or not even that, and never settled.
    case swallow(Swallowed, Bool)
    case fault(path: String, AnswerFault?)
    case busy(Int)
    case delay(beats: Int)

    case prices(PriceChange)
    /// In watt-hours.
    case importEnergy(wh: Double)

    enum CarChange: Sendable, Equatable {
        case plug(Bool)
        case situation(CarSituation)
        case draw(SimulatedHouse.CarDraw)
    }
    enum SourceChange: String, Sendable, CaseIterable {
        case live, lagging, stale, down, never
    }
    enum BoxChange: Sendable, Equatable {
        case restart, away, back, ready
        /// Percent.
        case booting(Int)
        case vintage(BoxVintage)
        case consent(Bool)
        case mute(Bool)
    }
    enum RelayChange: String, Sendable, CaseIterable {
        case drop, rotate, stop, start
    }
    enum Swallowed: String, Sendable, CaseIterable {
        case results, commands
    }
    enum PriceChange: Sendable, Equatable {
        case none, known, negative
        /// Hundredths per kWh; 0 is today, 1 tomorrow.
        case day(ahead: Int, spot: [Double])
        /// `nil` follows the clock.
        case published(Bool?)
    }
}

/// Why a line is no command. The text is for a person, names what was found and
/// what is allowed, and is one line whatever the line was.
struct ConsoleFault: Error, Equatable {
    var text: String

    init(_ text: String) { self.text = text }
}
