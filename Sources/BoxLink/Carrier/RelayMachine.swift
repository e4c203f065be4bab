import FoundationEssentials

/// When to dial the relay, for which hour, and what each close code means.
///
/// Pure: events in, actions out; time and chance come with each event. Sockets
/// are known by the number of their dial, so that what a dropped socket still
/// reports is recognised and ignored.
struct RelayMachine {
    /// The clocks, and a number from 0 up to but not including 1.
    struct Moment: Equatable {
        var monotonic: Duration
        var wall: Date
        var chance: Double
    }
    enum Event: Equatable {
        case started
        case socket(Int, WebSocketEvent)
        /// `deadline` has been reached.
        case timerFired
        case redialRequested
        case pathProven
        /// The room of that dial could not be computed.
        case roomUnknown(Int)
    }
    enum Action: Equatable {
        case dial(Int, epoch: Int64)
        case close(Int)
        case ping(Int)
        case emit(CarrierEvent)
    }
    private enum Step: Equatable {
        case idle
        case waiting(until: Duration)
        case dialing(since: Duration)
        case open(since: Duration, heard: Duration, pinged: Duration)
    }

    private let numbers: RelaySettings.Numbers
    private var step = Step.idle
    private var socket = 0
    /// The relay's hour minus ours, −1, 0 or 1. The offset is kept and not the
    /// number, because the number is wrong an hour later.
    private(set) var epochOffset: Int64 = 0
    private var corrections = 0
    private var attempt = 0

    init(numbers: RelaySettings.Numbers) { self.numbers = numbers }

    /// When `timerFired` is due, as monotonic time; `nil` while nothing is awaited.
    var deadline: Duration? {
        switch step {
        case .idle: nil
        case .waiting(let until): until
        case .dialing(let since): since + numbers.dialTimeout
        case .open(_, let heard, let pinged):
            min(heard + numbers.deadSocket, max(heard, pinged) + numbers.pingAfter)
        }
    }

    mutating func handle(_ event: Event, at now: Moment) -> [Action] {
        switch event {
        case .started: step == .idle ? dial(now) : []
        case .socket(let id, let event):
            id == socket ? handle(event, at: now) : []
        case .timerFired: timerFired(now)
        case .redialRequested: redialRequested(now)
        case .pathProven: pathProven()
        case .roomUnknown(let id):
            id == socket && isBusy
                ? lose(
                    .refused(code: 4400), "The rendezvous secret is too short; pair again.", now,
                    wait: numbers.backoffCap) : []
        }
    }

    private var isBusy: Bool {
        switch step {
        case .dialing, .open: true
        case .idle, .waiting: false
        }
    }

    private mutating func dial(_ now: Moment) -> [Action] {
        socket += 1
        step = .dialing(since: now.monotonic)
        let (epoch, overflow) = Rendezvous.epoch(at: now.wall).addingReportingOverflow(epochOffset)
        return [.dial(socket, epoch: overflow ? 0 : epoch)]
    }

    private mutating func pathProven() -> [Action] {
        if case .open = step { attempt = 0 }
        return []
    }

    private mutating func redialRequested(_ now: Moment) -> [Action] {
        switch step {
        case .idle: return []
        case .waiting:
            attempt = 0
            return dial(now)
        case .dialing(let since):
            guard now.monotonic - since >= numbers.minDialAge else { return [] }
            return [.close(socket)] + dial(now)
        case .open(let since, _, _):
            guard now.monotonic - since >= numbers.minDialAge else { return [] }
            let loss = CarrierLoss(
                cause: .redialled, sentence: "The path to the box was found dead.", retryIn: .zero)
            return [.close(socket), .emit(.lost(loss))] + dial(now)
        }
    }

    private mutating func timerFired(_ now: Moment) -> [Action] {
        guard let deadline, now.monotonic >= deadline else { return [] }
        switch step {
        case .idle: return []
        case .waiting: return dial(now)
        case .dialing:
            let limit = numbers.dialTimeout.components.seconds
            return [.close(socket)]
                + lose(.unreachable, "The relay did not answer within \(limit) seconds.", now)
        case .open(let since, let heard, _):
            guard now.monotonic < heard + numbers.deadSocket else {
                let limit = numbers.deadSocket.components.seconds
                return [.close(socket)]
                    + lose(.silent, "Nothing was heard from the relay for \(limit) seconds.", now)
            }
            step = .open(since: since, heard: heard, pinged: now.monotonic)
            return [.ping(socket)]
        }
    }

    private mutating func handle(_ event: WebSocketEvent, at now: Moment) -> [Action] {
        switch (step, event) {
        case (.dialing(let since), .opened):
            step = .open(since: since, heard: now.monotonic, pinged: now.monotonic)
            return [.emit(.joined)]
        case (.open(let since, _, let pinged), .text), (.open(let since, _, let pinged), .message),
            (.open(let since, _, let pinged), .pong):
            step = .open(since: since, heard: now.monotonic, pinged: pinged)
            return heard(event)
        case (.dialing, .failed(let failure)), (.open, .failed(let failure)):
            let (cause, sentence) = Self.explain(failure)
            return lose(cause, sentence, now)
        case (.dialing, .closed(let code, let reason)), (.open, .closed(let code, let reason)):
            return closed(code, reason, now)
        case (.idle, _), (.waiting, _), (.dialing, _), (.open, .opened): return []
        }
    }

    private mutating func heard(_ event: WebSocketEvent) -> [Action] {
        switch event {
        case .message(let bytes):
            attempt = 0
            return [.emit(.message(bytes))]
        case .text(let word):
            switch Contract.ControlWord(rawValue: word) {
            case .ready:
                corrections = 0
                return [.emit(.ready)]
            case .gone: return [.emit(.gone)]
            case nil: return []  // a word of a newer relay
            }
        default: return []
        }
    }

    // MARK: losses

    private mutating func closed(_ code: UInt16, _ reason: String, _ now: Moment) -> [Action] {
        switch Contract.CloseCode(rawValue: code) {
        case .join, .busy: return lose(.refused(code: code), Self.explain(code, reason), now)
        case .epoch, .rotated:
            guard let offset = Rendezvous.epochOffset(announced: reason, at: now.wall) else {
                if Self.isNumber(reason) {
                    return lose(
                        .clockWrong,
                        "The relay's hour is not ours: the clock here is more than an hour wrong.",
                        now)
                }
                return lose(
                    code == Contract.CloseCode.rotated.rawValue ? .rotated : .refused(code: code),
                    "The relay closed the room without naming the hour.", now)
            }
            epochOffset = offset
            if code == Contract.CloseCode.rotated.rawValue {
                let wait = numbers.rejoinJitter * Self.bounded(now.chance)
                return lose(.rotated, "The hour turned and the room moved.", now, wait: wait)
            }
            corrections = min(corrections + 1, numbers.immediateRedials + 1)
            let atOnce = corrections <= numbers.immediateRedials
            return lose(.rotated, "The relay corrected our hour.", now, wait: atOnce ? .zero : nil)
        case nil:
            if code == 1009 {
                return lose(.refused(code: code), "A message was longer than the relay takes.", now)
            }
            return lose(.closed, "The connection to the relay ended (\(code)).", now)
        }
    }

    /// Reports the loss and dials again after `wait`, or after the backoff.
    private mutating func lose(
        _ cause: CarrierLoss.Cause, _ sentence: String, _ now: Moment, wait: Duration? = nil
    ) -> [Action] {
        let wait = wait ?? backoff(now.chance)
        let loss = CarrierLoss(cause: cause, sentence: sentence, retryIn: wait)
        guard wait > .zero else { return [.emit(.lost(loss))] + dial(now) }
        step = .waiting(until: now.monotonic + wait)
        return [.emit(.lost(loss))]
    }

    /// Full jitter: any wait from nothing to a bound that doubles (FTW wire §1.8).
    private mutating func backoff(_ chance: Double) -> Duration {
        let exponent = min(attempt, numbers.backoffExponentCap)
        attempt = min(attempt + 1, numbers.backoffExponentCap)
        var bound = numbers.backoffBase
        for _ in 0..<exponent where bound < numbers.backoffCap { bound *= 2 }
        return min(bound, numbers.backoffCap) * Self.bounded(chance)
    }

    private static func bounded(_ chance: Double) -> Double {
        chance.isFinite ? min(max(chance, 0), 1) : 0.5
    }

    private static func isNumber(_ reason: String) -> Bool {
        let text = reason.trimmingEdges
        let digits = text.hasPrefix("-") ? text.dropFirst() : text
        return !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Only reasons that we know are repeated: the rest is somebody else's text.
    private static func explain(_ code: UInt16, _ reason: String) -> String {
        switch reason {
        case "join": "The relay did not understand the room's name."
        case "binary only": "The relay takes no text from us."
        case "oversize": "A message was longer than the relay takes."
        case "full": "The relay has too many connections, in all or from this address."
        case "slow down": "The relay saw too many connection attempts from this address."
        case "streams": "Four apps are already connected to this box."
        case "rate": "The relay found us sending too much."
        case "slow reader": "The relay found us reading too slowly."
        case "uplink": "Another box is in this room."
        default: "The relay refused the connection (\(code))."
        }
    }

    private static func explain(_ failure: WebSocketFailure) -> (CarrierLoss.Cause, String) {
        switch failure.kind {
        case .unreachable: (.unreachable, "The relay cannot be reached (\(failure.detail)).")
        case .unknownAuthority:
            (
                .unknownAuthority,
                "The relay's certificate was signed by an unknown authority (\(failure.detail)); "
                    + "a private relay needs its ca_file."
            )
        case .wrongHost:
            (.wrongHost, "The relay's certificate is for another host name (\(failure.detail)).")
        case .tlsFailed: (.tlsFailed, "TLS with the relay failed (\(failure.detail)).")
        case .notAWebSocket:
            (.unreachable, "What answered is not a relay (\(failure.detail)).")
        }
    }
}
