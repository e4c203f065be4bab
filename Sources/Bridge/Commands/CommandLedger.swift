public import EnergyModel
public import FoundationEssentials
public import JSONText

/// What became of every command of the last day, kept on disk.
///
/// The box forgets command ids when a session ends (FTW wire §7.4), so the
/// promise that one id is carried out once is ours. An id that we made up for a
/// bare payload cannot come again and is forgotten once its end was told.
public struct CommandLedger: Sendable, Equatable {
    /// How long an id is remembered.
    public static let memory: TimeInterval = 24 * 3600
    /// The most ids that are remembered; the oldest finished ones go first.
    public static let capacity = 2_048
    /// The most ids of refusals that are remembered besides; they are in memory alone.
    public static let passingCapacity = 1_024

    /// Loadpoints of which it is remembered who asked last.
    static let askerCapacity = 64

    /// What one id has come to.
    public struct Entry: Sendable, Equatable {
        public enum Step: String, Sendable {
            /// Known, and certainly not sent.
            case waiting
            /// Handed to the session, so the box may have it.
            case sent
            /// Ended; `report` says how.
            case ended
        }
        public var step: Step
        /// The newest stage; the final one once `step` is `ended`.
        public var report: StageReport
        /// What to compare the box with when a restart came in between; steps
        /// are already resolved here. `nil` for a request that was never a command.
        public var intent: Intent?
        public var isOurID: Bool
        /// True once the end was told to a broker that was there. Until then it
        /// is told again with every connection.
        public var isTold = false
        /// True for a refusal of what never came near the box: it is not written to
        /// disk, so that a flood of them costs nothing and keeps nothing else out.
        public var isPassing = false
        /// True for one of too many refusals: nobody but who asked hears of it.
        public var isQuiet = false
        /// True once it ended.
        public var isSettled: Bool { step == .ended }
    }

    /// Entries by id.
    public private(set) var entries: [String: Entry] = [:]
    /// The last end of each loadpoint, whoever asked.
    public private(set) var last: [String: StageReport] = [:]
    /// Whoever last had an order to charge or to pause carried out, by loadpoint.
    public private(set) var askers: [String: Asker] = [:]
    /// Ids of passing entries, oldest first.
    private var passing: [String] = []
    /// True if `last` changed by something that is not worth a write of its own.
    private(set) var hasUnsavedLast = false

    public init() {}

    public subscript(id: String) -> Entry? { entries[id] }

    /// Notes that `id` reached `step`.
    public mutating func note(_ step: Entry.Step, _ report: StageReport, _ intent: Intent?, isOurID: Bool) {
        entries[report.id] = Entry(step: step, report: report, intent: intent, isOurID: isOurID)
        guard step == .ended, let loadpoint = report.loadpoint else { return }
        last[loadpoint] = report
        guard case .control(let wish)? = intent else { return }
        // What was certainly not carried out changes nothing about whose order stands.
        let isUntouched =
            report.stage == .refused || report.stage == .expired || report.code == .boxUnreachable
        if !isUntouched { askers[loadpoint] = Asker(wish, report) }
    }

    /// Notes a refusal of something that never came near the box, in memory.
    ///
    /// - Parameter isQuiet: It is not told as the loadpoint's last command.
    mutating func pass(_ report: StageReport, isOurID: Bool, isQuiet: Bool) {
        var entry = Entry(step: .ended, report: report, intent: nil, isOurID: isOurID)
        entry.isPassing = true
        entry.isQuiet = isQuiet
        entries[report.id] = entry
        passing.append(report.id)
        if passing.count > Self.passingCapacity {
            let surplus = passing.count - Self.passingCapacity * 7 / 8
            for id in passing.prefix(surplus) where entries[id]?.isPassing == true { entries[id] = nil }
            passing.removeFirst(surplus)
        }
        guard !isQuiet, let loadpoint = report.loadpoint else { return }
        last[loadpoint] = report
        hasUnsavedLast = true
    }

    /// A write of everything is under way.
    mutating func saves() { hasUnsavedLast = false }

    /// Notes that the end of `id` was told.
    ///
    /// - Returns: False if the disk has nothing to learn from it.
    @discardableResult public mutating func told(_ id: String) -> Bool {
        guard let entry = entries[id], entry.isSettled, !entry.isTold else { return false }
        if entry.isOurID {
            entries[id] = nil
        } else {
            entries[id]?.isTold = true
        }
        return !entry.isPassing
    }

    /// Forgets ended entries that are older than ``memory``, and the oldest
    /// ended ones beyond ``capacity``.
    public mutating func prune(now: Date) {
        last = last.filter { abs(now.timeIntervalSince($0.value.at)) < Self.memory }
        for (loadpoint, _) in askers.sorted(by: { $0.value.at > $1.value.at }).dropFirst(Self.askerCapacity) {
            askers[loadpoint] = nil
        }
        for (id, entry) in entries where entry.isSettled {
            // A clock that was set back must not make an id last for ever.
            if abs(now.timeIntervalSince(entry.report.at)) >= Self.memory { entries[id] = nil }
        }
        let kept = entries.values.filter { !$0.isPassing }
        guard kept.count > Self.capacity else { return }
        let oldest = kept.filter(\.isSettled).sorted(by: Self.isOlder)
        // Some more than is needed, so that the next one has not to look again.
        let surplus = kept.count - Self.capacity * 15 / 16
        for entry in oldest.prefix(surplus) { entries[entry.report.id] = nil }
    }

    /// Entries that were waiting or sent when the process ended, oldest first.
    public var unfinished: [Entry] { entries.values.filter { !$0.isSettled }.sorted(by: Self.isOlder) }

    /// Ends that nobody was told of yet, oldest first.
    public var untold: [StageReport] {
        entries.values.filter { $0.isSettled && !$0.isTold }.sorted(by: Self.isOlder).map(\.report)
    }

    private static func isOlder(_ a: Entry, _ b: Entry) -> Bool {
        (a.report.at, a.report.id) < (b.report.at, b.report.id)
    }
}

extension CommandLedger {
    /// The ledger as a document for the disk.
    public var document: JSONValue {
        [
            "entries": .array(
                entries.values.filter { !$0.isPassing }.sorted { $0.report.id < $1.report.id }
                    .map(Self.document)),
            "last": .array(last.values.sorted { $0.id < $1.id }.map(\.document)),
            "askers": .object(askers.mapValues(\.document)),
        ]
    }

    private static func document(_ entry: Entry) -> JSONValue {
        [
            "step": .string(entry.step.rawValue), "own": .bool(entry.isOurID), "told": .bool(entry.isTold),
            "intent": entry.intent?.document ?? .null, "report": entry.report.document,
        ]
    }

    /// Reads a document; entries that make no sense are left out.
    public init(document: JSONValue) {
        for report in (document["last"]?.arrayValue ?? []).compactMap(StageReport.init(document:)) {
            if let loadpoint = report.loadpoint, report.stage.isFinal { last[loadpoint] = report }
        }
        askers = (document["askers"]?.objectValue ?? [:]).compactMapValues(Asker.init(document:))
        for item in document["entries"]?.arrayValue ?? [] {
            guard let step = item["step"]?.stringValue.flatMap(Entry.Step.init(rawValue:)),
                let report = item["report"].flatMap(StageReport.init(document:)),
                report.stage.isFinal == (step == .ended)
            else { continue }
            let intent = item["intent"].flatMap(Intent.init(document:))
            guard intent != nil || step == .ended else { continue }
            entries[report.id] = Entry(
                step: step, report: report, intent: intent, isOurID: item["own"]?.boolValue ?? false,
                isTold: item["told"]?.boolValue ?? false)
        }
    }
}

/// A report as a document for the disk; what `result` carries is made elsewhere.
extension StageReport {
    var document: JSONValue {
        func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
        return [
            "id": .string(id), "from": text(from), "topic": .string(topic), "loadpoint": text(loadpoint),
            "stage": .string(stage.rawValue), "code": text(code?.rawValue), "box_code": text(boxCode),
            "detail": detail.map { ["en": .string($0.en), "sv": .string($0.sv)] } ?? .null,
            "requested": requested, "value": value ?? .null,
            "at": .double(at.timeIntervalSince1970), "response_topic": text(responseTopic),
            "correlation": correlationData.map { .array($0.map { .int(Int64($0)) }) } ?? .null,
        ]
    }

    init?(document: JSONValue) {
        guard let id = document["id"]?.stringValue, !id.isEmpty, let topic = document["topic"]?.stringValue,
            let stage = document["stage"]?.stringValue.flatMap(Stage.init(rawValue:)),
            let at = document["at"]?.doubleValue
        else { return nil }
        // A bare `nil` here would be the JSON value null.
        let value = document["value"].flatMap { $0.isNull ? Optional<JSONValue>.none : $0 }
        self.init(
            id: id, from: document["from"]?.stringValue, topic: topic,
            loadpoint: document["loadpoint"]?.stringValue, stage: stage,
            code: document["code"]?.stringValue.flatMap(CommandCode.init(rawValue:)),
            boxCode: document["box_code"]?.stringValue, detail: document["detail"].flatMap(Self.detail),
            requested: document["requested"] ?? .null, value: value,
            at: Date(timeIntervalSince1970: at), responseTopic: document["response_topic"]?.stringValue,
            correlationData: document["correlation"]?.arrayValue?.compactMap {
                $0.intValue.flatMap(UInt8.init(exactly:))
            })
    }

    /// Of a ledger that knew one language only, that one stands for both.
    private static func detail(_ document: JSONValue) -> LocalText? {
        if let text = document.stringValue { return LocalText(text, text) }
        guard let en = document["en"]?.stringValue, let sv = document["sv"]?.stringValue else { return nil }
        return LocalText(en, sv)
    }
}
