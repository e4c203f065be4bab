import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

/// Thousands of messages at once: each is answered, and what is right still gets through.
@Suite struct CommandBurstTests {
    private let topic = "ftw/home/car/garage/level/set"

    /// A machine whose broker has a burst waiting, and what came of it.
    private struct Burst {
        var machine: BridgeMachine
        var now: Moment
        var sent: [Message] = []
        var orders: [BoxOrder] = []
        var disk: JSONValue?
        var saves = 0
        /// Orders that the disk did not know of when they went out.
        var unnoted: [String] = []

        init() {
            var bench = Bench()
            bench.see(houseWithCars())
            bench.connect()
            bench.pass(.seconds(10))
            machine = bench.machine
            now = bench.now
        }

        mutating func feed(_ event: BridgeMachine.Event, more: Bool = false) {
            for action in machine.handle(event, now: now, more: more) {
                switch action {
                case .publish(let message): sent.append(message)
                case .save("commands", let document):
                    saves += 1
                    disk = document
                case .perform(let order):
                    orders.append(order)
                    let ledger = CommandLedger(document: disk ?? .null)
                    if ledger[order.id]?.step != .sent { unnoted.append(order.id) }
                default: break
                }
            }
        }

        mutating func feed(_ messages: [Message]) {
            for (index, message) in messages.enumerated() {
                feed(.message(message), more: index + 1 < messages.count)
                now.monotonic += .milliseconds(1)
                now.wall += 0.001
            }
        }

        mutating func pass(_ seconds: Int) {
            let end = now.monotonic + .seconds(seconds)
            while let alarm = machine.nextDeadline, alarm <= end {
                now.wall += (max(alarm, now.monotonic) - now.monotonic) / .seconds(1)
                now.monotonic = max(alarm, now.monotonic)
                feed(.timerFired)
            }
            now.monotonic = end
        }

        /// How many final results each id got.
        var ends: [String: Int] {
            sent.documents("result").filter { $0["final"] == true }
                .reduce(into: [:]) { $0[$1["id"]?.stringValue ?? "?", default: 0] += 1 }
        }
        /// The last code that each id was told.
        var codes: [String: String] {
            sent.documents("result").reduce(into: [:]) {
                $0[$1["id"]?.stringValue ?? "?"] = $1["code"]?.stringValue
            }
        }
    }

    private func message(_ id: String, _ value: String) -> Message {
        Message(topic, #"{"id":"\#(id)","value":"\#(value)"}"#, qos: .atLeastOnce)
    }

    @Test func aValidCommandBehindThreeThousandBadOnesIsCarriedOut() {
        var burst = Burst()
        let bad = (0..<3_000).map { message("bad\($0)", "101") }
        burst.feed(bad + [message("good", "62")])
        #expect(burst.orders.map(\.id) == ["good"])
        #expect(burst.unnoted.isEmpty)
        #expect(burst.saves == 1)
        burst.feed(.progress("good", .acknowledged))
        burst.feed(.progress("good", .ended(.applied(.number(0.62)))))
        burst.pass(120)
        #expect(burst.ends.count == 3_001)
        #expect(burst.ends.values.allSatisfy { $0 == 1 })
        #expect(burst.sent.documents("result").last { $0["id"] == "good" }?["stage"] == "done")
        let told = burst.codes
        let codes = (0..<3_000).map { told["bad\($0)"] }
        #expect(codes.prefix(10).allSatisfy { $0 != "rate_limited" })
        #expect(codes.dropFirst(10).allSatisfy { $0 == "rate_limited" })
        // What came near the box, its end, and that it was heard.
        #expect(burst.saves <= 5)
        let ledger = CommandLedger(document: burst.disk ?? .null)
        #expect(ledger.entries.keys.sorted() == ["good"])
        #expect(burst.machine.desk.ledger.entries.count <= CommandLedger.passingCapacity + 1)
        #expect(burst.sent.to("car/garage/last_command").count <= 12)
    }

    /// Levels that fold into the newest are remembered; that is not a write for each.
    @Test func aThousandLevelsAreAFewWrites() {
        var burst = Burst()
        burst.feed((0..<1_000).map { message("l\($0)", "\(20 + $0 % 60)") })
        #expect(burst.saves <= 1_000 / BridgeMachine.mostHeld + 2)
        for _ in 0..<5 {
            for order in burst.orders {
                burst.feed(.progress(order.id, .ended(.applied(nil))))
            }
            burst.pass(2)
        }
        #expect(burst.unnoted.isEmpty)
        #expect(burst.ends.count == 1_000)
        #expect(burst.ends.values.allSatisfy { $0 == 1 })
        #expect(burst.orders.count == 2)
    }

    /// Each is turned away without a trace on disk, and the first answer stands.
    @Test func tooManyOrdersAreTurnedAwayInMemory() {
        var burst = Burst()
        let control = "ftw/home/car/garage/control/set"
        let orders = (0..<500).map {
            Message(control, #"{"id":"c\#($0)","value":"pause"}"#, qos: .atLeastOnce)
        }
        burst.feed(orders)
        #expect(burst.orders.count == 1)
        let ledger = CommandLedger(document: burst.disk ?? .null)
        #expect(ledger.entries.count <= 17)
        #expect(burst.codes["c20"] == "busy")
        #expect(burst.codes["c499"] == "rate_limited")
        burst.feed(orders.suffix(1))
        #expect(burst.codes["c499"] == "rate_limited")
        #expect(burst.ends["c499"] == 2)
        #expect(burst.orders.count == 1)
    }

    @Test func aMinuteLaterARefusalSaysItsReasonAgain() {
        var burst = Burst()
        burst.feed((0..<20).map { message("a\($0)", "101") })
        #expect(burst.codes["a19"] == "rate_limited")
        burst.pass(61)
        burst.feed([message("b", "101")])
        #expect(burst.codes["b"] == burst.codes["a0"])
        // It is the loadpoint's last command, also after a restart.
        burst.pass(10)
        #expect(CommandLedger(document: burst.disk ?? .null).last["garage"]?.id == "b")
    }

    /// What comes before the subscription is confirmed is told once it is.
    @Test func refusalsBeforeTheSubscriptionAreToldAfterIt() {
        var bench = Bench()
        bench.see(houseWithCars())
        bench.feed(.connected(BrokerSession(version: .v5)))
        for number in 0..<30 {
            let early = bench.feed(
                .message(Message(topic, #"{"id":"r\#(number)","value":"60"}"#, retained: true)))
            #expect(early.documents("result").isEmpty)
        }
        let sent = bench.feed(.subscribed(attempt: bench.machine.attempt, granted: [true, true]))
        #expect(sent.documents("result").count == 30)
        #expect(sent.documents("result").allSatisfy { $0["code"] == "retained" })
        #expect(bench.orders.isEmpty)
    }
}
