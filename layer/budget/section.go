package budget

import (
	"context"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/survive"
)

// named are the pieces of an instruction or of the declarations, and what each is called.
type named struct {
	names  []string
	hashes []uint64
}

// differs returns the name of the first piece that differs, "" if it has none.
func (n named) differs(now named) string {
	i := 0
	for i < len(n.hashes) && i < len(now.hashes) && n.hashes[i] == now.hashes[i] {
		i++
	}
	return promptsize.FirstChanged(n.names, now.names, i)
}

// next names the pieces of the next request. Those that have not changed are taken over.
func (before lastRequest) next(got measured, sections []string) [2]named {
	out := before.named
	if !before.sent || before.hashes[0] != got.instruction.hash {
		out[0] = named{sections, got.instruction.parts}
	}
	if !before.sent || before.hashes[1] != got.tools {
		out[1] = named{}
		if got.config != nil {
			out[1].names, out[1].hashes = promptsize.HashTools(got.config.Tools)
		}
	}
	return out
}

// sectionsIn asks for the names of the parts of an instruction.
func (c *Config) sectionsIn(ctx context.Context, places *survive.Places) (names []string) {
	if c.Sections == nil {
		return nil
	}
	defer places.Survive("budget: Config.Sections")
	return c.Sections(ctx)
}
