import Ambient
import CLinux
import FoundationEssentials

/// A mosquitto of our own on a loopback port, for as long as the demo runs.
final class DemoBroker: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let port: UInt16
    private let process: ChildProcess

    /// Starts the broker and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - port: `nil` takes any free one.
    ///   - folder: Where its configuration and log go.
    /// - Throws: `Failure` when there is no mosquitto, the port is taken, or it does not come up.
    init(port: UInt16?, folder: String, time: any TimeSource) async throws {
        guard let program = Self.program else {
            throw Failure(
                description: "mosquitto is not installed. Install it (apt-get install mosquitto), or name a "
                    + "broker that is already there with --broker HOST:PORT.")
        }
        guard let port = port ?? LoopbackPort.free() else { throw Failure(description: "no free port") }
        if LoopbackPort.accepts(port) {
            throw Failure(description: "port \(port) is taken by another program; choose one with --port")
        }
        self.port = port
        let configuration = folder + "/mosquitto.conf"
        let text = """
            listener \(port) 127.0.0.1
            allow_anonymous true
            persistence false
            user root
            log_type error
            log_type warning
            """
        try Data((text + "\n").utf8).write(to: URL(filePath: configuration))
        process = try ChildProcess(
            program: program, arguments: ["-c", configuration], logPath: folder + "/mosquitto.log")
        for _ in 0..<100 {
            if LoopbackPort.accepts(port) { return }
            guard process.isRunning else { break }
            try await time.sleep(for: .milliseconds(50))
        }
        let log = (try? Data(contentsOf: URL(filePath: folder + "/mosquitto.log"))).map {
            String(decoding: $0, as: UTF8.self)
        }
        process.stop()
        throw Failure(description: "mosquitto did not start: \(log ?? "it said nothing")")
    }

    func stop() { process.stop() }

    private static var program: String? {
        ["/usr/sbin/mosquitto", "/usr/bin/mosquitto", "/usr/local/sbin/mosquitto"].first {
            access($0, X_OK) == 0
        }
    }
}
