package sim

import (
	"strings"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
)

// Excerpt returns the part of a history that shows what is broken, a screenful of
// lines with the witnesses marked, as [Failure.Message] has it.
func Excerpt(h *model.History, broken []props.Broken) string {
	var b strings.Builder
	writeExcerpt(&b, h, broken)
	return b.String()
}
