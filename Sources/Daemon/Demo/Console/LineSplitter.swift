/// Cuts what is read into lines. Pure.
///
/// Holds at most one line of the longest length, whatever comes in.
struct LineSplitter {
    enum Line: Sendable, Equatable {
        case text(String)
        /// Longer than any command; the rest of it was dropped.
        case tooLong
        /// Not UTF-8.
        case notText
    }
    private var begun: [UInt8] = []
    private var isTooLong = false
    private let longest: Int

    init(longest: Int = ConsoleWords.longest) { self.longest = longest }

    /// Takes more bytes, and gives the lines that end in them.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [Line] {
        var lines: [Line] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines.append(close())
            } else if begun.count >= longest {
                isTooLong = true
            } else {
                begun.append(byte)
            }
        }
        return lines
    }

    /// The input ended: a last line may lack its end.
    mutating func finish() -> Line? { begun.isEmpty && !isTooLong ? nil : close() }

    private mutating func close() -> Line {
        defer {
            begun = []
            isTooLong = false
        }
        if isTooLong { return .tooLong }
        if begun.last == UInt8(ascii: "\r") { begun.removeLast() }
        return String(validating: begun, as: UTF8.self).map(Line.text) ?? .notText
    }
}
