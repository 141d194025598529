package watchdog

import (
	"fmt"
	"slices"
)

// row counts steps in a row of which something is true.
type row struct {
	name     string
	severity Severity
	least    int
	// goesOn reports whether a step continues the row, or whether it has no meaning for it.
	goesOn func(s Step) (goesOn, skip bool)
	// says returns the text for a row of calls of a tool, as it is shown, and the note, "" for none.
	says func(count int, tool string) (text, note string)

	count   int
	tool    string // "" for several
	several bool
}

func newRow(r row) *row {
	r.least = max(r.least, 2)
	return &r
}

// Name returns the name of the row.
func (r *row) Name() string { return r.name }

// Reset forgets all steps.
func (r *row) Reset() { r.count, r.tool, r.several = 0, "", false }

// Observe counts.
func (r *row) Observe(s Step) *Alert {
	goesOn, skip := r.goesOn(s)
	if skip {
		return nil
	}
	if !goesOn {
		r.Reset()
		return nil
	}
	for i, c := range s.Calls {
		if r.count == 0 && i == 0 {
			r.tool = c.Tool
		} else if c.Tool != r.tool {
			r.tool, r.several = "", true
		}
	}
	if r.count++; r.count < r.least {
		return nil
	}
	name := "several tools"
	if !r.several {
		name = shown(r.tool)
	}
	text, note := r.says(r.count, name)
	return &Alert{calls: true, Tool: r.tool, Severity: r.severity, Count: r.count, Text: text, Note: note}
}

// all reports whether a condition holds for all calls of a step. Steps without calls have no meaning for it.
func all(holds func(c *Call) bool) func(s Step) (goesOn, skip bool) {
	return func(s Step) (goesOn, skip bool) {
		for i := range s.Calls {
			if !holds(&s.Calls[i]) {
				return false, false
			}
		}
		return true, len(s.Calls) == 0
	}
}

// newNoOp returns a signal for n answers in a row whose calls all did nothing: their results have no_op. It is
// critical. Fewer than 2 count as 2.
func newNoOp(n int) Signal {
	return newRow(row{name: "no-op", severity: Critical, least: n,
		goesOn: all(func(c *Call) bool { return c.Result.Known && c.Result.NoOp }),
		says: func(n int, tool string) (string, string) {
			again := fmt.Sprintf("%s %d times in a row, and it did nothing.", tool, n)
			return "called " + again, "[You called " + again + " Calling it again will not change that. Go on with the task, or end your answer.]"
		}})
}

// newFailures returns a signal for n answers in a row whose calls all failed. It is a warning. Fewer than 2
// count as 2.
func newFailures(n int) Signal {
	return newRow(row{name: "failures", least: n,
		goesOn: all(func(c *Call) bool { return c.Result.Known && c.Result.Error }),
		says: func(n int, tool string) (string, string) {
			return fmt.Sprintf("called %s %d times in a row, and every call failed.", tool, n), ""
		}})
}

// newSameName returns a signal for n answers in a row that call one tool and no other, with any arguments. It is a
// warning, and often a wrong one: agents that read one file after another are at work. Fewer than 2
// count as 2.
func newSameName(n int) Signal {
	var last string
	r := newRow(row{name: "same-name", least: n, says: func(n int, tool string) (string, string) {
		return fmt.Sprintf("called %s, and no other tool, %d times in a row.", tool, n), ""
	}})
	r.goesOn = func(s Step) (goesOn, skip bool) {
		if len(s.Calls) == 0 {
			return false, true
		}
		one := s.Calls[0].Tool
		if slices.ContainsFunc(s.Calls, func(c Call) bool { return c.Tool != one }) {
			return false, false
		}
		if one != last {
			last = one
			r.Reset()
		}
		return true, false
	}
	return r
}

// newToolsWithoutText returns a signal for n answers in a row with calls and without text. It is a warning.
// Fewer than 2 count as 2.
func newToolsWithoutText(n int) Signal {
	return newRow(row{name: "tools-without-text", least: n,
		goesOn: func(s Step) (bool, bool) { return len(s.Calls) > 0 && !s.Text, false },
		says: func(n int, _ string) (string, string) {
			return fmt.Sprintf("called tools in %d answers in a row without a word.", n), ""
		}})
}

// FilesNotTouched returns a signal for n answers in a row with calls of which none changed a file: see
// [Config].Files. It is a warning. Fewer than 2 count as 2.
func FilesNotTouched(n int) Signal {
	return newRow(row{name: "files-not-touched", least: n,
		goesOn: func(s Step) (bool, bool) { return len(s.Files) == 0, len(s.Calls) == 0 },
		says: func(n int, _ string) (string, string) {
			return fmt.Sprintf("called tools in %d answers in a row and changed no file.", n), ""
		}})
}
