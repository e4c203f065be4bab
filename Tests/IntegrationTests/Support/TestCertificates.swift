import Glibc

/// Certificates for one test run, made by the `openssl` program and valid for a day.
final class TestCertificates: Sendable {
    /// What a broker is configured with: files in PEM.
    struct Server: Sendable {
        var authority: String
        var certificate: String
        var key: String
    }

    private let folder: TestFolder
    /// The authority the client is to trust, and one it does not know.
    let authority: String
    let strangeAuthority: String
    /// For localhost and 127.0.0.1, signed by `authority`.
    let server: Server
    /// Signed by `authority`, for a host that is not this one.
    let elsewhere: Server
    /// For localhost, signed by `strangeAuthority`.
    let stranger: Server
    let clientCertificate: String
    let clientKey: String

    init() throws {
        folder = try TestFolder()
        let path = folder.path
        try Self.makeAuthority("authority", in: path)
        try Self.makeAuthority("strange", in: path)
        try Self.make("server", "DNS:localhost,IP:127.0.0.1", by: "authority", in: path)
        try Self.make("elsewhere", "DNS:elsewhere.example", by: "authority", in: path)
        try Self.make("stranger", "DNS:localhost,IP:127.0.0.1", by: "strange", in: path)
        try Self.make("client", "DNS:client.example", by: "authority", in: path)
        authority = "\(path)/authority.pem"
        strangeAuthority = "\(path)/strange.pem"
        func files(_ name: String) -> Server {
            Server(
                authority: "\(path)/authority.pem", certificate: "\(path)/\(name).pem",
                key: "\(path)/\(name).key")
        }
        server = files("server")
        elsewhere = files("elsewhere")
        stranger = files("stranger")
        clientCertificate = "\(path)/client.pem"
        clientKey = "\(path)/client.key"
    }

    private static let newKey = [
        "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
    ]

    private static func makeAuthority(_ name: String, in path: String) throws {
        try openssl(
            ["req", "-x509"] + newKey
                + [
                    "-subj", "/CN=test \(name)", "-keyout", "\(path)/\(name).key", "-out",
                    "\(path)/\(name).pem",
                ],
            in: path)
    }

    private static func make(_ name: String, _ names: String, by authority: String, in path: String) throws {
        try openssl(
            ["req", "-x509", "-CA", "\(path)/\(authority).pem", "-CAkey", "\(path)/\(authority).key"] + newKey
                + ["-subj", "/CN=\(name)", "-addext", "subjectAltName=\(names)"]
                + ["-addext", "basicConstraints=critical,CA:FALSE"]
                + ["-keyout", "\(path)/\(name).key", "-out", "\(path)/\(name).pem"],
            in: path)
    }

    private static func openssl(_ arguments: [String], in path: String) throws {
        try Child.run("/usr/bin/openssl", arguments, output: "\(path)/openssl.log")
    }
}
