package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hopcheck/hopcheck/model"
)

// Limits on what a schedule may say.
const (
	MaxName     = 128            // bytes of a world, process or operation name
	MaxCount    = 1_000_000_000  // greatest life and occurrence
	MaxDuration = 24 * time.Hour // longest pause or delay
)

// ValidName reports whether a name can stand in a schedule: 1 to [MaxName]
// letters, digits and the characters - . _ / of ASCII.
func ValidName(name string) bool { return validName(name) }

func validName(s string) bool {
	if s == "" || len(s) > MaxName {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("-._/", r)
	}) < 0
}

// blanks are what stands between words. A no-break space is not one of them: it
// would not come back when the schedule is printed, and nobody would see why.
const blanks = " \t\r\n"

// Words is one line of a schedule file, read word by word. The first error stays;
// after it every method returns a zero value, so that a verb's Parse can be a
// plain list of what it expects.
type Words struct {
	words []string
	cols  []int // column of each word, in bytes from 1
	next  int
	usage string
	err   *ParseError
}

// newWords cuts a line into words. A # at its beginning, or alone as a word,
// starts a comment; "#2" does not, since it is likely to be meant.
func newWords(line string) *Words {
	w := &Words{}
	for i := 0; i < len(line); {
		if strings.IndexByte(blanks, line[i]) >= 0 {
			i++
			continue
		}
		n := strings.IndexAny(line[i:], blanks)
		if n < 0 {
			n = len(line) - i
		}
		word := line[i : i+n]
		if word == "#" || (len(w.words) == 0 && word[0] == '#') {
			break
		}
		w.words, w.cols = append(w.words, word), append(w.cols, i+1)
		i += n
	}
	return w
}

// Owner reads "PROC life N".
func (w *Words) Owner() (proc string, life int) {
	proc = w.Name("the name of a process")
	w.OneOf("life")
	return proc, w.Count("the number of a life")
}

// Event reads "KIND OP N" into p.
func (w *Words) Event(p *Point) {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	p.Kind = model.Kind(w.OneOf(names...))
	p.Op = w.Name("the name of an operation, such as Produce or put")
	p.Nth = w.Count("an occurrence")
}

// Name reads a name; what says of what, for the message.
func (w *Words) Name(what string) string {
	s := w.word(what)
	if w.err == nil && !validName(s) {
		w.wrong(s, fmt.Sprintf("%s (at most %d letters, digits, - . _ /)", what, MaxName), "")
	}
	return w.ifFine(s)
}

// OneOf reads one of the words given.
func (w *Words) OneOf(words ...string) string {
	what := strings.Join(words, ", ")
	if n := len(words); n > 1 {
		what = strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	s := w.word(what)
	if w.err == nil && !slices.Contains(words, s) {
		w.wrong(s, what, DidYouMean(s, words))
	}
	return w.ifFine(s)
}

// Count reads a whole number from 1 to [MaxCount].
func (w *Words) Count(what string) int {
	s := w.word(what)
	n, err := strconv.Atoi(s)
	// Itoa refuses +1 and 01, which would print differently.
	if w.err == nil && (err != nil || n < 1 || n > MaxCount || strconv.Itoa(n) != s) {
		w.wrong(s, fmt.Sprintf("%s, a whole number from 1 to %d", what, MaxCount), "")
	}
	if w.err != nil {
		return 0
	}
	return n
}

// Duration reads a Go duration above 0 and up to [MaxDuration].
func (w *Words) Duration() time.Duration {
	s := w.word("a duration, such as 60s")
	d, err := time.ParseDuration(s)
	if w.err == nil && (err != nil || d <= 0 || d > MaxDuration) {
		w.wrong(s, "a duration above 0 and up to 24h, such as 60s or 1500ms", "")
	}
	if w.err != nil {
		return 0
	}
	return d
}

// Code reads the name of an error that the event at p can be answered with.
func (w *Words) Code(p Point) string {
	what, names, some := "a Kafka error name", KafkaErrors(), defaultCodes(p.Kind, p.Op)
	if ofStore(p.Kind) {
		what, names, some = "a store error word", storeErrors, storeErrors
	}
	if len(some) == 0 {
		some = defaultCodes(p.Kind, "Produce")
	}
	s := w.word(what)
	if s == javaName && !ofStore(p.Kind) {
		s = historyName
	}
	if w.err == nil && !slices.Contains(names, s) {
		w.wrong(s, what+" such as "+strings.Join(some, ", "), DidYouMean(s, names))
	}
	return w.ifFine(s)
}

// word returns the next word, "" after an error or at the end, which is an error.
func (w *Words) word(what string) string {
	if w.err != nil {
		return ""
	}
	if w.next == len(w.words) {
		col := 1
		if n := len(w.words); n > 0 {
			col = w.cols[n-1] + len(w.words[n-1])
		}
		w.fail(col, "the line ends where "+what+" should stand")
		return ""
	}
	w.next++
	return w.words[w.next-1]
}

// end makes an error of words that are left over.
func (w *Words) end() {
	if w.err == nil && w.next < len(w.words) {
		w.fail(w.cols[w.next], fmt.Sprintf("%s is one word too many", quote(w.words[w.next])))
	}
}

// wrong says that the last word read is not what it should be.
func (w *Words) wrong(got, want, hint string) {
	w.fail(w.cols[w.next-1], fmt.Sprintf("%s should be %s%s", quote(got), want, hint))
}

func (w *Words) fail(col int, msg string) {
	if w.usage != "" {
		msg += "; write: " + w.usage
	}
	w.err = &ParseError{Column: col, Msg: msg}
}

func (w *Words) ifFine(s string) string {
	if w.err != nil {
		return ""
	}
	return s
}

// quote keeps a message at one readable line, whatever the input was.
func quote(s string) string {
	const limit = 40
	if len(s) > limit {
		return strconv.QuoteToASCII(s[:limit]) + "..."
	}
	return strconv.QuoteToASCII(s)
}

// formatDuration prints in the greatest of s, ms, us, ns that needs no fraction:
// "60s" and not Go's "1m0s", since that is how people write a pause.
func formatDuration(d time.Duration) string {
	switch {
	case d%time.Second == 0:
		return fmt.Sprintf("%ds", d/time.Second)
	case d%time.Millisecond == 0:
		return fmt.Sprintf("%dms", d/time.Millisecond)
	case d%time.Microsecond == 0:
		return fmt.Sprintf("%dus", d/time.Microsecond)
	}
	return fmt.Sprintf("%dns", int64(d))
}
