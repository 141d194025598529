package sessions

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
)

// Cut is compaction.Config.Cut.
type Cut func(adk.SessionRef, *session.Event) *session.Event

// cutter calls the app's Cut function. If the function fails for an event, the event is shown as it
// is stored, and the failure is kept until a caller that holds no lock reports it.
type cutter struct {
	cut Cut // nil: no event is cut

	mu      sync.Mutex
	failed  map[adk.SessionRef]error                 // not reported yet
	reports *simplelru.LRU[adk.SessionRef, struct{}] // sessions with a failure that is reported, or about to be
}

func newCutter(cut Cut) *cutter {
	c := &cutter{cut: cut, failed: map[adk.SessionRef]error{}}
	// NewLRU only fails for a size that is not positive.
	c.reports, _ = simplelru.NewLRU(maxRetained, func(ref adk.SessionRef, _ struct{}) { delete(c.failed, ref) })
	return c
}

// of returns the function for the views of a session, nil if no event is cut.
func (c *cutter) of(ref adk.SessionRef) view.Cut {
	if c.cut == nil {
		return nil
	}
	return func(ev *session.Event) *session.Event {
		form, err := c.try(ref, ev)
		if err != nil {
			c.fail(ref, fmt.Errorf("event %q is shown as it is stored: Cut %w", ev.ID, err))
			return ev
		}
		return form
	}
}

// try calls the app's function, and checks what it returns.
func (c *cutter) try(ref adk.SessionRef, ev *session.Event) (form *session.Event, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", ErrCutPanicked, cause)
		}
	}()
	form = c.cut(ref, ev)
	if form == ev {
		return ev, nil
	}
	return form, checkForm(ev, form)
}

// The ways in which the app's Cut function fails.
var (
	ErrCutPanicked = errors.New("panicked")
	errWrongForm   = errors.New("returned an event that differs in more than its tool responses")
)

// checkForm refuses a form that differs from the stored event in anything but the Response maps of
// its function responses: ADK and the providers pair, route and order by all the rest.
func checkForm(stored, form *session.Event) error {
	if form == nil {
		return fmt.Errorf("%w: it is nil", errWrongForm)
	}
	if form.Content == nil {
		return fmt.Errorf("%w: it has no content", errWrongForm)
	}
	frame := *form
	frame.Content = stored.Content
	if !reflect.DeepEqual(frame, *stored) { // what both share is compared by pointer
		return fmt.Errorf("%w: a field other than Content differs", errWrongForm)
	}
	if a, b := len(stored.Content.Parts), len(form.Content.Parts); a != b || stored.Content.Role != form.Content.Role {
		return fmt.Errorf("%w: it has %d parts of role %q and not %d of role %q", errWrongForm, b, form.Content.Role, a, stored.Content.Role)
	}
	for i, part := range stored.Content.Parts {
		if !samePart(part, form.Content.Parts[i]) {
			return fmt.Errorf("%w: part %d", errWrongForm, i)
		}
	}
	return nil
}

// samePart reports whether two parts are equal but for the Response map of a function response.
func samePart(stored, form *genai.Part) bool {
	if stored == form || stored == nil || form == nil {
		return stored == form
	}
	frame := *form
	if stored.FunctionResponse != nil && form.FunctionResponse != nil {
		response := *form.FunctionResponse
		if (response.Response == nil) != (stored.FunctionResponse.Response == nil) {
			return false
		}
		response.Response = stored.FunctionResponse.Response
		if !reflect.DeepEqual(response, *stored.FunctionResponse) {
			return false
		}
		frame.FunctionResponse = stored.FunctionResponse
	}
	return reflect.DeepEqual(frame, *stored)
}

// fail keeps the first failure in a session.
func (c *cutter) fail(ref adk.SessionRef, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reports.Contains(ref) {
		c.reports.Add(ref, struct{}{})
		c.failed[ref] = err
	}
}

// CutFailure returns the failure of the app's Cut function that is to be reported about a session: the
// first one, once. It returns nil if there is none.
func (s *Sessions) CutFailure(ref adk.SessionRef) error {
	c := s.cutter
	if c.cut == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.failed[ref]
	delete(c.failed, ref)
	return err
}
