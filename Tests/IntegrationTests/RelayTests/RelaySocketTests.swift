import Ambient
import BoxLink
import BoxSimulator
import Glibc
import Testing

/// Real sockets on loopback; no program outside is needed.
///
/// One after the other: the C library keeps a number for all its contexts in one
/// place, and a second one that is made during a TLS handshake of the first breaks it.
@Suite(.serialized, .timeLimit(.minutes(1))) enum RelayOverSockets {}

extension RelayOverSockets {
    @Suite struct RelaySocketTests {
        @Test func clientAndBoxMeetAndTalk() async throws {
            let bench = RelayBench()
            try await bench.relay.start()
            let app = try bench.carrier()
            let box = try bench.carrier(.box)
            try await bench.running([app, box]) {
                try await app.next { $0 == .ready }
                try await box.next { $0 == .joined }
                app.send([1, 2, 3])
                let up = try await box.next { _ in true }
                #expect(up == .message([1, 2, 3]))
                let longest = [UInt8](repeating: 9, count: 65_536)
                box.send(longest)
                let down = try await app.next { _ in true }
                #expect(down == .message(longest))
            }
        }

        @Test func aRelayThatRestartsFindsItsClientsAgain() async throws {
            let bench = RelayBench()
            try await bench.relay.start()
            let port = bench.relay.port
            // Not quite 0, so that a closed port is not hammered.
            let patient = Ambient(chance: { 0.1 })
            let app = try bench.carrier(ambient: patient)
            let box = try bench.carrier(.box, ambient: patient)
            try await bench.running([app, box]) {
                try await app.next { $0 == .ready }
                await bench.relay.stop()
                let loss = try await app.nextLoss()
                #expect(loss.cause == .closed)
                let refused = try await app.nextLoss()
                #expect(refused.cause == .unreachable)
                try await bench.relay.start()
                #expect(bench.relay.port == port)
                try await app.next { $0 == .ready }
            }
        }

        @Test func theFifthClientOfARoomIsSentAway() async throws {
            let bench = RelayBench()
            try await bench.relay.start()
            let path = try bench.path(epoch: bench.relay.epoch)
            try await bench.running {
                var held: [WebSocketConnection] = []
                for _ in 0..<4 {
                    let (socket, events) = try bench.socket(path: path)
                    for await event in events {
                        #expect(event == .opened)
                        break
                    }
                    held.append(socket)
                }
                let (_, fifth) = try bench.socket(path: path)
                let end = await ending(of: fifth)
                #expect(end == .closed(code: 4429, reason: "streams"))
                for socket in held { socket.close() }
            }
        }

        @Test(
            arguments: [
                ("/nowhere", 4400, "join"), ("/r/1/0123456789abcdef0123456789abcdef/app", 4409, nil),
                ("/r/x/0123456789abcdef0123456789abcdef/app", 4400, "join"),
            ] as [(String, UInt16, String?)])
        func aWrongPathIsClosedAfterTheUpgrade(path: String, code: UInt16, reason: String?) async throws {
            let bench = RelayBench()
            try await bench.relay.start()
            try await bench.running {
                let (_, events) = try bench.socket(path: path)
                var seen: [WebSocketEvent] = []
                for await event in events { seen.append(event) }
                #expect(seen == [.opened, .closed(code: code, reason: reason ?? String(bench.relay.epoch))])
            }
        }

        @Test func textFromAClientIsAnOffence() async throws {
            let bench = RelayBench()
            try await bench.relay.start()
            try await bench.running {
                let (socket, events) = try bench.socket(path: try bench.path(epoch: bench.relay.epoch))
                socket.sendText("hello")
                let end = await ending(of: events)
                #expect(end == .closed(code: 4400, reason: "binary only"))
            }
        }

        @Test func aMessageThatIsTooLongIsClosedWith1009() async throws {
            let bench = RelayBench()
            try await bench.relay.start()
            try await bench.running {
                let (socket, events) = try bench.socket(path: try bench.path(epoch: bench.relay.epoch))
                socket.send([UInt8](repeating: 0, count: 65_537))
                let end = await ending(of: events)
                #expect(end == .closed(code: 1009, reason: ""))
            }
        }

        @Test func whenTheHourTurnsBothEndsMeetInTheNextRoom() async throws {
            let bench = RelayBench()
            try await bench.relay.start()
            let app = try bench.carrier()
            let box = try bench.carrier(.box)
            try await bench.running([app, box]) {
                try await app.next { $0 == .ready }
                let before = bench.relay.epoch
                bench.relay.rotate()
                #expect(bench.relay.epoch == before + 1)
                let loss = try await app.nextLoss()
                #expect(loss.cause == .rotated)
                try await app.next { $0 == .ready }
                #expect(bench.relay.counters.closed[4410] == 2)
            }
        }

        @Test func whoAnswersEveryPingStays() async throws {
            let bench = RelayBench()
            try await bench.relay.start()
            let app = try bench.carrier()
            let box = try bench.carrier(.box)
            try await bench.running([app, box]) {
                try await app.next { $0 == .ready }
                try await box.next { $0 == .joined }
                for number in 0..<5 as Range<UInt8> {
                    bench.relay.beat()
                    // Pongs travel in order with messages, so one there and back means that both have answered.
                    app.send([number])
                    try await box.next { $0 == .message([number]) }
                    box.send([number])
                    try await app.next { $0 == .message([number]) }
                    app.send([number])
                    try await box.next { $0 == .message([number]) }
                }
                #expect(bench.relay.socketCount() == 2)
            }
        }

        @Test func aSocketToldToStopWhileItIsDialledEnds() async throws {
            let bench = RelayBench()
            try await bench.relay.start()
            try await bench.running {
                for _ in 0..<50 {
                    let (socket, events) = try bench.socket(path: try bench.path(epoch: bench.relay.epoch))
                    socket.close()
                    await socket.waitUntilEnded()
                    // It may have been open before it was told; what counts is how it ends.
                    switch await ending(of: events) {
                    case .failed, .closed(code: 1000, reason: ""): break
                    case let other: Issue.record("ended with \(String(describing: other))")
                    }
                }
            }
        }

        @Test func startingAndStoppingLeavesNoThreadAndNoFileBehind() async throws {
            func count(_ folder: String) -> Int {
                guard let handle = opendir(folder) else { return -1 }
                defer { closedir(handle) }
                var count = 0
                while readdir(handle) != nil { count += 1 }
                return count
            }
            // One round first, for what libraries and the runtime open once. A leak would show 50 times;
            // other suites that run meanwhile account for a few.
            for round in 0..<51 {
                let bench = RelayBench()
                try await bench.relay.start()
                let app = try bench.carrier()
                try await bench.running([app]) { try await app.next { $0 == .joined } }
                if round == 0 { Self.baseline = (count("/proc/self/fd"), count("/proc/self/task")) }
            }
            #expect(count("/proc/self/fd") <= Self.baseline.files + 25)
            #expect(count("/proc/self/task") <= Self.baseline.threads + 25)
        }
        nonisolated(unsafe) private static var baseline = (files: 0, threads: 0)

        @Test func aPlainRequestIsAnsweredByHTTP() async throws {
            let bench = RelayBench()
            try await bench.relay.start()
            try await bench.running {
                let health = try plainRequest("/healthz", port: bench.relay.port)
                #expect(health.hasPrefix("HTTP/1.1 200"))
                #expect(health.hasSuffix("\r\n\r\nok\n"))
                let other = try plainRequest("/", port: bench.relay.port)
                #expect(other.hasPrefix("HTTP/1.1 426"))
            }
        }
    }

}
/// One HTTP request over a socket of its own, read to the end.
private func plainRequest(_ path: String, port: Int) throws -> String {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw EndedEarly() }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(clamping: port)).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let connected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    guard connected == 0 else { throw EndedEarly() }
    let request = Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8)
    guard send(descriptor, request, request.count, 0) == request.count else { throw EndedEarly() }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { break }
        answer += buffer.prefix(count)
    }
    return String(decoding: answer, as: UTF8.self)
}

/// TLS, with authorities of our own.
extension RelayOverSockets {
    @Suite struct RelayTLSTests {
        @Test func aPrivateAuthorityIsAcceptedByItsFile() async throws {
            try await with(certificate: "good") { bench, certificates in
                for host in ["localhost", "127.0.0.1"] {
                    let app = try bench.carrier(secure: true, host: host, caFile: certificates.file("ca.pem"))
                    let run = Task { await app.run() }
                    let event = try await app.next { _ in true }
                    #expect(event == .joined)
                    run.cancel()
                    await run.value
                }
            }
        }

        @Test(
            arguments: [
                ("good", "other-ca.pem", CarrierLoss.Cause.unknownAuthority, "unknown authority"),
                ("good", nil, .unknownAuthority, "unknown authority"),
                ("elsewhere", "ca.pem", .wrongHost, "another host name"),
                ("good", "missing.pem", .tlsFailed, "cannot be read"),
                ("good", "good.key", .tlsFailed, "no certificate"),
            ] as [(String, String?, CarrierLoss.Cause, String)])
        func aRefusedCertificateSaysWhatIsWrong(
            certificate: String, caFile: String?, cause: CarrierLoss.Cause, words: String
        ) async throws {
            try await with(certificate: certificate) { bench, certificates in
                let app = try bench.carrier(
                    secure: true, host: "localhost", caFile: caFile.map { certificates.file($0) },
                    ambient: Ambient(chance: { 0.999 }))
                let run = Task { await app.run() }
                let loss = try await app.nextLoss()
                #expect(loss.cause == cause)
                #expect(loss.sentence.contains(words), "\(loss.sentence)")
                run.cancel()
                await run.value
            }
        }

        @Test func aServerWithoutTLSIsNoRelay() async throws {
            let bench = RelayBench()
            try await bench.relay.start()
            let app = try bench.carrier(secure: true, ambient: Ambient(chance: { 0.999 }))
            try await bench.running([app]) {
                let loss = try await app.nextLoss()
                #expect(loss.cause == .tlsFailed)
            }
        }

        private func with(
            certificate: String, _ body: (RelayBench, RelayCertificates) async throws -> Void
        ) async throws {
            let certificates = try RelayCertificates()
            defer { certificates.remove() }
            let bench = RelayBench { settings in
                settings.server.certificateFile = certificates.file("\(certificate).pem")
                settings.server.keyFile = certificates.file("\(certificate).key")
            }
            try await bench.relay.start()
            try await bench.running { try await body(bench, certificates) }
        }
    }
}
