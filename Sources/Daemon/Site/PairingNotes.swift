import Ambient
import BoxSession
import Persistence

/// Keeps the pairing on disk in step with what the box said.
enum PairingNotes {
    static func write(
        _ note: BoxSessionNote, of site: String, to pairings: PairingStore, log: Log
    ) async {
        do {
            switch note {
            case .paired:
                try pairings.confirm(site)
            case .codeRefused:
                try pairings.dropCode(site)
                log.error(
                    "\(site): the box did not answer to the pairing code: it is wrong, used, or expired. "
                        + "Get a new one on the box's page and pair again.")
            case .revoked:
                log.error("\(site): the box's owner removed this bridge. Pair again to come back.")
            case .boxRestarted, .planPushed, .commandAcknowledged, .commandSettled: break
            }
        } catch {
            log.error("\(site): \(error)")
        }
    }
}
