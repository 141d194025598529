// Package survive lets a turn go on where a panic would end it, and leaves a trace of the panic.
package survive

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
)

// Places are the places of one layer that a panic does not leave. The zero value is ready to use. It is safe for
// concurrent use, and must not be copied.
type Places struct {
	// Logger gets a warning for the first panic at each place. If nil, slog.Default() at that time gets it.
	Logger *slog.Logger
	// Tell, if it is set, is told of the first panic at each place, in the goroutine that panicked. A panic in it
	// does no harm.
	Tell func(place string, err error)

	told sync.Map // of the names of the places
}

// Survive ends a panic. It must be deferred itself, not called by a deferred function:
//
//	defer l.places.Survive("toolsearch: before a model call")
//
// The function returns the values that its named results have by then. The first panic at a place is logged and told,
// and those that follow are not: a fault in every turn must not fill the log.
func (p *Places) Survive(place string) {
	if cause := recover(); cause != nil {
		p.trace(place, cause)
	}
}

// homeless are the places of functions that know no logger: slog.Default() gets their warnings.
var homeless Places

// Else ends a panic where no [Places] are at hand, as in a function that belongs to no layer: it runs otherwise, which
// sets the results that the function returns then. Like Survive it must be deferred itself, and the first panic at a
// place is logged, once in a process.
func Else(place string, otherwise func()) {
	if cause := recover(); cause != nil {
		otherwise()
		homeless.trace(place, cause)
	}
}

// trace logs and tells the first panic at a place. Survive and Else call it, and nothing between.
func (p *Places) trace(place string, cause any) {
	if _, known := p.told.LoadOrStore(place, true); known {
		return
	}
	at := site()
	if p.Tell != nil {
		quietly(func() { p.Tell(place, fmt.Errorf("panic: %v", cause)) })
	}
	quietly(func() {
		logger := p.Logger
		if logger == nil {
			logger = slog.Default()
		}
		logger.LogAttrs(context.Background(), slog.LevelWarn, "longsession: "+"a panic was survived",
			slog.String("place", place), slog.String("panic", kind(cause)), slog.String("at", at))
	})
}

// quietly runs what tells of a panic. If that panics too, nobody is left to be told.
func quietly(tell func()) {
	defer func() { _ = recover() }()
	tell()
}

// kind says what a panic is without its text, which may quote a conversation. The runtime's own errors quote none.
func kind(cause any) string {
	if err, ok := cause.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", cause)
}

// site is the line that panicked. Only a deferred function may ask for it, while the stack still has it.
func site() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])]) // above Callers, site, trace, and Survive or Else
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", frame.Function, frame.Line)
		}
		if !more {
			return ""
		}
	}
}
