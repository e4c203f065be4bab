/// What the car, the box's knowledge of it and its goal look like: everything
/// that a person may find on the car's page.
///
/// Choosing one stops the car's daily coming and going.
public enum CarSituation: Sendable, Equatable {
    /// Comes and goes by itself, reports its level, is to be ready every morning.
    case everyday
    /// No cable in.
    case unplugged
    /// Plugged in and never read: the box assumes 20 %.
    case assumed
    /// Plugged in, no live car: the box counts from a level confirmed earlier.
    case estimated(Double)
    /// The car says its level, now.
    case carLive(Double)
    /// The car said its level `ageSeconds` ago and has been silent since.
    case carOld(Double, ageSeconds: Double)
    /// The car's driver calls its level old, whatever its age.
    case carFlaggedOld(Double)
    /// A person typed the level. The box cannot tell this from an estimate.
    case personSet(Double)
    /// The goal cannot be reached: so many watt-hours will be missing.
    case late(shortfallWh: Double)
    /// Plugged in, and nobody asked for anything.
    case noGoal
    /// A person's order to charge with so many watts; 0 is a pause.
    case holding(Double)
    /// The plan is being made again.
    case replanning
    /// There is no plan that holds.
    case noPlan
    /// Two loadpoints, each with a car.
    case twoChargers
    /// A box that knows nothing of the newer fields, car plugged in unread.
    case oldBox
}
