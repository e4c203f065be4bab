import FoundationEssentials
import TestSupport
import Testing

@testable import Daemon

@Suite struct RedactorTests {
    static let secret = "p#a@s%20s:ö\"'\\ $x"

    private func redactor(_ secrets: String...) -> Redactor {
        let redactor = Redactor()
        for secret in secrets { redactor.add(Array(secret.utf8)) }
        return redactor
    }

    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    static let forms: [(String, String)] = [
        ("as it is: \(secret)!", "as it is: ***!"),
        ("quoted: \(secret.debugDescription)", "quoted: \"***\""),
        ("json: {\"p\":\"p#a@s%20s:ö\\\"'\\\\ $x\"}", "json: {\"p\":\"***\"}"),
        ("url: mqtt://u:p%23a%40s%2520s%3A%C3%B6%22%27%5C%20%24x@h", "url: mqtt://u:***@h"),
        ("hex: 702361407325323073 and so on", "hex: 702361407325323073 and so on"),
        ("nothing to hide", "nothing to hide"), ("", ""),
    ]

    @Test(arguments: forms)
    func everyUsualFormIsReplaced(line: String, expected: String) {
        #expect(redactor(Self.secret).redact(line) == expected)
    }

    /// Alone and inside something longer, wherever in a group of three bytes it starts.
    @Test(arguments: ["", "u", "us", "use", "user:"], ["", "x", "xy", "xyz"])
    func base64IsReplacedWhateverStandsAround(before: String, after: String) {
        let encoded = Self.base64(before + Self.secret + after)
        let redacted = redactor(Self.secret).redact("Basic \(encoded)")
        #expect(redacted.contains("***"))
        // What is left at the ends mixes bits of the neighbours: at most a character each.
        #expect(
            redacted.count <= "Basic ".count + Self.base64(before).count + Self.base64(after).count + 3 + 4)
        let urlSafe = encoded.replacing("+", with: "-").replacing("/", with: "_")
        #expect(redactor(Self.secret).redact(urlSafe).contains("***"))
    }

    @Test func hexadecimalIsReplaced() {
        let line = Self.secret.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(redactor(Self.secret).redact("key \(line)") == "key ***")
        #expect(redactor(Self.secret).redact("key \(line.uppercased())") == "key ***")
    }

    @Test(arguments: [
        ("1", "port 1883 has 1 client, 1.5 s", "port 1883 has *** client, 1.5 s"),
        ("abc", "abc abcd abc.", "*** abcd abc."),
        ("", "anything", "anything"),
    ])
    func aShortSecretIsOnlyReplacedWhereItStandsAlone(secret: String, line: String, expected: String) {
        #expect(redactor(secret).redact(line) == expected)
    }

    @Test func aSecretInsideAnotherLeavesNothingBehind() {
        #expect(redactor("secret", "my-secret-word").redact("my-secret-word secret") == "*** ***")
        #expect(redactor("my-secret-word", "secret").redact("my-secret-word secret") == "*** ***")
    }

    @Test func bytesThatAreNoTextAreFoundByTheirForms() {
        let redactor = Redactor()
        let key = Array(UInt8(200)..<232)
        redactor.add(key)
        let encoded = Data(key).base64EncodedString()
        #expect(redactor.redact("key \(encoded)") == "key ***")
    }

    @Test func noSecretSurvivesAnywhere() {
        var dice = SeededDice(5)
        let alphabet = Array("abcXYZ019+/= \"\\#:@%åö")
        for _ in 0..<2_000 {
            let secret = String(
                (0..<Int.random(in: 4...24, using: &dice)).map { _ in
                    alphabet.randomElement(using: &dice) ?? "a"
                })
            let redactor = redactor(secret)
            let noise = String((0..<8).map { _ in alphabet.randomElement(using: &dice) ?? "a" })
            for form in [secret, secret.debugDescription, Self.base64(secret), Self.base64(noise + secret)] {
                let redacted = redactor.redact(noise + form + noise)
                #expect(!redacted.contains(secret))
                // Five characters of base64 hold less than four bytes.
                let core = Self.base64(secret).prefix(max(5, secret.utf8.count * 8 / 6))
                #expect(!redacted.contains(core) || core.count < 5)
            }
        }
    }
}
