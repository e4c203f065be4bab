/// Text in columns.
enum TextLayout {
    /// Lines of at most `width` characters, broken at spaces; a longer word stays whole.
    static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, columns(last) + 1 + columns(word) <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    /// How many characters are seen: styles are not.
    private static func columns(_ text: some StringProtocol) -> Int {
        var count = 0
        var isStyle = false
        for character in text {
            if character == "\u{1B}" { isStyle = true }
            if !isStyle { count += 1 }
            if character == "m" { isStyle = false }
        }
        return count
    }
}
