import Testing

@testable import Daemon

@Suite struct TerminalTests {
    @Test(arguments: [
        (true, [:], false, true), (true, ["NO_COLOR": "1"], false, false),
        (true, ["NO_COLOR": ""], false, true),
        (true, ["TERM": "dumb"], false, false), (true, ["TERM": "xterm"], false, true),
        (true, [:], true, false),
        (false, [:], false, false), (false, ["TERM": "xterm"], false, false),
    ])
    func colourIsForTerminalsThatWantIt(
        isTerminal: Bool, environment: [String: String], plain: Bool, colour: Bool
    ) {
        let terminal = Terminal(
            isTerminal: isTerminal, windowColumns: nil, environment: environment, plain: plain)
        #expect(terminal.hasColour == colour)
        #expect(terminal.styled("x", .red) == (colour ? "\u{1B}[31mx\u{1B}[0m" : "x"))
    }

    @Test(arguments: [
        (true, [:], false, true), (true, ["NO_COLOR": "1"], false, true), (true, [:], true, false),
        (true, ["TERM": "dumb"], false, false), (false, [:], false, false),
        (true, ["LC_ALL": "C", "LANG": "sv_SE.UTF-8"], false, false),
        (true, ["LC_ALL": "", "LC_CTYPE": "POSIX"], false, false), (true, ["LANG": "C"], false, false),
        (true, ["LANG": "en_GB.UTF-8"], false, true), (true, ["LC_ALL": "C.utf8"], false, true),
    ])
    func blocksAreForTerminalsThatCanShowThem(
        isTerminal: Bool, environment: [String: String], plain: Bool, blocks: Bool
    ) {
        let terminal = Terminal(
            isTerminal: isTerminal, windowColumns: nil, environment: environment, plain: plain)
        #expect(terminal.hasBlocks == blocks)
    }

    @Test(
        arguments: [
            (true, 120, [:], 120), (true, nil, ["COLUMNS": "100"], 100), (true, 90, ["COLUMNS": "100"], 90),
            (true, nil, [:], 80), (true, nil, ["COLUMNS": "wide"], 80), (false, nil, ["COLUMNS": "100"], 80),
            (true, 3, [:], 40), (true, 99_999, [:], 1_000),
        ] as [(Bool, Int?, [String: String], Int)])
    func theWidthIsWhatTheTerminalSays(
        isTerminal: Bool, columns: Int?, environment: [String: String], width: Int
    ) {
        #expect(
            Terminal(isTerminal: isTerminal, windowColumns: columns, environment: environment).width == width)
    }

    @Test func aDescriptorThatIsNoneIsNoTerminal() {
        #expect(
            Terminal.of(-1, environment: [:])
                == Terminal(isTerminal: false, windowColumns: nil, environment: [:]))
    }

    @Test(arguments: [
        ("", 10, []), ("one two three", 7, ["one two", "three"]),
        ("averylongword a", 4, ["averylongword", "a"]),
        ("  a   b  ", 10, ["a b"]), ("a b", 0, ["a", "b"]),
        ("\u{1B}[31mone two\u{1B}[0m", 7, ["\u{1B}[31mone two\u{1B}[0m"]),
    ])
    func textIsWrappedAtSpaces(text: String, width: Int, lines: [String]) {
        #expect(TextLayout.wrapped(text, width: width) == lines)
    }
}
