@testable import Configuration

/// Files in memory: what the configuration looks at when no disk is wanted.
final class FakeFiles: Sendable {
    struct File {
        var bytes: [UInt8] = []
        var mode: UInt32 = 0o600
        var isRegular = true
        var failure: FileLook.Failure?
    }
    private let files: [String: File]

    init(_ files: [String: File]) { self.files = files }

    /// A machine that knows two zones and has a few certificates.
    static let usual = FakeFiles([
        "/usr/share/zoneinfo": File(isRegular: false),
        "/usr/share/zoneinfo/Europe/Stockholm": File(bytes: Array("TZif2…".utf8)),
        "/usr/share/zoneinfo/tzdata.zi": File(
            bytes: Array(
                "# version 2026a\nZ Europe/Stockholm 1 e\nL Europe/Stockholm Sweden\nZ Asia/Tokyo 9\n".utf8)),
        "/pem/ca": File(bytes: Array("-----BEGIN CERTIFICATE-----\n".utf8), mode: 0o644),
        "/pem/cert": File(bytes: Array("-----BEGIN CERTIFICATE-----\n".utf8), mode: 0o644),
        "/pem/key": File(bytes: Array("-----BEGIN PRIVATE KEY-----\n".utf8)),
        "/pem/open": File(bytes: Array("-----BEGIN PRIVATE KEY-----\n".utf8), mode: 0o644),
        "/pem/locked": File(bytes: Array("-----BEGIN ENCRYPTED PRIVATE KEY-----\n".utf8)),
        "/pem/text": File(bytes: Array("hello\n".utf8)),
        "/pem/folder": File(isRegular: false),
        "/pem/forbidden": File(failure: .notPermitted),
        "/pw/good": File(bytes: Array("s3cret-word\n".utf8), mode: 0o640),
        "/pw/open": File(bytes: Array("s3cret-word\n".utf8), mode: 0o644),
        "/pw/writable": File(bytes: Array("s3cret-word\n".utf8), mode: 0o660),
        "/pw/empty": File(bytes: Array("\n".utf8)),
        "/pw/long": File(bytes: [UInt8](repeating: 0x61, count: 65_536)),
        "/run/secrets/mqtt": File(bytes: Array("s3cret-word".utf8), mode: 0o444),
        "/etc/x/relative": File(bytes: Array("s3cret-word\n".utf8)),
    ])

    var look: FileLook {
        FileLook(
            facts: { path in
                guard let file = self.files[path] else { return .failure(.missing) }
                if let failure = file.failure { return .failure(failure) }
                return .success(.init(isRegular: file.isRegular, mode: file.mode, size: file.bytes.count))
            },
            read: { path, limit in
                guard let file = self.files[path] else { return .failure(.missing) }
                if let failure = file.failure { return .failure(failure) }
                return .success(Array(file.bytes.prefix(limit)))
            })
    }
}

func parse(
    _ text: String, name: String = "config.yaml", _ environment: [String: String] = [:]
) throws(SettingsError) -> SettingsFile.Loaded {
    try SettingsFile.parse(
        Array(text.utf8), name: name, environment: environment, files: FakeFiles.usual.look)
}

/// The error's lines; empty when there is none.
func faults(_ text: String, _ environment: [String: String] = [:]) -> [String] {
    do throws(SettingsError) {
        _ = try parse(text, environment)
        return []
    } catch {
        return error.problems.map(\.description)
    }
}
