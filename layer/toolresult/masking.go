package toolresult

import "github.com/adk-go-ext/longsession/internal/configerr"

// The defaults of [Masking].
const (
	defaultKeepFirst   = 2
	defaultKeepLast    = 5
	defaultBatchTokens = 5_000
	defaultFrom        = 0.25

	// batchShare is the most of the effective window that a batch waits for by default. In a window of
	// 32,000 it saves another tenth of the tokens, and money too, on the same sessions.
	batchShare = 0.05
)

// Masking configures a [Masker]. The zero value is the default. With KeepFirst and KeepLast both [Off],
// no result is masked.
type Masking struct {
	// KeepFirst is how many of the oldest results stay visible: they often hold what the task is
	// about. 0 is 2, Off none.
	KeepFirst int
	// KeepLast is how many of the newest results stay visible, in addition to all results of the
	// newest round. 0 is 5, Off none.
	KeepLast int
	// BatchTokens is how many tokens of results must be ready to be masked before any of them is. Each
	// batch changes the prompt in its middle, so the provider's cache is lost from there on. Larger
	// batches change it less often, and save fewer tokens. 0 is 5,000, which saved the most money on
	// recorded coding sessions (BENCHMARKS.md), or a twentieth of the effective window if that is
	// less; Off masks every result as soon as it may be.
	BatchTokens int
	// From is a share of the effective context window. While a request is smaller, nothing more is
	// masked. From 0 to 1: 0 is 0.25, Off masks in requests of any size. Without need, masking makes
	// some models call the same tool again and again (iOfficeAI/aionrs #271).
	From float64
	// Exempt names tools whose results are never masked, in addition to those of ADK itself, such as
	// transfer_to_agent.
	Exempt []string
}

// check returns every problem as a [*ConfigError], joined.
func (m Masking) check() error {
	var p configerr.Problems
	count := func(field string, n int, unit string) {
		if n < Off {
			p.Refuse(field, n, "give a number of %s, 0 for the default, or Off", unit)
		}
	}
	count("KeepFirst", m.KeepFirst, "results")
	count("KeepLast", m.KeepLast, "results")
	count("BatchTokens", m.BatchTokens, "tokens")
	if m.From != Off && !(m.From >= 0 && m.From <= 1) { // also NaN
		p.Refuse("From", m.From, "give a share of the effective window, more than 0 and at most 1, 0 for the default, or Off")
	}
	for _, tool := range m.Exempt {
		if tool == "" {
			p.Refuse("Exempt", tool, "a tool has a name: remove the empty entry")
		}
	}
	return p.Join("masking config")
}
