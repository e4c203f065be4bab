import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import TestSupport
import Testing

@testable import Bridge

/// Whatever is asked, answered and broken: what stands on a state topic is the box's word.
@Suite struct ShownStateTests {
    /// A bridge that is asked for things, and one that hears the same of the house and
    /// is never asked for anything: it cannot show a wish.
    private struct Twins {
        var dice: SeededDice
        var asked: Bench
        var quiet: Bench
        var house: SiteState
        var faults: [String] = []
        var compared = 0
        var isBrokerUp = true
        var serial = 0

        /// - Parameter start: A bridge that is connected and knows that house.
        init(seed: UInt64, start: Bench, house: SiteState) {
            dice = SeededDice(seed)
            (asked, quiet, self.house) = (start, start, house)
        }

        mutating func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &dice) }

        static func isState(_ place: TopicTree.Place) -> Bool {
            switch place.name {
            case .carControl, .carHold, .carLevel, .carGoal, .mode: true
            default: false
            }
        }

        /// The document without who asked, which is the bridge's own word.
        ///
        /// - Parameter dated: With its time, which alone is no reason to send it anew.
        static func shown(_ message: Message, dated: Bool = true) -> String? {
            guard var document = (try? JSONValue(parsing: message.payload))?.objectValue else {
                return message.text
            }
            document["asked_by"] = nil
            if !dated { document["at"] = nil }
            return JSONValue.object(document).text
        }

        mutating func check(_ sent: [Message], _ what: String) {
            let sent = sent.filter { $0.topic.hasPrefix("ftw/home/car/") || $0.topic == "ftw/home/mode" }
            guard !sent.isEmpty else { return }
            var publisher = quiet.machine.publisher
            for place in publisher.order where Self.isState(place) {
                for message in sent.to(place.path) {
                    let due = publisher.again(place, now: quiet.now).first { $0.topic == message.topic }
                    compared += 1
                    if due.flatMap({ Self.shown($0) }) != Self.shown(message) {
                        faults.append(
                            "\(what): \(place.path) is \(message.text ?? ""), the house is \(due?.text ?? "")"
                        )
                    }
                }
            }
        }

        mutating func both(_ event: BridgeMachine.Event, _ what: String) {
            quiet.feed(event)
            check(asked.feed(event), what)
        }

        mutating func pass(_ milliseconds: Int) {
            quiet.pass(.milliseconds(milliseconds))
            check(asked.pass(.milliseconds(milliseconds)), "time")
        }

        mutating func connectBoth() {
            quiet.connect()
            check(asked.connect(), "connected")
        }

        mutating func ask() {
            serial += 1
            let car = TopicLevel(["garage", "Gatan Norr"][random(0...1)]).text
            let (path, value): (String, String) =
                switch random(0...5) {
                case 0: ("car/\(car)/control/set", ["charge_now", "pause", "plan"][random(0...2)])
                case 1: ("car/\(car)/control/set", #"charge_now","minutes":"\#(random(1...300))"#)
                case 2: ("car/\(car)/level/set", "\(random(0...110))")
                case 3: ("car/\(car)/level/adjust", "\(random(-10...10))")
                case 4: ("car/\(car)/goal/set", "\(random(20...100))")
                default: ("mode/set", ["idle", "planner_self", "planner_arbitrage", "no"][random(0...3)])
                }
            let tail = value.hasSuffix("\"") ? value : value + "\""
            let message = Message(
                "ftw/home/\(path)", #"{"id":"k\#(serial)","value":"\#(tail)}"#, retained: random(0...9) == 0)
            check(asked.feed(.message(message)), "\(path) \(value)")
        }

        mutating func answer() {
            guard !asked.orders.isEmpty else { return }
            let id = asked.orders[random(0...asked.orders.count - 1)].id
            let progress: BoxProgress =
                switch random(0...5) {
                case 0, 1: .acknowledged
                case 2: .ended(.applied(.number(Double(random(0...11_000)))))
                case 3: .ended(.refused(.init(kind: .dispatchBlocked)))
                case 4: .ended(.overtaken(.text("plan")))
                default: .linkBroke(acknowledged: random(0...1) == 0)
                }
            check(asked.feed(.progress(id, progress)), "\(id) \(progress)")
        }

        mutating func changeHouse() {
            let at = asked.wall
            let (which, kind) = (random(0...1), random(0...5))
            let number = Double(random(0...100))
            let minute = random(0...1_439)
            house = house.changed { house in
                house.cars?[which].readAt = at
                switch kind {
                case 0: house.cars?[which].loadpoint.manualActive = false
                case 1:
                    house.cars?[which].loadpoint.manualActive = true
                    house.cars?[which].loadpoint.manualW = number < 50 ? nil : number * 100
                    house.holdEnds =
                        number.truncatingRemainder(dividingBy: 2) == 0 ? ["garage": at + 600] : [:]
                case 2: house.cars?[which].level = CarLevel(soc: number / 100, origin: .car, at: at)
                case 3:
                    house.cars?[which].goal = Goal(
                        soc: number / 100, minuteOfDay: minute, recurring: false,
                        zone: HouseholdZone(boxZone: "Europe/Stockholm", configured: .utc))
                case 4: house.mode = Mode(current: threeModes[Int(number) % 3], catalogue: threeModes)
                default: house.link.state = house.link.isUp ? .lost : .live
                }
            }
            both(.site(house), "house")
        }

        mutating func play(_ events: Int) {
            for _ in 0..<events {
                switch random(0...9) {
                case 0...3: ask()
                case 4, 5: answer()
                case 6, 7: changeHouse()
                case 8:
                    if isBrokerUp {
                        both(.disconnected(BrokerLoss(code: .closed, sentence: "gone")), "gone")
                    } else {
                        connectBoth()
                    }
                    isBrokerUp.toggle()
                default:
                    if let order = asked.readings.last {
                        check(asked.feed(.wasRead(order.id, .matches(.number(1)))), "read")
                    }
                }
                pass(random(0...4_000))
            }
            if !isBrokerUp { connectBoth() }
            pass(60_000)
            // In the end both brokers hold the same of the house.
            for place in quiet.machine.publisher.order
            where Self.isState(place) {
                let pair = [asked, quiet].map {
                    $0.retained["ftw/home/\(place.path)"].flatMap { Self.shown($0, dated: false) }
                }
                if pair[0] != pair[1] { faults.append("at the end \(place.path): \(pair)") }
            }
        }
    }

    private static let schedules: UInt64 = 10_000

    @Test func noWishIsEverShown() async {
        let chunk = Self.schedules / 10
        let played = await withTaskGroup(of: (compared: Int, orders: Int, faults: [String]).self) { group in
            for first in stride(from: 0, to: Self.schedules, by: Int(chunk)) {
                group.addTask {
                    var sum = (compared: 0, orders: 0, faults: [String]())
                    var quick = settings()
                    quick.discovery = false
                    var start = Bench(quick)
                    let house = houseWithCars()
                    start.see(house)
                    start.connect()
                    for seed in first..<first + chunk where sum.faults.isEmpty {
                        var twins = Twins(seed: seed, start: start, house: house)
                        twins.play(seed.isMultiple(of: 20) ? 40 : 10)
                        sum.compared += twins.compared
                        sum.orders += twins.asked.orders.count
                        sum.faults += twins.faults.prefix(3).map { "seed \(seed): \($0)" }
                    }
                    return sum
                }
            }
            return await group.reduce(into: (compared: 0, orders: 0, faults: [String]())) { sum, part in
                sum.compared += part.compared
                sum.orders += part.orders
                sum.faults += part.faults
            }
        }
        #expect(played.faults.isEmpty, "\(played.faults.joined(separator: "; "))")
        #expect(played.compared > 40_000 && played.orders > 5_000)
        print("\(Self.schedules) schedules: \(played.compared) documents compared, \(played.orders) orders")
    }
}
