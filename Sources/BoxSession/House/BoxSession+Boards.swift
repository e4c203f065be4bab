import Ambient
import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText

/// Carries out what the boards' reader decides.
extension BoxSession {
    /// Adds prices, plan and energy to a site that has its cars.
    func lookAtBoards(_ site: inout SiteState, wall: Date) {
        let stream = HouseReader.Stream(
            site: site, controlRev: nil, isOpen: machine.stage == .streaming && table.isOpen)
        boards.observed(stream, zone: house.household(site.box).zone, at: now, wall: wall)
        boards.show(in: &site, plan: house.board.plan, isPlanOld: house.book.hasFailed(.plan), wall: wall)
    }

    func askForBoards() {
        rememberBoards()
        for ask in boards.take(at: now, wall: ambient.time.wall) {
            ambient.log.debug("asking for \(ask.what): \(ask.why)")
            submit(ask.question, .board(ask.kind))
        }
    }

    func finishBoard(_ kind: AskBook.Kind, _ outcome: Outcome) {
        let hadFailed = boards.book.hasFailed(kind)
        let fault = boards.finished(kind, outcome, at: now, wall: ambient.time.wall)
        // Before it is shown: a total that was shown is where the next run begins.
        rememberBoards()
        let subject = BoardReader.subject(kind)
        if let fault {
            let line = "\(subject) could not be read: \(fault)"
            if hadFailed { ambient.log.debug(line) } else { ambient.log.warning(line) }
        } else if hadFailed, !boards.book.hasFailed(kind) {
            ambient.log.notice("\(subject) can be read again")
        }
    }

    /// Another box's prices and energy are not ours.
    static func recall(
        _ memory: (any SessionMemory)?, of box: String, into boards: inout BoardReader, log: Log
    ) {
        guard let memory else { return }
        let unusable = boards.remember { name in
            guard let kept = memory.load(name), kept["box"]?.stringValue == box else { return nil }
            return kept["kept"]
        }
        for name in unusable {
            log.warning("what was kept about \(name) cannot be used; its totals begin anew")
        }
    }

    func rememberBoards() {
        guard let memory else { return }
        for (name, value) in boards.unsaved() {
            memory.save(name, ["box": .string(boxName), "kept": value])
        }
    }
}
