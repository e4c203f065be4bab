import EnergyModel
import JSONText
import MQTTTypes

/// What a running bridge has published about its box, as `check` judges it. Pure.
struct BridgeWord {
    /// What is retained; `nil` when the broker was not reached.
    let topics: [String: Message]?
    /// `<base>/<site>`.
    let base: String
    /// The running bridge.
    let process: Int32
    let site: String

    /// `.done` only when live frames arrive.
    var verdict: (code: ExitCode, text: String) {
        let bridge = "the running bridge (process \(process))"
        guard let topics else {
            return (.unreachable, "\(bridge) knows, but its word cannot be read: no broker")
        }
        guard topics["\(base)/bridge/availability"]?.text == "online",
            let link = topics["\(base)/box/link"].flatMap({ try? JSONValue(parsing: $0.payload) }),
            let state = link["state"]?.stringValue.flatMap(Link.State.init(rawValue:))
        else {
            return (
                .unreachable,
                "\(bridge) says nothing of \(site) on this broker; its log says why, and if \(site) or the "
                    + "broker is new in the configuration, restart it"
            )
        }
        let sentence = link["sentence"]?.stringValue ?? state.rawValue
        func told(_ remedy: String) -> String { "\(bridge) says: \(sentence) \(remedy)" }
        switch state {
        case .live, .readonly, .floor: return (.done, "\(bridge) says: \(sentence)")
        case .unpaired where link["reason"]?.stringValue == Link.Reason.pairingUnreadable.rawValue:
            return (.state, told("Its log says why and what to do."))
        case .revoked, .unpaired:
            return (
                .refused, told("Get a new link on the box's page, then: ftw-mqtt pair - --site \(site)")
            )
        case .booting: return (.unreachable, told("Wait a few minutes and check again."))
        case .connecting, .waitingForBox, .lost:
            return (.unreachable, told(Self.remedy(link["reason"]?.stringValue.flatMap(Link.Reason.init))))
        }
    }

    /// What to do; the sentence itself says what is wrong.
    private static func remedy(_ reason: Link.Reason?) -> String {
        switch reason {
        case .relayUnreachable: "Check this machine's network and relay.url."
        case .relayUnknownAuthority, .relayWrongHost, .relayCertificate:
            "Check relay.url and relay.ca_file."
        case .clockWrong: "Set this machine's clock."
        case .pairingUnreadable: "Its log says why and what to do."
        case .codeRefused: "Get a new link on the box's page and pair again."
        case .evicted: "Close apps that are open on this house, or wait."
        case .relayBusy, .stopped: "Wait a minute and check again."
        case .boxAway, .handshakeUnanswered, .silent, .boxGone, .revoked, nil:
            "Check that the box has power and network, and that its page still lists this bridge."
        }
    }
}
