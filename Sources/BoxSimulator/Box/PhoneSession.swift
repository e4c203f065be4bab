import BoxLink

/// One client's session inside the box.
///
/// Not Sendable: it lives in the box's actor and nowhere else.
final class PhoneSession {
    /// A command that was accepted, for whoever sends its id again.
    struct Remembered {
        var ack: CBORValue
        var result: CBORValue?
    }
    /// An API answer that waits for its beat.
    struct Pending {
        var id: UInt32
        var request: APICall
        var beatsLeft: Int
        /// What a write did, at once; only its answer waits. A read is made when it is answered.
        var answer: SimulatedBox.HTTPAnswer?
    }
    let number: Int
    let clientKey: [UInt8]
    let transport: NoiseTransport
    /// The size of control frames; the first subscription sets it.
    var bucket = 512
    var isSubscribed = false
    /// One frame in five beats instead of one each.
    var isSlow = false
    var beatsSinceFrame = 0
    var feed = TelemetryFeed()
    var commands: [String: Remembered] = [:]
    /// Results that are held back, by command id.
    var lateResults: [(id: String, beatsLeft: Int)] = []
    /// Uptime until which configure calls need no further confirmation.
    var steppedUpUntilMs: Int64 = .min
    var pending: Pending?
    /// Accepted commands that the box is slow to carry out, with the beats that are left.
    var slowOrders: [(order: SimulatedBox.Order, beatsLeft: Int)] = []

    init(number: Int, clientKey: [UInt8], transport: NoiseTransport) {
        self.number = number
        self.clientKey = clientKey
        self.transport = transport
    }
}

/// One call through the passthrough, as it was asked.
struct APICall: Sendable {
    var method: String
    var path: String
    var query: [(key: String, value: String)]
    var body: [UInt8]?
    var maxBytes: Int64?
    var stepUp: Bool
}
