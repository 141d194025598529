package longsession

import (
	"errors"

	"google.golang.org/adk/session"
)

// builder makes a stack. Its methods are next to what they make, in the files named wire_*.go.
type builder struct {
	*Stack
	inner session.Service
	cfg   *Config
}

// addLayers makes all that the session service does not need to exist for. The error joins what each layer
// refuses. A later layer may depend on an earlier one.
func (b *builder) addLayers() error {
	return errors.Join(
		b.prepareRecall(), b.addToolResults(), b.addPrompt(), b.addBudget(), b.addToolSearch(), b.addCache(), b.addGuard(), b.prepareContextTools(),
	)
}
