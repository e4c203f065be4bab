import Ambient
import EnergyModel
import JSONText
import MQTTTypes

/// What people say to a voice assistant, and what it says back to them.
///
/// Topics and members are those of rhasspy-hermes: `NluIntent` comes in,
/// `DialogueEndSession`, `DialogueContinueSession` and, where nobody holds a
/// conversation, `TtsSay` go out.
extension BridgeMachine {
    static let endSession = "hermes/dialogueManager/endSession"
    static let continueSession = "hermes/dialogueManager/continueSession"
    static let say = "hermes/tts/say"

    /// A message outside our own tree.
    mutating func heard(_ message: Message, now: Moment) {
        // What a broker had kept was said some other day; and one copy of us answers.
        guard var voice, phase != .standby, !message.retained else { return }
        switch HermesIntent.read(message, prefix: voice.settings.prefix) {
        case .notOurs: return
        case .unusable(let why):
            actions.append(.log(.debug, "a voice intent is not usable: \(why)"))
        case .intent(let intent):
            let todo = voice.heard(intent, cars: namedCars, now: now)
            self.voice = voice
            for action in todo { carryOut(action, now: now) }
        }
    }

    private var namedCars: [VoiceDesk.Car]? {
        publisher.site.cars?.map {
            VoiceDesk.Car(id: $0.id, level: TopicLevel($0.id).text, name: $0.vehicleName)
        }
    }

    private mutating func carryOut(_ action: VoiceDesk.Action, now: Moment) {
        switch action {
        case .say(let text, let asker): speak(text, to: asker, now: now)
        case .askBack(let text, let asker, let intents):
            guard let session = asker.sessionID else { return }
            let document: JSONValue = [
                "sessionId": .string(session), "siteId": .string(asker.siteID), "text": .string(text),
                "intentFilter": .array(intents.map(JSONValue.string)), "sendIntentNotRecognized": false,
            ]
            publish(Message(Self.continueSession, document.bytes), now: now)
        case .answer(let wish, let car, let asker):
            speak(answer(wish, about: car, asker.language, now: now), to: asker, now: now)
        case .command(let intent, let car, let topic, let payload, let asker):
            requestCount += 1
            let ownID = "\(run.instance)-\(requestCount)"
            let id = payload["id"]?.stringValue ?? ownID
            // Waited for before it is sent: a refusal comes at once.
            let waiting = VoiceDesk.Pending(
                intent: intent, asker: asker, car: nameIfSeveral(car),
                until: now.monotonic + VoiceDesk.patience)
            voice?.follow(id, waiting)
            take(
                Message("\(tree.root)/\(topic)", payload.bytes), path: topic, ownID: ownID, now: now)
        }
    }

    /// What the car is called where there is more than one.
    private func nameIfSeveral(_ id: String) -> String? {
        guard let cars = namedCars, cars.count > 1, let place = cars.firstIndex(where: { $0.id == id })
        else { return nil }
        return VoiceDesk.spoken(cars)[place]
    }

    private mutating func speak(_ text: String, to asker: VoiceDesk.Asker, now: Moment) {
        var document: [String: JSONValue] = ["text": .string(Sentence.limited(text))]
        var topic = Self.say
        if let session = asker.sessionID {
            document["sessionId"] = .string(session)
            topic = Self.endSession
        } else {
            document["lang"] = .string(asker.lang ?? asker.language.rawValue)
        }
        document["siteId"] = .string(asker.siteID)
        publish(Message(topic, JSONValue.object(document).bytes), now: now)
    }

    // MARK: Questions

    /// The sentences of `car/<id>/text/<lang>`, for the ear.
    private func answer(_ wish: VoiceWish, about id: String, _ language: Language, now: Moment) -> String {
        let words = VoiceWords(language)
        let place = publisher.carLevels[id].map { TopicTree.Place(.carState, $0) }
        guard let shown = place.flatMap({ publisher.shownCar($0) }) else { return words.notYet }
        let zone = publisher.documents.zone
        let speakable = Speakable(language: language)
        func say(_ sentence: Sentence) -> String {
            speakable.text(sentence.text(language, zone: zone, now: now.wall))
        }
        var said: [String] = []
        if wish == .ready {
            let readiness = shown.car.isCurrent ? say(.readiness(shown.car.readiness)) : ""
            if !readiness.isEmpty {
                said.append(readiness)
            } else if shown.isTold {
                said = [say(.charging(shown.car.charging)), say(.goal(shown.car.goal))]
            }
        }
        if said.isEmpty {
            // Without the box the level says how old it is, and why nothing newer comes.
            if !shown.isLinkUp { said.append(say(.link(publisher.site.link))) }
            if wish == .ready { said.append(words.nothingNewer) }
            said.append(say(.level(shown.car.level)))
        }
        if desk.isUnderWay(loadpoint: id) { said.append(words.underWay) }
        if let name = nameIfSeveral(id) { said.insert("\(name):", at: 0) }
        return said.joined(separator: " ")
    }

    // MARK: Commands

    /// A command's end, to whoever asked for it aloud.
    mutating func answerAsker(_ report: StageReport, path: String?, now: Moment) {
        guard let waiting = voice?.ended(report.id) else { return }
        let language = waiting.asker.language
        let written: String
        if report.stage == .done {
            written = VoiceWords(language).done(waiting.intent, report.value)
        } else {
            written = publisher.documents.words(
                report, path.flatMap(CommandTopic.init(path:)), language)
        }
        tell(written, waiting, now: now)
    }

    /// Nobody waits any longer for what did not end in time.
    mutating func tellOverdue(now: Moment) {
        guard let late = voice?.overdue(now), phase == .up || phase == .subscribing else { return }
        for waiting in late { tell(VoiceWords(waiting.asker.language).unconfirmed, waiting, now: now) }
    }

    private mutating func tell(_ written: String, _ waiting: VoiceDesk.Pending, now: Moment) {
        let text = Speakable(language: waiting.asker.language).text(written)
        speak(waiting.car.map { "\($0): \(text)" } ?? text, to: waiting.asker, now: now)
    }
}
