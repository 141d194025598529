package chat

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard"
)

// Alerts tells the person at once what the guard has seen: an agent that goes in circles, a limit that is near, a model
// without a price. Set it as the observer of the stack's guard and as Config.Alerts. The zero value is ready to use. It
// is safe for concurrent use.
type Alerts struct {
	// Next is told of everything, too. It may be nil. One that is slow holds up the end of a turn, for a minute at most,
	// or until Ctrl-C.
	Next func(context.Context, guard.Observation)

	mu   sync.Mutex
	tell func(o guard.Observation) // nil for nobody
}

// Observe is for guard.Config.Observer.
func (a *Alerts) Observe(ctx context.Context, o guard.Observation) {
	a.mu.Lock()
	tell := a.tell
	a.mu.Unlock()
	if tell != nil {
		tell(o)
	}
	if a.Next != nil {
		a.Next(ctx, o)
	}
}

func (a *Alerts) listen(tell func(o guard.Observation)) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tell = tell
}

// alertTime is how long the end of a turn waits for alerts. Only an observer of the app that hangs takes so long.
const alertTime = time.Minute

// awaitAlerts waits until the person was told what the guard has seen, because it tells its observer in the background.
func (c *Chat) awaitAlerts(ctx context.Context) {
	if c.cfg.Stack == nil || c.cfg.Stack.Guard == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, alertTime)
	defer cancel()
	_ = c.cfg.Stack.Guard.Flush(ctx) // late alerts are better than a chat that waits
}

// listenToLayers shows what the layers do until end is called.
func (c *Chat) listenToLayers() (end func()) {
	c.cfg.Compactions.listen(func(o compaction.Observation) {
		// One in the background makes nobody wait.
		if o.Inline || o.InvocationID == "" {
			c.screen.wait("summarizing " + terminal.Plural(o.Events, "event"))
		}
	})
	c.cfg.Alerts.listen(func(o guard.Observation) {
		if text := alertSentence(o); text != "" {
			c.screen.note(text)
		}
	})
	return func() {
		c.cfg.Compactions.listen(nil)
		c.cfg.Alerts.listen(nil)
	}
}

// alertSentence is what a person should know of an observation, "" if that is nothing.
func alertSentence(o guard.Observation) string {
	switch o.Kind {
	case guard.Alerted:
		return "Watchdog: " + o.Reason
	case guard.Noted:
		return "The model was told: " + o.Reason
	case guard.Landed:
		return "The turn is near a limit: the model answers now, without tools."
	case guard.Unpriced:
		return fmt.Sprintf("The prices of %s are not known: what it costs is not counted.", o.Model)
	case guard.Unmetered, guard.Conflict:
		return "The guard's totals: " + o.Reason
	}
	return ""
}
