import BoxLink
import BoxSimulator
import CLinux
import EnergyModel
import FoundationEssentials
import JSONText

/// Carries out what is typed while the demo runs, and answers each line with one.
struct DemoConsole: Sendable {
    let house: DemoHouse
    /// Where the broker is, as `host:port`.
    let broker: String
    private var box: SimulatedBox { house.box }

    init(house: DemoHouse, broker: String) {
        self.house = house
        self.broker = broker
    }

    /// Answers until the input ends or `quit` is said, or the task is cancelled.
    ///
    /// - Returns: True for `quit`.
    func run() async -> Bool {
        let input = ConsoleInput()
        defer { input.stop() }
        for await line in input.lines {
            let (text, ends) = await answer(line)
            if let text { Self.say(text) }
            input.answered()
            if ends { return true }
        }
        return false
    }

    /// Whole lines on standard output, whatever others print there.
    private static func say(_ text: String) {
        let line = text + "\n"
        line.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.withMemoryRebound(to: CChar.self) { clinux_write_stdout($0.baseAddress, $0.count) }
        }
    }

    private func answer(_ line: LineSplitter.Line) async -> (text: String?, ends: Bool) {
        switch line {
        case .tooLong: return ("! the line is longer than \(ConsoleWords.longest) bytes", false)
        case .notText: return ("! the line is not text in UTF-8", false)
        case .text(let text):
            do throws(ConsoleFault) {
                guard let command = try ConsoleParser.parse(text) else { return (nil, false) }
                let answer = "= \(Self.oneLine(try await carryOut(command)))"
                guard case .help(let verb) = command else { return (answer, command == .quit) }
                // The list, and then the answer: whoever reads answers finds one line here too.
                return (((ConsoleHelp.lines(verb) ?? []) + [answer]).joined(separator: "\n"), false)
            } catch {
                return ("! \(Self.oneLine(error.text))", false)
            }
        }
    }

    private static func oneLine(_ text: String) -> String { text.replacing("\n", with: " ") }

    // MARK: Carrying out

    /// - Returns: A short fact about what is so now.
    private func carryOut(_ command: ConsoleCommand) async throws(ConsoleFault) -> String {
        switch command {
        case .help(let verb):
            guard ConsoleHelp.lines(verb) != nil else {
                throw ConsoleFault(
                    "no command begins with \(ConsoleWords.shown(verb ?? "")); known are "
                        + ConsoleHelp.verbs.joined(separator: ", "))
            }
            return verb == nil ? "help WORD shows some of them" : "help shows all"
        case .place: return "broker \(broker) relay \(house.relayURL)"
        case .link(let role): return await box.pairingLink(role: role)
        case .clock(let date):
            if let date { house.clock.set(date) }
            return time
        case .speed(let factor):
            house.clock.setSpeed(factor)
            return "\(factor) times as fast from \(time)"
        case .state: return await box.truth().text
        case .clearLog:
            await box.clearLog()
            return "nothing counted yet"
        case .quit: return "the demo ends"
        case .car(let id, let change): return try await car(id, change)
        case .order(let id, let order):
            let id = try await loadpoint(id)
            guard await box.order(order, loadpoint: id) else {
                throw ConsoleFault("no car is plugged in at \(id); try: car \(id) plug")
            }
            return await fact(id)
        case .setMode(let key):
            guard await box.setMode(key: key) else { throw await unknown(mode: key) }
            return "mode \(key)"
        case .addMode(let key, let label):
            guard await box.addMode(key: key, label: label) else {
                throw ConsoleFault("there is a mode \(key) already, or there are 32 of them")
            }
            return "modes \(await modes), with the next greeting (box restart)"
        case .removeMode(let key):
            guard await box.removeMode(key: key) else { throw await unknown(mode: key) }
            return "modes \(await modes), with the next greeting (box restart)"
        case .source(let name, let change): return try await source(name, change)
        case .meter(let isThere):
            if isThere { await box.restoreMeter() } else { await box.loseMeter() }
            return isThere ? "the site meter answers" : "the site meter is offline; nothing may be dispatched"
        case .removeBattery:
            await box.removeBattery()
            return "no house battery any more"
        case .box(let change): return await arrange(change)
        case .relay(let change): return try await relay(change)
        case .role(let role):
            let clients = await box.clients
            for client in clients { await box.setRole(role, clientKey: client.key) }
            return "\(clients.count) clients are \(role.rawValue), with the next greeting (box restart)"
        case .revoke:
            let count = await box.clients.count
            await box.revokeAll()
            return "\(count) clients revoked"
        case .next(let fate):
            if let fate { await box.addCommandFate(fate) } else { await box.setCommandFates([]) }
            return fate.map { "the next command: \($0)" } ?? "no fate is arranged"
        case .swallow(let what, let isOn):
            await box.setSilentCommands(acknowledged: isOn ? what == .results : nil)
            return isOn ? "\(what.rawValue) are swallowed" : "nothing is swallowed"
        case .fault(let path, let fault):
            await box.setFault(fault, path: path)
            return fault.map { "\(path): \($0)" } ?? "\(path) is right again"
        case .busy(let calls):
            await box.setBusy(calls: calls)
            return "the next \(calls) calls find it busy"
        case .delay(let beats):
            await box.setAnswerDelay(beats: beats)
            return "answers come \(beats) s later"
        case .prices(let change): return try await prices(change)
        case .importEnergy(let wh):
            house.home.addImport(wh: wh)
            return "\(wh / 1_000) kWh more from the grid at \(time)"
        }
    }

    private var time: String { house.home.settings.zone.iso8601(house.clock.now) }
    private var modes: String { get async { await box.modeKeys.joined(separator: ", ") } }

    private func unknown(mode key: String) async -> ConsoleFault {
        ConsoleFault("there is no mode \(ConsoleWords.shown(key)); known are \(await modes)")
    }

    /// The loadpoint of that id, or the first one.
    private func loadpoint(_ id: String?) async throws(ConsoleFault) -> String {
        let ids = await box.loadpointIDs
        guard let found = id.map({ id in ids.first { $0 == id } }) ?? ids.first else {
            let known = ids.isEmpty ? "there are none" : "known are \(ids.joined(separator: ", "))"
            throw ConsoleFault("there is no loadpoint \(ConsoleWords.shown(id ?? "")); \(known)")
        }
        return found
    }

    private func car(_ id: String?, _ change: ConsoleCommand.CarChange) async throws(ConsoleFault) -> String {
        let id = try await loadpoint(id)
        switch change {
        case .plug(let isIn): house.home.plug(isIn, loadpoint: id)
        case .situation(let situation): await box.setCar(situation, loadpoint: id)
        case .draw(let draw): house.home.setDraw(draw, loadpoint: id)
        }
        return await fact(id)
    }

    /// How a car is, in a few words.
    private func fact(_ id: String) async -> String {
        let cars = await box.truth()["cars"]?.arrayValue ?? []
        guard let car = cars.first(where: { $0["id"]?.stringValue == id }) else { return id }
        func whole(_ value: JSONValue?, times factor: Double = 1) -> String {
            Int64(exactly: ((value?.doubleValue ?? 0) * factor).rounded()).map { "\($0)" } ?? "?"
        }
        var parts = [car["plugged"]?.boolValue == true ? "plugged in" : "unplugged"]
        parts.append("\(whole(car["soc"], times: 100)) % \(car["anchor"]?.stringValue ?? "")")
        parts.append("\(whole(car["power_w"])) W")
        if let hold = car["hold"], !hold.isNull { parts.append("hold \(whole(hold["power_w"])) W") }
        if let goal = car["target"], !goal.isNull {
            parts.append("goal \(whole(goal["soc"], times: 100)) % \(goal["at"]?.stringValue ?? "")")
        }
        return "\(id): \(parts.joined(separator: ", "))"
    }

    private func source(
        _ name: String, _ change: ConsoleCommand.SourceChange
    ) async throws(ConsoleFault) -> String {
        let names = await box.sourceNames
        guard names.contains(name) else {
            throw ConsoleFault(
                "there is no source \(ConsoleWords.shown(name)); known are \(names.joined(separator: ", "))")
        }
        switch change {
        case .live: await box.setSource(name, .answering)
        case .lagging: await box.silence(name, past: 1)
        case .stale: await box.silence(name, past: 2)
        case .down: await box.setSource(name, .offline)
        case .never: await box.setSource(name, .never)
        }
        return "\(name) is \(change.rawValue)"
    }

    /// Hours 11 to 15 on the clock below zero. By then the clock was changed, on a day of 23 or 25 hours.
    static func negativeAroundNoon(_ hours: [Double]) -> [Double] {
        var hours = hours
        for hour in 11...15 {
            let index = hour + hours.count - 24
            if hours.indices.contains(index) { hours[index] = -60 }
        }
        return hours
    }

    private func arrange(_ change: ConsoleCommand.BoxChange) async -> String {
        switch change {
        case .restart:
            await box.restart()
            return "the box starts again"
        case .away:
            house.cable.plug(false)
            return "the box left the room"
        case .back:
            house.cable.plug(true)
            return "the box joins the room"
        case .booting(let percent):
            await box.setBooting(percent)
            await box.restart()
            return "the box starts again and is at \(percent) %"
        case .ready:
            await box.setBooting(nil)
            return "the box has started"
        case .vintage(let vintage):
            await box.restart(as: vintage)
            return "the box starts again as \(await box.buildName)"
        case .consent(let isWanted):
            await box.setStepUp(isWanted)
            return isWanted ? "configuring wants a confirmation" : "configuring wants no confirmation"
        case .mute(let isMute):
            await box.setMute(isMute)
            return isMute ? "the box sends nothing" : "the box speaks"
        }
    }

    private func relay(_ change: ConsoleCommand.RelayChange) async throws(ConsoleFault) -> String {
        switch change {
        case .drop:
            house.relay.dropAll()
            return "every socket is cut"
        case .rotate:
            house.relay.rotate()
            return "the hour turned"
        case .stop:
            await house.relay.stop()
            return "the relay is gone"
        case .start:
            do { try await house.relay.start() } catch {
                throw ConsoleFault("the relay does not start: \(error)")
            }
            return "the relay listens at \(house.relayURL)"
        }
    }

    private func prices(_ change: ConsoleCommand.PriceChange) async throws(ConsoleFault) -> String {
        let answer = try await arrange(change)
        await box.pushPlan()
        return "\(answer); a bridge reads prices again after box restart"
    }

    private func arrange(_ change: ConsoleCommand.PriceChange) async throws(ConsoleFault) -> String {
        switch change {
        case .none:
            await box.setPrices(false)
            return "the box has no prices"
        case .known:
            await box.setPrices(true)
            house.home.resetPrices()
            return "the prices of the house itself"
        case .negative:
            for ahead in 0...1 {
                let hours = house.home.spotMinor(daysAhead: ahead)
                _ = house.home.setPrices(Self.negativeAroundNoon(hours), daysAhead: ahead)
            }
            return "hours 11 to 15 of today and tomorrow at -60, which the household pays -25 for"
        case .day(let ahead, let spot):
            if let counts = house.home.setPrices(spot, daysAhead: ahead) {
                throw ConsoleFault(
                    "\(ahead == 0 ? "today" : "tomorrow") takes \(counts[0]), \(counts[1]) or \(counts[2]) values, "
                        + "not \(spot.count)")
            }
            return
                "\(ahead == 0 ? "today" : "tomorrow"): \(spot.count) values; the household pays (spot + 40) × 1.25"
        case .published(let isPublished):
            house.home.setTomorrowPublished(isPublished)
            return
                "tomorrow's prices are \(isPublished.map { $0 ? "known" : "not known" } ?? "known from 13:00")"
        }
    }
}
