package prompt

import (
	"context"
	"time"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/configerr"
)

// defaultSourceTimeout is how long a source may take if the app does not say. It is what the budget grants a
// store of tool results: long for a lookup, and short for somebody who waits for an answer.
const defaultSourceTimeout = 5 * time.Second

// Config says what fills the sections of a prompt. A section without a source does not exist. The zero value
// has no sections, and changes no request.
type Config struct {
	// Project is section 2: what files such as AGENTS.md say about the project, normally an agentsmd.Loader.
	Project Source
	// Memories is section 3: what is known from earlier sessions.
	Memories Source
	// Skills is section 4: what the agent can load when it needs it.
	Skills Source
	// CacheableSkills says that the text of Skills rarely changes, so that there is a break point behind
	// it as well. By default there is none.
	CacheableSkills bool
	// Scratchpad is section 5: the agent's own notes, such as a plan. Its text is written to the end of
	// the conversation when it has changed, stored there, and at most 8 KiB long.
	Scratchpad Source
	// Status is section 6: what is going on now, such as the time or the state of a build. It is
	// written as the text of Scratchpad is.
	Status Source
	// SourceTimeout bounds one call of a source. 0 means 5 s.
	SourceTimeout time.Duration
	// Observer hears of changes of the instruction and of sources that fail. If nil, nothing is
	// reported.
	Observer func(ctx context.Context, o Observation)
}

// check returns the joined problems of a config.
func (c *Config) check() error {
	var p configerr.Problems
	for i, source := range c.sources() {
		if source != nil && adk.IsNil(source) {
			p.Refuse(fieldNames[i], nil, "it holds a nil %T, and every call would panic; leave the field out", source)
		}
	}
	if c.SourceTimeout < 0 {
		p.Refuse("SourceTimeout", c.SourceTimeout, "it must not be negative; 0 is 5 s")
	}
	if c.CacheableSkills && c.Skills == nil {
		p.Refuse("CacheableSkills", true, "there are no skills; set Skills, or leave it out")
	}
	return p.Join("prompt config")
}

// The places of the sections that have a source.
const (
	ofProject = iota
	ofMemories
	ofSkills
	ofScratchpad
	ofStatus
	numSources

	// stable is how many of them, from the first, are in the system instruction.
	stable = ofSkills + 1
)

var (
	fieldNames   = [numSources]string{"Project", "Memories", "Skills", "Scratchpad", "Status"}
	sectionNames = [numSources]string{sectionProject, sectionMemories, sectionSkills, sectionScratchpad, sectionStatus}
)

// sources are the sources of the sections, in order.
func (c *Config) sources() [numSources]Source {
	return [numSources]Source{c.Project, c.Memories, c.Skills, c.Scratchpad, c.Status}
}
