// Package learned keeps what a compaction service has learned about one session: what failed, what
// was not worth it, and what cannot be referred to. Every type locks itself. All of it is lost with
// the process, which costs an attempt and nothing else.
package learned

import (
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

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
	f.Windows.quiet.clear()
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

// Attempts are the attempts to compact one session: whether they fail, and when the next may be
// made.
type Attempts struct {
	mu      sync.Mutex
	status  Status
	backoff *backoff.ExponentialBackOff
	// failing says that it was reported that attempts fail.
	failing bool
	// hanging is open while a summarizer call that was given up has not returned.
	hanging <-chan struct{}
	// unheeded is how many second tries in a row did not help.
	unheeded int
}

// freeTries is how many failures in a row are retried at the next trigger. After these the back-off
// decides: 5 seconds, then twice as long each time, up to 5 minutes.
const freeTries = 3

// Failed notes a failed attempt.
func (a *Attempts) Failed(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status.Failures++
	if a.status.Failures < freeTries {
		return
	}
	if a.backoff == nil {
		a.backoff = backoff.NewExponentialBackOff()
		a.backoff.InitialInterval = 5 * time.Second
		a.backoff.MaxInterval = 5 * time.Minute
		a.backoff.Multiplier = 2
		a.backoff.Reset()
	}
	a.status.RetryAt = now.Add(a.backoff.NextBackOff())
}

func (a *Attempts) succeeded() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status.Failures, a.status.RetryAt, a.backoff = 0, time.Time{}, nil
}

// mostUnheeded is how many second tries in a row may be in vain.
const mostUnheeded = 2

// Heeds reports whether a summarizer may be asked a second time for a summary, with what was wrong with the first: not if
// that did not help the last times. A model that cannot do better would cost twice for good.
func (a *Attempts) Heeds() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.unheeded < mostUnheeded
}

// AskedAgain notes whether a second try helped.
func (a *Attempts) AskedAgain(helped bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unheeded++; helped {
		a.unheeded = 0
	}
}

// IsNews notes whether attempts fail, and reports whether that has changed.
func (a *Attempts) IsNews(failing bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	changed := failing != a.failing
	a.failing = failing
	return changed
}

// Concluded notes what became of the latest attempt.
func (a *Attempts) Concluded(reason string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status.Reason, a.status.Err = reason, err
}

// Status returns what people are told of the attempts.
func (a *Attempts) Status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status
}

// BacksOff reports whether automatic attempts wait until a later time.
func (a *Attempts) BacksOff(now time.Time) bool { return now.Before(a.Status().RetryAt) }

// NoteInline notes that an attempt failed that a turn of the invocation waited for.
func (a *Attempts) NoteInline(invocationID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status.TriedInline = invocationID
}

// TriedInline reports whether an attempt failed that a turn of the invocation waited for.
func (a *Attempts) TriedInline(invocationID string) bool {
	return invocationID != "" && a.Status().TriedInline == invocationID
}

// GaveUp notes that a summarizer call was given up. It hangs until returned is closed.
func (a *Attempts) GaveUp(returned <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hanging = returned
}

// Hanging reports whether a summarizer call that was given up has still not returned.
func (a *Attempts) Hanging() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.hanging: // never, if it is nil
		a.hanging = nil
	default:
	}
	return a.hanging != nil
}

func (a *Attempts) worthKeeping() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status.Failures > 0 || a.hanging != nil
}
