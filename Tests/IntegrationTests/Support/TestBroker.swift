import FoundationEssentials
import Glibc
import MQTTClient
import Synchronization
import Testing

extension Trait where Self == ConditionTrait {
    /// The test starts brokers of its own. Plain `swift test` shall pass on a
    /// machine without mosquitto, so it is skipped unless `MQTT_TEST_BROKER` is
    /// set: to `auto`, or to the path of a mosquitto.
    static var needsBroker: Self {
        .enabled(if: TestBroker.program != nil, "MQTT_TEST_BROKER names no broker (auto, or a path)")
    }
}

/// A mosquitto of this test's own, on 127.0.0.1, with its files in a folder
/// that goes away with it.
final class TestBroker: Sendable {
    struct Options: Sendable {
        /// Retained messages outlive a restart.
        var persistence = false
        /// Who may connect; empty: everybody.
        var users: [(name: String, password: String)] = []
        var tls: TestCertificates.Server?
        var requiresClientCertificate = false
        var maximumPacketBytes: Int?
        /// More lines for the configuration file.
        var lines: [String] = []

        init() {}
    }

    static var program: String? {
        switch getenv("MQTT_TEST_BROKER").map({ String(cString: $0) }) {
        case nil, "": nil
        case "auto": "/usr/sbin/mosquitto"
        case .some(let path): path
        }
    }

    let port: Int
    /// Where its configuration and its log are.
    let folder: TestFolder
    private let child = Mutex<Child?>(nil)

    init(_ options: Options = Options(), port: Int? = nil) throws {
        folder = try TestFolder()
        self.port = try port ?? Loopback.freePort()
        var lines = [
            "listener \(self.port) 127.0.0.1", "user root", "log_dest stderr", "log_type all",
            "persistence \(options.persistence)", "persistence_location \(folder.path)/",
            "allow_anonymous \(options.users.isEmpty)",
        ]
        if !options.users.isEmpty {
            lines.append("password_file \(folder.path)/passwords")
            _ = FileManager.default.createFile(atPath: "\(folder.path)/passwords", contents: nil)
            for user in options.users {
                try Child.run(
                    "/usr/bin/mosquitto_passwd",
                    ["-b", "\(folder.path)/passwords", user.name, user.password],
                    output: "\(folder.path)/setup.log")
            }
        }
        if let tls = options.tls {
            lines += ["cafile \(tls.authority)", "certfile \(tls.certificate)", "keyfile \(tls.key)"]
            lines.append("require_certificate \(options.requiresClientCertificate)")
        }
        if let limit = options.maximumPacketBytes { lines.append("max_packet_size \(limit)") }
        try folder.write("mosquitto.conf", (lines + options.lines).joined(separator: "\n") + "\n")
        try start()
    }

    deinit { stop() }

    /// What the broker logged so far.
    var log: String { folder.read("mosquitto.log") }

    /// Starts it, on the same port as before, and returns once it accepts connections.
    func start() throws {
        guard let program = Self.program else { throw TestSetupError("MQTT_TEST_BROKER is not set") }
        let started = try Child(
            program, ["-c", "\(folder.path)/mosquitto.conf"], output: "\(folder.path)/mosquitto.log")
        child.withLock { $0 = started }
        for _ in 0..<1_000 {
            if let socket = Loopback.connect(port: port) {
                close(socket)
                return
            }
            usleep(10_000)
        }
        stop()
        throw TestSetupError("mosquitto does not accept connections:\n\(log)")
    }

    /// Stops it as its service manager would.
    func stop() { child.withLock { $0.take() }?.end() }

    /// Stops it as a power cut would.
    func kill() {
        guard let child = child.withLock({ $0.take() }) else { return }
        child.signal(SIGKILL)
        child.wait()
    }

    /// Freezes and thaws it; connections stay open.
    func pause() { child.withLock { $0 }?.signal(SIGSTOP) }
    func resume() { child.withLock { $0 }?.signal(SIGCONT) }

    func restart() throws {
        stop()
        try start()
    }

    /// How to reach it; the caller adds what the test is about.
    func settings(clientID: String) -> MQTTSettings {
        MQTTSettings(host: "127.0.0.1", port: port, clientID: clientID)
    }
}

/// A folder under the system's temporary one that is removed with this value.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/ftw-mqtt-test-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw TestSetupError("no temporary folder: error \(errno)")
        }
        path = String(cString: made)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
    }

    func read(_ name: String) -> String {
        let bytes = (try? Data(contentsOf: URL(filePath: "\(path)/\(name)"))) ?? Data()
        return String(decoding: bytes, as: UTF8.self)
    }
}
