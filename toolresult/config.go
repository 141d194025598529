package toolresult

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Strategy is which part of a text survives a cut.
type Strategy string

// The strategies. The zero value means [Lines], and in [Config].PerTool the strategy of the Config.
const (
	Lines Strategy = "lines" // the first HeadLines and the last TailLines lines, fewer if they are long
	Head  Strategy = "head"  // the beginning
	Tail  Strategy = "tail"  // the end
	Both  Strategy = "both"  // the beginning and the end, in equal parts
)

// Limits is how much of one tool result the model sees. All of them hold together. 0 is the default, and
// [Off] turns a limit off.
type Limits struct {
	// MaxBytes is the most bytes of a result's JSON, with escapes, keys and markers, as encoding/json
	// writes it. 0 means 10,240, as in codex. At least 64 if the Config is Readable, else 2.
	MaxBytes int
	// MaxLines is the most lines of a result that is left whole. 0 means 256, as in codex.
	MaxLines int
	// HeadLines and TailLines are how many lines of a text with more than MaxLines lines survive at its
	// beginning and at its end, without the line that says how many are missing. Together they must not
	// exceed MaxLines. 0 means 128 each, or half of MaxLines if that is less. They also divide the bytes
	// among beginning and end.
	HeadLines, TailLines int
	// MaxTokens is the most tokens of a result, as package tokens estimates them. 0 means 8,000. If it is
	// what shortens a text, the marker says so.
	MaxTokens int
	// StubAbove is the size in bytes over which a result is replaced by a stub: where it is from, how
	// large it is, how it begins, and how to read it. It counts the result's text, or its JSON if it is
	// not one text, and has no effect unless the Config is Readable. 0 means 4,096, or MaxBytes if that
	// is less. With Off, such results are cut instead.
	StubAbove int
	// Strategy is which part of a text survives. The zero value means Lines.
	Strategy Strategy
}

// Config says how long tool results may be. Its zero value cuts every tool's results to the default
// limits.
type Config struct {
	// Limits hold for the results of every tool. Zero fields are defaults.
	Limits
	// PerTool has other limits for some tools. Zero fields take the value of the Config.
	PerTool map[string]Limits
	// Exempt names tools whose results are never cut. ADK's own tools whose results the app reads, such
	// as set_model_response, and read_result are exempt in any case.
	Exempt []string
	// Readable says that the model can read whole results with read_result. Then every shortened result
	// carries its reference under the key ref_id, and results over StubAbove become stubs.
	Readable bool
	// Observer is called for every result that [Cutter.Event] shortens, normally once per event and
	// process, in the order of the cuts and one at a time, by a goroutine of the Cutter. No turn waits
	// for it. While 1,000 cuts wait for it, further ones are not passed on. A panic in it is swallowed.
	// If nil, nothing is reported.
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

	minBytes, minReadableBytes   = 2, 64 // {} and a reference
	minTokens, minReadableTokens = 1, 32
)

// DefaultLimits returns the limits that the zero value of [Limits] means, written out.
func DefaultLimits() Limits {
	return Limits{
		MaxBytes: defaultMaxBytes, MaxLines: defaultMaxLines, HeadLines: defaultHeadLines, TailLines: defaultTailLines,
		MaxTokens: defaultMaxTokens, StubAbove: defaultStubAbove, Strategy: Lines,
	}
}

// limits are checked Limits without zero fields. A limit that is off is [noLimit], lines that are off
// are 0.
type limits Limits

const noLimit = int(^uint(0) >> 2)

// resolve returns the limits of every tool and of the tools in PerTool. It joins all problems.
func (cfg Config) resolve() (all limits, perTool map[string]limits, err error) {
	all, problems := cfg.Limits.resolve("", Limits{}, cfg.Readable)
	perTool = make(map[string]limits, len(cfg.PerTool))
	for _, tool := range slices.Sorted(maps.Keys(cfg.PerTool)) {
		field := fmt.Sprintf("PerTool[%q]", tool)
		if tool == "" {
			problems = append(problems, &ConfigError{"PerTool", "", "name a tool, as the model calls it"})
			continue
		}
		if exempt(tool, cfg.Exempt) || tool == ReadResultName {
			problems = append(problems, &ConfigError{field, tool, "the tool is exempt, so these limits have no effect: remove them, or the tool from Exempt"})
		}
		var more []error
		perTool[tool], more = cfg.PerTool[tool].resolve(field+".", cfg.Limits, cfg.Readable)
		problems = append(problems, more...)
	}
	if slices.Contains(cfg.Exempt, "") {
		problems = append(problems, &ConfigError{"Exempt", "", "name a tool, as the model calls it"})
	}
	if len(problems) > 0 {
		return limits{}, nil, fmt.Errorf("toolresult config: %w", errors.Join(problems...))
	}
	return all, perTool, nil
}

// resolve checks limits and fills in what they leave open: first from general, then the defaults.
func (l Limits) resolve(prefix string, general Limits, readable bool) (limits, []error) {
	problems := l.check(prefix, readable)
	given := l
	inherit := func(field *int, general, fallback int) {
		if *field == 0 {
			*field = general
		}
		if *field == 0 {
			*field = fallback
		}
		if *field == Off {
			*field = noLimit
		}
	}
	inherit(&l.MaxBytes, general.MaxBytes, defaultMaxBytes)
	inherit(&l.MaxLines, general.MaxLines, defaultMaxLines)
	inherit(&l.MaxTokens, general.MaxTokens, defaultMaxTokens)
	if l.Strategy == "" {
		l.Strategy = general.Strategy
	}
	if l.Strategy == "" {
		l.Strategy = Lines
	}
	if len(problems) > 0 {
		return limits{}, problems // the fields cannot be compared
	}
	problems = l.fillLines(prefix, given, general)
	if given.StubAbove != Off && given.StubAbove > l.MaxBytes {
		problems = append(problems, &ConfigError{prefix + "StubAbove", given.StubAbove,
			fmt.Sprintf("results over MaxBytes %d would be cut before they are large enough for a stub; lower it, raise MaxBytes, or set it to Off", l.MaxBytes)})
	}
	inherit(&l.StubAbove, general.StubAbove, defaultStubAbove)
	if l.StubAbove != noLimit {
		l.StubAbove = min(l.StubAbove, l.MaxBytes)
	}
	return limits(l), problems
}

// fillLines sets HeadLines and TailLines, which must not exceed MaxLines together. Values that are not
// given in the same place give way to those that are.
func (l *Limits) fillLines(prefix string, given, general Limits) []error {
	orElse := func(field *int, general, fallback int) {
		if *field == 0 {
			*field = general
		}
		if *field == 0 {
			*field = fallback
		}
		*field = max(0, *field)
	}
	orElse(&l.HeadLines, general.HeadLines, defaultHeadLines)
	orElse(&l.TailLines, general.TailLines, defaultTailLines)
	switch {
	case l.HeadLines+l.TailLines == 0:
		return []error{&ConfigError{prefix + "HeadLines", Off, "with TailLines Off too, nothing of a long text would survive; give one of them"}}
	case l.HeadLines+l.TailLines <= l.MaxLines:
		return nil
	case given.HeadLines != 0 && given.TailLines == 0 && l.HeadLines < l.MaxLines:
		l.TailLines = l.MaxLines - l.HeadLines
		return nil
	case given.TailLines != 0 && given.HeadLines == 0 && l.TailLines < l.MaxLines:
		l.HeadLines = l.MaxLines - l.TailLines
		return nil
	case given.HeadLines == 0 && given.TailLines == 0:
		head := l.MaxLines * l.HeadLines / (l.HeadLines + l.TailLines)
		if head == 0 && l.HeadLines > 0 {
			head = 1
		}
		l.HeadLines, l.TailLines = head, l.MaxLines-head
		return nil
	}
	return []error{&ConfigError{prefix + "HeadLines", l.HeadLines,
		fmt.Sprintf("with TailLines %d it exceeds MaxLines %d: a text would be longer after the cut than the limit allows; lower them or raise MaxLines", l.TailLines, l.MaxLines)}}
}

// check refuses values that are wrong whatever the other fields are.
func (l Limits) check(prefix string, readable bool) (problems []error) {
	leastBytes, leastTokens := minBytes, minTokens
	if readable {
		leastBytes, leastTokens = minReadableBytes, minReadableTokens
	}
	for _, field := range []struct {
		name         string
		value, least int
	}{
		{"MaxBytes", l.MaxBytes, leastBytes},
		{"MaxLines", l.MaxLines, 1},
		{"HeadLines", l.HeadLines, 1},
		{"TailLines", l.TailLines, 1},
		{"MaxTokens", l.MaxTokens, leastTokens},
		{"StubAbove", l.StubAbove, 1},
	} {
		switch {
		case field.value == 0 || field.value == Off || field.value >= field.least:
		case field.value < 0:
			problems = append(problems, &ConfigError{prefix + field.name, field.value, fmt.Sprintf("it must not be negative; 0 is the default, Off (%d) turns it off", Off)})
		default:
			problems = append(problems, &ConfigError{prefix + field.name, field.value, fmt.Sprintf("it must be at least %d, the size of the shortest form of a result", field.least)})
		}
	}
	switch l.Strategy {
	case "", Lines, Head, Tail, Both:
	default:
		problems = append(problems, &ConfigError{prefix + "Strategy", string(l.Strategy), "it must be lines, head, tail or both"})
	}
	return problems
}
