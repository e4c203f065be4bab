import Ambient
import Synchronization
import Testing

@Suite struct LogTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
        var log: Log {
            Log(threshold: .notice) { level, line in self.all.withLock { $0.append("\(level) \(line)") } }
        }
    }

    @Test func onlyWhatMattersEnoughIsWritten() {
        let lines = Lines()
        let log = lines.log
        log.error("a")
        log.warning("b")
        log.notice("c")
        log.info("d")
        log.debug("e")
        #expect(lines.all.withLock { $0 } == ["error a", "warning b", "notice c"])
    }

    @Test func aLineBelowTheThresholdIsNotEvenBuilt() {
        var built = 0
        func line() -> String {
            built += 1
            return "x"
        }
        Lines().log.debug(line())
        #expect(built == 0)
    }

    @Test func levelsAreTheJournalsNumbers() {
        // sd-daemon(3): <3> is an error, <7> a debug line.
        #expect(LogLevel.allCases.map(\.rawValue) == [3, 4, 5, 6, 7])
        #expect(LogLevel.error < .debug)
    }
}
