package specs

import (
	"fmt"
	"strings"
)

// didYouMean returns ` (did you mean "landing"?)` for a word that is close to one of
// the choices, "" for one that is close to none. It is that of sim/schedule, which
// this package may not import.
func didYouMean(word string, choices []string) string {
	best, least := "", len(word)/3+2 // a long word may have more typing errors
	if len(word) > 100 {
		return ""
	}
	for _, c := range choices {
		if d := editDistance(strings.ToLower(word), strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// editDistance is the number of bytes to insert, remove or change.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
