import Ambient
import BoxSession
import EnergyModel
import FoundationEssentials
import Synchronization

/// Follows a first meeting with a box and says where it stands.
final class PairingProgress: Sendable {
    enum Outcome: Sendable {
        /// `nil`: the box knows us, but its greeting did not come.
        case paired(BoxFacts?)
        case codeRefused
        /// With a sentence on where it got stuck.
        case outOfTime(String)
    }

    private struct State {
        var isPaired = false
        var link: Link?
    }
    private let state = Mutex(State())
    private let language: Language
    private let time: any TimeSource

    init(language: Language, time: any TimeSource) {
        self.language = language
        self.time = time
    }

    /// Watches until the box has greeted us or has refused the code; `nil` when cancelled before.
    func follow(_ session: BoxSession) async -> Outcome? {
        await withTaskGroup(of: Outcome?.self) { group in
            group.addTask {
                for await note in session.notes {
                    switch note {
                    case .paired: self.state.withLock { $0.isPaired = true }
                    case .codeRefused: return .codeRefused
                    case .revoked: return .codeRefused
                    default: break
                    }
                }
                return nil
            }
            group.addTask {
                for await site in session.states {
                    self.show(site.link)
                    if site.link.isUp, let facts = site.box { return .paired(facts) }
                }
                return nil
            }
            defer { group.cancelAll() }
            for await outcome in group {
                if let outcome { return outcome }
            }
            return nil
        }
    }

    /// What to say when patience is over.
    func gaveUp() -> Outcome {
        state.withLock { state in
            if state.isPaired { return .paired(nil) }
            return .outOfTime(state.link.map(sentence) ?? "The relay could not be reached.")
        }
    }

    private func show(_ link: Link) {
        let isNews = state.withLock { state in
            defer { state.link = link }
            return state.link?.state != link.state || state.link?.reason != link.reason
        }
        if isNews, !link.isUp { StandardError.write(Array("  \(sentence(link))\n".utf8)) }
    }

    private func sentence(_ link: Link) -> String {
        Sentence.link(link).text(language, zone: Zone.ofThisMachine, now: time.wall)
    }
}
