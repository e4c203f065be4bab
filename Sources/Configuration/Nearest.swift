/// Finds what a person probably meant.
public enum Nearest {
    /// The closest of `candidates`, `nil` when none is near enough to be meant.
    ///
    /// Case, `-` and `_` do not count. A third of the letters may differ, two at
    /// least; failing that, one may be the beginning of the other.
    public static func match(_ word: String, among candidates: [String]) -> String? {
        let folded = fold(word)
        guard !folded.isEmpty, folded.count <= 64 else { return nil }
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let other = fold(candidate)
            let allowed = min(max(2, other.count / 3), folded.count - 1, other.count - 1)
            let distance = editDistance(folded, other)
            if distance <= allowed, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        if let best { return best.candidate }
        // `warn` for `warning`, `english` for `en`.
        return candidates.first { candidate in
            let other = fold(candidate)
            return min(folded.count, other.count) >= 2
                && (other.starts(with: folded) || folded.starts(with: other))
        }
    }

    static func fold(_ word: String) -> [Character] {
        word.lowercased().filter { $0 != "_" && $0 != "-" }
    }

    /// Insertions, deletions, changes and swaps of neighbours (optimal string alignment).
    static func editDistance(_ a: [Character], _ b: [Character]) -> Int {
        var before: [Int] = []
        var previous = Array(0...b.count)
        for (i, x) in a.enumerated() {
            var row = [i + 1]
            for (j, y) in b.enumerated() {
                var cost = min(previous[j + 1] + 1, row[j] + 1, previous[j] + (x == y ? 0 : 1))
                if i > 0, j > 0, x == b[j - 1], a[i - 1] == y { cost = min(cost, before[j - 1] + 1) }
                row.append(cost)
            }
            before = previous
            previous = row
        }
        return previous.last ?? a.count
    }
}
