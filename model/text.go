package model

import "fmt"

// AppendText appends the one-line text form of e to b and returns the result.
func AppendText(b []byte, e *Event) []byte { return fmt.Appendf(b, "%+v", *e) }
