import Ambient
import EnergyModel
import JSONText
import MQTTTypes

/// What arrives on the topics we listen to.
extension BridgeMachine {
    mutating func received(_ message: Message, now: Moment) {
        if settings.discovery, message.topic == "\(settings.discoveryPrefix)/status" {
            // Their birth may be retained too; one that the broker had kept is no news.
            guard !wasKept(message, message.topic, now: now), message.text == "online" else { return }
            actions.append(.someoneLooks)
            // Many bridges hear this at once; each waits a little while of its own.
            if phase == .up {
                republishAt = now.monotonic + .seconds(1) + .seconds(4) * min(max(chance(), 0), 1)
            }
            return
        }
        if unearthed(message, now: now) { return }
        guard let path = tree.path(of: message.topic) else { return heard(message, now: now) }
        let isKept = wasKept(message, path, now: now)
        let isLeftOut = publisher.session?.version == .v5
        if echoes.isEcho(message, isLeftOut: isLeftOut, now: now.monotonic) { return }
        if phase == .standby { return watch(path, message, now: now) }
        if TopicTree.takesCommands(path) { return requested(message, path: path, now: now) }
        if isKept { return replace(path, message, now: now) }
        if path == TopicName.bridgeInfo.rawValue, meet(message, now: now) { return }
        if isOurs(path) { foreign(path, text: message.text, now: now) }
    }

    /// What the broker had kept is of an earlier run of ours.
    ///
    /// Where the broker shows the retain flag of what comes live too, only the first
    /// message on a topic can be one it had kept, and only for a while.
    private mutating func wasKept(_ message: Message, _ path: String, now: Moment) -> Bool {
        guard message.retained else { return false }
        guard publisher.session?.version == .v5 else { return true }
        let isFirst = keptSeen.count < 5_000 && keptSeen.insert(path).inserted
        // An earlier run of ours cannot have started later than this one.
        if path == TopicName.bridgeInfo.rawValue, let other = stranger(message), other > run.instance {
            return phase != .up
        }
        return phase != .up || (isFirst && now.monotonic < keptUntil ?? .zero)
    }

    /// What an earlier run left comes late: it is not ours any more, and nobody's doing.
    private mutating func replace(_ path: String, _ message: Message, now: Moment) {
        guard phase == .up, isOurs(path), publisher.lastSent(path) != message.payload else { return }
        // Should it be another copy after all, it answers, and is met then.
        if path == TopicName.bridgeInfo.rawValue { return writeBack(path, now: now) }
        writeBacks[path] = writeBacks[path] ?? now.monotonic + .milliseconds(500)
    }

    private func isOurs(_ path: String) -> Bool {
        publisher.order.contains { $0.path == path } || publisher.mirrored[path] != nil
            || (settings.claim != nil && "\(tree.root)/\(path)" == settings.claimTopic)
    }

    // MARK: Requests

    private mutating func requested(_ message: Message, path: String, now: Moment) {
        if message.retained, message.payload.isEmpty { return }
        if !path.hasPrefix("bridge/") { return commanded(message, path: path, now: now) }
        requestCount += 1
        let request = Request(message, ownID: "\(run.instance)-\(requestCount)")
        let say = { [language = settings.language] (en: String, sv: String) in LocalText(en, sv)[language] }
        emptyTopic(of: message, now: now)
        if message.retained {
            answer(
                request,
                .refused(
                    .retained,
                    say(
                        "Not done: the message was retained, an old wish that the broker kept. It is removed.",
                        "Inte gjort: meddelandet var kvarhållet, en gammal önskan. Det är borttaget.")),
                now: now)
            return
        }
        if let problem = request.problem {
            let text = problem.detail?[settings.language] ?? ""
            return answer(request, .refused(problem.code, text), now: now)
        }
        switch TopicName(rawValue: path) {
        case .bridgePing:
            received(request, now: now)
            answer(request, RequestResult(stage: .done, text: say("Here.", "Här."), value: "pong"), now: now)
        case .bridgeRepublish:
            received(request, now: now)
            republish(now: now)
            answer(request, RequestResult(stage: .done, text: say("Done.", "Klart.")), now: now)
        case .bridgeReload where canReload:
            received(request, now: now)
            actions.append(.reload(request))
        case .bridgeReload:
            answer(
                request,
                .refused(
                    .unsupported,
                    say(
                        "Not done: this process cannot read its configuration again.",
                        "Inte gjort: processen kan inte läsa in konfigurationen på nytt.")),
                now: now)
        default:
            answer(
                request,
                .refused(
                    .unknownCommand,
                    say(
                        "Not done: there is no command on this topic.",
                        "Inte gjort: det finns inget kommando på detta ämne.")),
                now: now)
        }
    }

    private mutating func received(_ request: Request, now: Moment) {
        let text = LocalText("Received.", "Mottaget.")[settings.language]
        answer(request, RequestResult(stage: .received, text: text), now: now)
    }

    /// Tells one stage on `result`, and where else the asker wants it.
    mutating func answer(_ request: Request, _ result: RequestResult, now: Moment) {
        let documents = publisher.documents
        let document = documents.result(result, of: request, at: documents.time(now.wall))
        publishResult(document, to: request.responseTopic, request.correlationData, now: now)
        if result.isFinal { count(result.stage.rawValue) }
    }

    /// One stage on `result`, and where else the asker wants it.
    ///
    /// - Parameter askerOnly: It is news to nobody else, if the asker says where it is wanted.
    mutating func publishResult(
        _ document: SiteDocuments.Document, to responseTopic: String?, _ correlation: [UInt8]?,
        askerOnly: Bool = false, now: Moment
    ) {
        let bytes = JSONValue.object(document).bytes
        let asker = responseTopic.flatMap { isUsable(responseTopic: $0) ? $0 : nil }
        if !askerOnly || asker == nil {
            publish(Message(tree.topic(.result), bytes, qos: TopicName.result.spec.qos), now: now)
        }
        if let asker { publish(Message(asker, bytes, correlationData: correlation), now: now) }
    }

    /// A command or request ended so.
    mutating func count(_ stage: String) {
        var health = publisher.health
        health.commands[stage, default: 0] += 1
        publisher.health = health
    }

    /// A response topic must be a topic name, and none of ours: an answer there would pass
    /// for state, for a command to another site, or for something that somebody said.
    func isUsable(responseTopic topic: String) -> Bool {
        !topic.isEmpty && topic.utf8.count <= 1_024 && !topic.contains(where: { "+#\0".contains($0) })
            && tree.path(of: topic) == nil && !topic.hasPrefix("$")
            && !TopicTree.takesCommands(base: settings.baseTopic, topic: topic)
            && !topic.hasPrefix("\(settings.discoveryPrefix)/")
            && (voice == nil || !topic.hasPrefix("hermes/"))
    }

    // MARK: Others on our topics

    /// Somebody wrote to a state topic. What stands there must be what is, so it is written again.
    private mutating func foreign(_ path: String, text: String?, now: Moment) {
        guard writeBacks[path] == nil else { return }
        writeBacks[path] = now.monotonic + .milliseconds(500)
        // Our own will, from a connection the broker gave up late: nobody's doing, and put right.
        if path == TopicName.bridgeAvailability.rawValue, text == "offline" { return }
        guard toldForeign.count < 200, toldForeign.insert(path).inserted else { return }
        let name = publisher.order.first { $0.path == path }?.name
        let commands = name?.spec.commands ?? []
        let hint =
            commands.isEmpty
            ? "It takes no commands."
            : "Commands go to \(commands.map { "\(tree.root)/\(path)/\($0)" }.joined(separator: " or "))."
        actions.append(
            .log(
                .warning,
                "somebody else wrote to \(tree.root)/\(path), which only this bridge writes; "
                    + "its value is put back. \(hint)"))
    }

    mutating func writeBack(_ path: String, now: Moment) {
        if let claim = settings.claim, "\(tree.root)/\(path)" == settings.claimTopic {
            publish(Message(settings.claimTopic, claim, retained: true), now: now)
        } else if let place = publisher.order.first(where: { $0.path == path }) {
            for message in publisher.again(place, now: now) { publish(message, now: now) }
        } else if let message = publisher.mirrorAgain(path, now: now) {
            publish(message, now: now)
        }
    }

    // MARK: A second copy

    /// Who introduces itself there; `nil` when it is nobody, or we.
    private func stranger(_ message: Message) -> String? {
        guard let other = (try? JSONValue(parsing: message.payload))?["instance"]?.stringValue,
            !other.isEmpty, other.utf8.count <= 64, other != run.instance
        else { return nil }
        return other
    }

    /// Another bridge introduced itself on our topics.
    ///
    /// - Returns: False if that was no introduction of another one.
    private mutating func meet(_ message: Message, now: Moment) -> Bool {
        guard let other = stranger(message) else { return false }
        let isNew = rival != other
        if other < run.instance {
            rival = other
            if isNew {
                let sentence =
                    "Another bridge with the same base topic and site was here first; this one stands by "
                    + "until it leaves. Run one bridge for a site."
                fault("second_copy", sentence, now: now)
                actions.append(.log(.error, sentence))
            }
            standBy(now: now)
        } else {
            // It came later: our introduction tells it so.
            if isNew, toldForeign.insert("copy \(other)").inserted {
                let sentence =
                    "Another bridge with the same base topic and site was started; it is told to stand by. "
                    + "Run one bridge for a site."
                fault("second_copy", sentence, now: now)
                actions.append(.log(.warning, sentence))
            }
            for message in publisher.again(.init(.bridgeInfo), now: now) { publish(message, now: now) }
        }
        return true
    }

    /// Says nothing more until the other copy left or was silent for as long as
    /// its birth lasts.
    mutating func standBy(now: Moment) {
        phase = .standby
        healthAt = nil
        republishAt = nil
        writeBacks = [:]
        let birth = TopicName.bridgeAvailability.spec.expirySeconds ?? 180
        resumeAt = now.monotonic + .seconds(Int64(birth) + 10)
    }

    private mutating func watch(_ path: String, _ message: Message, now: Moment) {
        guard path == TopicName.bridgeAvailability.rawValue else { return }
        if message.text == "online" {
            standBy(now: now)
        } else {
            resumeAt = now.monotonic + .seconds(2) + .seconds(3) * min(max(chance(), 0), 1)
        }
    }
}
