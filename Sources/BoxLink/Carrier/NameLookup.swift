import Glibc
import Synchronization

/// Finds the addresses of a host without holding up anybody else.
///
/// The system's resolver blocks, with a dead name server for half a minute, and
/// the socket thread must go on serving the other sockets meanwhile. So each
/// lookup has a short thread of its own, and only a few run at once.
enum NameLookup {
    private static let running = Mutex(0)
    private static let limit = 8

    /// Calls `done` once, with numeric addresses in the order to try them, or
    /// with a sentence that says why there are none.
    ///
    /// An address is passed on at once, on the caller's thread.
    static func addresses(
        of host: String, done: @escaping @Sendable (Result<[String], WebSocketFailure>) -> Void
    ) {
        if isAddress(host) { return done(.success([host])) }
        let admitted = running.withLock { count -> Bool in
            guard count < limit else { return false }
            count += 1
            return true
        }
        guard admitted else { return done(.failure(failure("earlier name lookups still run"))) }
        let job = Unmanaged.passRetained(Job(host: host, done: done))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        guard pthread_create(&thread, &attributes, lookupMain, job.toOpaque()) == 0 else {
            job.release()
            running.withLock { $0 -= 1 }
            return done(.failure(failure("no thread for the name lookup")))
        }
    }

    fileprivate final class Job: Sendable {
        let host: String
        let done: @Sendable (Result<[String], WebSocketFailure>) -> Void

        init(host: String, done: @escaping @Sendable (Result<[String], WebSocketFailure>) -> Void) {
            self.host = host
            self.done = done
        }

        func run() {
            let result = NameLookup.resolve(host)
            NameLookup.running.withLock { $0 -= 1 }
            done(result)
        }
    }

    private static func failure(_ detail: String) -> WebSocketFailure {
        WebSocketFailure(kind: .unreachable, detail: detail)
    }

    private static func isAddress(_ host: String) -> Bool {
        var four = in_addr()
        var six = in6_addr()
        return inet_pton(AF_INET, host, &four) == 1 || inet_pton(AF_INET6, host, &six) == 1
    }

    private static func resolve(_ host: String) -> Result<[String], WebSocketFailure> {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0 else { return .failure(failure(String(cString: gai_strerror(code)))) }
        var found: [String] = []
        var entry = list
        while let current = entry, found.count < 8 {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let named = getnameinfo(
                current.pointee.ai_addr, current.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
                NI_NUMERICHOST)
            if named == 0 {
                let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
                let address = String(decoding: bytes, as: UTF8.self)
                if !found.contains(address) { found.append(address) }
            }
            entry = current.pointee.ai_next
        }
        return found.isEmpty ? .failure(failure("the name has no address")) : .success(found)
    }
}

private func lookupMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<NameLookup.Job>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
