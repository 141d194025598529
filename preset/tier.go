package preset

import (
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/tokens"
)

// thresholds is a pair of shares of the effective window: where compaction begins in the background, and
// where no request is sent before it is smaller.
type thresholds struct{ Compact, Block float64 }

// The pairs. Weaker models get worse in a full window, so their sessions are compacted earlier.
var (
	frontier     = thresholds{0.85, 0.98}
	mid          = thresholds{0.65, 0.98}
	small        = thresholds{0.35, 0.98}
	unclassified = thresholds{0.85, 0.98} // models without a tier
	standard     = thresholds{0.70, 0.98} // what package compaction does by itself
	late         = thresholds{0.95, 0.98} // as much of the window as is safe
)

// byTier is the name of the pair that follows the tier of the model. It is the default.
const byTier = "tier"

// pairs are the named pairs, in the order in which errors list them.
var pairs = []struct {
	name string
	pair thresholds
}{{"frontier", frontier}, {"mid", mid}, {"small", small}, {"standard", standard}, {"late", late}}

// pairOf returns a pair by its name: "frontier", "mid", "small", "standard" (0.70 and 0.98) or "late" (0.95
// and 0.98).
func pairOf(name string) (thresholds, bool) {
	for _, p := range pairs {
		if p.name == name {
			return p.pair, true
		}
	}
	return thresholds{}, false
}

// pairOfTier returns the pair for a tier, and unclassified for "".
func pairOfTier(tier tokens.Tier) thresholds {
	if pair, known := pairOf(string(tier)); known {
		return pair
	}
	return unclassified
}

// Provider is who serves a model.
type Provider string

// The providers whose models this package knows. Vertex AI serves those of both others.
const (
	Gemini    Provider = "gemini"
	Vertex    Provider = "vertex"
	Anthropic Provider = "anthropic"
)

// asOf is the day on which the tables of models and of retirements were checked, against
// https://ai.google.dev/gemini-api/docs/deprecations and
// https://platform.claude.com/docs/en/about-claude/model-deprecations.
const asOf = "2026-11-22"

// models are the models of each tier. Each has a price in package tokens, or a row in chargedAs.
var models = map[Provider]map[tokens.Tier]string{
	Gemini:    {tokens.TierFrontier: "gemini-3.5-pro", tokens.TierMid: "gemini-2.5-pro", tokens.TierSmall: "gemini-2.5-flash"},
	Anthropic: {tokens.TierFrontier: "claude-opus-4-7", tokens.TierMid: "claude-sonnet-4-6", tokens.TierSmall: "claude-haiku-4-5"},
}

// chargedAs has, for each model above whose price is not published, the one of its tier at whose price it is charged unless
// somebody says otherwise: a ceiling must hold for a model that a task class chooses. The newest model of the same family
// and tier with a published price is nearest; if the true price is higher, a ceiling is passed by as much, so a note names
// the assumption at every start, and it ends with a price in the registry.
var chargedAs = map[string]string{"gemini-3.5-pro": "gemini-3.1-pro-preview"}

// modelOf returns the model of a provider for a tier. It returns "" if it knows none.
func modelOf(provider Provider, tier tokens.Tier) string {
	if provider == Vertex {
		provider = Gemini
	}
	return models[provider][tier]
}

// ProviderOf returns whose model a name is, by the name alone: [Gemini] or [Anthropic], and "" for all
// others.
func ProviderOf(model string) Provider {
	row, _ := tokens.Lookup(model)
	switch {
	case strings.HasPrefix(row.Name, "gemini"):
		return Gemini
	case strings.HasPrefix(row.Name, "claude"):
		return Anthropic
	}
	return ""
}

// serves reports whether a provider has the models of another name.
func (p Provider) serves(of Provider) bool { return p == of || p == Vertex || of == "" }

// retirement is a model that its provider turns off.
type retirement struct {
	Model   string // as it begins, behind a publisher; a date or a version may follow
	Day     string // from this day on requests fail, as 2006-01-02
	Instead string
}

// retirements are on the providers' own platforms. Vertex AI has dates of its own, so nothing of this holds
// there. A replacement has a price and a window in package tokens, so that ceilings and thresholds keep
// working; where the provider recommends one without, the nearest that has them is here.
var retirements = []retirement{
	{"claude-3-5-sonnet", "2025-10-28", "claude-sonnet-4-6"},
	{"claude-3-opus", "2026-01-05", "claude-opus-4-7"},
	{"claude-3-7-sonnet", "2026-02-19", "claude-sonnet-4-6"},
	{"claude-3-5-haiku", "2026-02-19", "claude-haiku-4-5"},
	{"claude-opus-4-0", "2026-06-15", "claude-opus-4-7"},
	{"claude-opus-4-20250514", "2026-06-15", "claude-opus-4-7"},
	{"claude-sonnet-4-0", "2026-06-15", "claude-sonnet-4-6"},
	{"claude-sonnet-4-20250514", "2026-06-15", "claude-sonnet-4-6"},
	{"claude-opus-4-1", "2026-08-05", "claude-opus-4-7"},
	{"gemini-1.5-pro", "2025-09-24", "gemini-3.1-pro-preview"},
	{"gemini-1.5-flash", "2025-09-24", "gemini-3.1-flash-lite"},
	{"gemini-2.0-flash-lite", "2026-06-01", "gemini-2.5-flash-lite"},
	{"gemini-2.0-flash", "2026-06-01", "gemini-3.1-flash-lite"},
	{"gemini-2.5-pro", "2026-12-01", "gemini-3.1-pro-preview"},
	{"gemini-2.5-flash", "2026-12-01", "gemini-3.1-flash-lite"},
}

// retirementOf returns when a model is or was turned off, if that is known.
func retirementOf(model string) (retirement, bool) {
	name := bare(model)
	i := slices.IndexFunc(retirements, func(r retirement) bool {
		_, rest, found := strings.Cut(name, r.Model)
		return found && (rest == "" || versioned(rest))
	})
	if i < 0 {
		return retirement{}, false
	}
	return retirements[i], true
}

// bare is the name of a model in small letters, without publishers and paths.
func bare(model string) string {
	return strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
}

// versioned reports whether the rest of a name is a date, a version or a preview of the same model, and not
// the rest of a sibling's name such as "-lite" or "-image".
func versioned(rest string) bool {
	switch rest[0] {
	case '@', ':':
		return true
	case '-':
		rest = rest[1:]
		return rest != "" && rest[0] >= '0' && rest[0] <= '9' || rest == "latest" || strings.HasPrefix(rest, "preview-") || strings.HasPrefix(rest, "v1")
	}
	return false
}
