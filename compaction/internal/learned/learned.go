// Package learned keeps what a compaction service has learned about one session: what failed, what
// was not worth it, and what cannot be referred to. Every type locks itself. All of it is lost with
// the process, which costs an attempt and nothing else.
package learned

import "time"

// Facts are what has been learned about one session. The zero value is ready, and safe for
// concurrent use.
type Facts struct {
	Attempts Attempts
	Windows  Windows
	Events   Events
}

// Succeeded notes that a summary was stored, or waits to be. Failures before it do not count any
// more, and prompts are smaller now, so the sizes that they were to wait for mean nothing.
func (f *Facts) Succeeded() {
	f.Attempts.succeeded()
	f.Windows.forgetQuiet()
}

// WorthKeeping reports whether there is anything to remember about a session to which nobody holds
// a handle.
func (f *Facts) WorthKeeping() bool {
	return f.Attempts.worthKeeping() || f.Windows.worthKeeping() || f.Events.worthKeeping()
}

// Status is what people are told of the attempts on a session.
type Status struct {
	// Failures counts failed attempts in a row, and RetryAt is when the next may be made; zero for
	// at once.
	Failures int
	RetryAt  time.Time
	// Err is the error of the latest attempt, nil if it did not fail, and Reason why it was
	// declined or discarded.
	Err    error
	Reason string
	// TriedInline is the latest invocation in which an attempt failed that a turn waited for.
	TriedInline string
}
