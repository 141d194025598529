package toolresult

import (
	"fmt"
	"maps"
	"slices"

	"github.com/adk-go-ext/longsession/internal/configerr"
)

// Strategy selects the part of a text that survives a cut.
type Strategy string

// The strategies. The zero value means [Lines], and in [Config].PerTool the strategy of the Config.
const (
	Lines Strategy = "lines" // the first HeadLines and the last TailLines lines, fewer if they are long
	Head  Strategy = "head"  // the beginning
	Tail  Strategy = "tail"  // the end
	Both  Strategy = "both"  // the beginning and the end, in equal parts
)

// Limits bound how much of one tool result the model sees. A result must meet all of them, unless no shorter
// form of it exists: the marker of two missing lines may be longer than they are. In every field, 0 is the
// default and [Off] turns the limit off. [DefaultLimits] returns the defaults.
type Limits struct {
	// MaxBytes is the most bytes of a result's JSON, with escapes, keys and markers, as encoding/json
	// writes it. 0 means 10,240, as in codex. It must be at least 64 if the Config is Readable, else 2.
	MaxBytes int
	// MaxLines is the most lines of a result that is left whole. 0 means 256, as in codex.
	MaxLines int
	// HeadLines and TailLines are how many lines of a text with more than MaxLines lines survive at its
	// beginning and at its end, without the line that counts the missing ones. Together they must not
	// exceed MaxLines. 0 means 128 each, or half of MaxLines if that is less. They also divide the bytes
	// among beginning and end.
	HeadLines, TailLines int
	// MaxTokens is the most tokens of a result, as package tokens estimates them: of its JSON with the tool's
	// name, or of its texts as they are if that is more. 0 means 8,000. It must be at least 32 if the Config is
	// Readable. Media are not cut. They leave less for the rest, but at least a quarter. The marker in a text
	// that this limit shortened counts tokens.
	MaxTokens int
	// StubAbove is the size in bytes over which a stub replaces a result. The stub names the tool, gives
	// the size and the beginning of the result, and explains how to read the rest. The size is that of
	// the result's text, or of its JSON if it is not one text. StubAbove has no effect unless the Config
	// is Readable. 0 means 4,096, or MaxBytes if that is less. With Off, such results are cut instead.
	StubAbove int
	// Strategy selects the part of a text that survives. The zero value means Lines.
	Strategy Strategy
}

// Config configures a [Cutter]. Its zero value cuts every tool's results to the default limits.
type Config struct {
	// Limits hold for the results of every tool. Zero fields are defaults.
	Limits
	// PerTool maps the names of tools to limits of their own. Zero fields take the value of the Config.
	PerTool map[string]Limits
	// Exempt names tools whose results are never cut. ADK's own tools whose results the app reads, such
	// as set_model_response, and read_result are exempt in any case. So is what recall and recall_turn of package recall
	// have found, unless PerTool has limits for them.
	Exempt []string
	// Set Readable if the model can read whole results with read_result. Every shortened result then
	// carries its reference under the key ref_id, and results over StubAbove become stubs.
	Readable bool
	// The Cutter calls Observer for every result that [Cutter.Event] shortens, normally once per event and
	// process, in the order of the cuts. The calls come one at a time from a goroutine of the Cutter, so
	// no turn waits for them. While 1,024 cuts are queued, the Cutter skips further ones. It recovers from
	// a panic in Observer. If Observer is nil, cuts are only logged ([Cutter.TruncateLog]).
	Observer func(Cut)
}

// Defaults of [Limits].
const (
	defaultMaxBytes  = 10 * 1024 // codex: 10 KiB and 256 lines, 128 at each end
	defaultMaxLines  = 256
	defaultHeadLines = 128
	defaultTailLines = 128
	defaultMaxTokens = 8_000
	defaultStubAbove = 4_096 // of 710 results of coding sessions, 9.6% are larger and have 66.8% of the bytes
)

// DefaultLimits returns the limits that the zero value of [Limits] means, written out.
func DefaultLimits() Limits {
	return Limits{
		MaxBytes: defaultMaxBytes, MaxLines: defaultMaxLines, HeadLines: defaultHeadLines, TailLines: defaultTailLines,
		MaxTokens: defaultMaxTokens, StubAbove: defaultStubAbove, Strategy: Lines,
	}
}

// resolve returns the limits of every tool and of the tools in PerTool. It joins all problems.
func (cfg Config) resolve() (all limits, perTool map[string]limits, err error) {
	all, p := cfg.Limits.resolve("", Limits{}, cfg.Readable)
	perTool = make(map[string]limits, len(cfg.PerTool))
	for _, tool := range slices.Sorted(maps.Keys(cfg.PerTool)) {
		field := fmt.Sprintf("PerTool[%q]", tool)
		if tool == "" {
			p.Refuse("PerTool", "", "name a tool, as the model calls it")
			continue
		}
		if exempt(tool, cfg.Exempt) || tool == ReadResultName {
			p.Refuse(field, tool, "the tool is exempt, so these limits have no effect: remove them, or the tool from Exempt")
		}
		var more configerr.Problems
		perTool[tool], more = cfg.PerTool[tool].resolve(field+".", cfg.Limits, cfg.Readable)
		p = append(p, more...)
	}
	if slices.Contains(cfg.Exempt, "") {
		p.Refuse("Exempt", "", "name a tool, as the model calls it")
	}
	return all, perTool, p.Join("toolresult config")
}
