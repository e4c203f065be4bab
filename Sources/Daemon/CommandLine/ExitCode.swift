/// What the process tells its caller. Documented in `ftw-mqtt --help`; a number
/// once released keeps its meaning.
enum ExitCode: Int32, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 2
    case configuration = 3
    case state = 4
    case unreachable = 5
    case refused = 6
    case unconfirmed = 7

    /// One line for the help text.
    var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "failed for another reason; the last line says why"
        case .usage: "the command line is wrong"
        case .configuration: "the configuration is wrong"
        case .state: "the state folder cannot be used: in use, not ours, damaged, full"
        case .unreachable: "broker, relay or box cannot be reached"
        case .refused: "the box or the bridge refused, or the pairing code was not accepted"
        case .unconfirmed: "sent, but nobody confirmed it in time (send)"
        }
    }
}
