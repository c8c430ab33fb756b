package props

import (
	"strconv"
	"strings"
)

// text fills names into a small history. Pairs are a placeholder and what stands
// for it; lines with a placeholder that stands for nothing are left out, so they
// come last where they may be missing.
func text(history string, pairs ...string) string {
	var kept strings.Builder
	for line := range strings.Lines(strings.TrimLeft(history, "\n")) {
		keep := true
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(line, pairs[i]) {
				continue
			}
			keep = keep && pairs[i+1] != ""
			line = strings.ReplaceAll(line, pairs[i], word(pairs[i+1]))
		}
		if keep {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// word quotes what the text form would not take bare.
func word(s string) string {
	const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:@+%,~#*/"
	strange := func(r rune) bool { return !strings.ContainsRune(bare, r) }
	if s == "-" || strings.ContainsFunc(s, strange) {
		return strconv.Quote(s)
	}
	return s
}
