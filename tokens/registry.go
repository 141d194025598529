package tokens

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// DefaultContextWindow is the window, in tokens, that is assumed for an unknown model. Nearly all
// current models have at least this window.
const DefaultContextWindow = 128_000

// Tier is how well a model works near the end of its window. The sessions of a weaker model should
// be compacted earlier. The zero value is unclassified.
type Tier string

// The tiers, strongest first.
const (
	TierFrontier Tier = "frontier"
	TierMid      Tier = "mid"
	TierSmall    Tier = "small"
)

// Model is one row of the model table.
type Model struct {
	// Name is the lower-case part of a model name that the row matches, such
	// as "gemini-2.5-flash" for "models/gemini-2.5-flash-001".
	Name string
	// ContextWindow is the maximum size of prompt and reply together, in tokens. 0 means unknown.
	ContextWindow int
	// MaxOutputTokens is the maximum length of a reply, in tokens. 0 means unknown.
	MaxOutputTokens int
	// InputPrice, CachedInputPrice and OutputPrice are in USD per million tokens. 0 means unknown.
	// See [Model.Cost].
	InputPrice, CachedInputPrice, OutputPrice float64
	// Tier is the model's class. "" means unclassified.
	Tier Tier
}

// Registry finds the [Model] for a model name. A nil *Registry and the zero Registry are the
// built-in table. A Registry is immutable and safe for concurrent use.
//
// Every config that needs windows or prices takes a *Registry, so that an app's own entries apply
// to every limit and every cost.
type Registry struct {
	user []Model // longest name first
}

// NewRegistry returns a registry whose entries take precedence over the built-in table. It does not
// keep the slice. Names are matched in lower case. The error lists every invalid entry, field and
// value: an empty or repeated name, a negative number, an output limit above the window, a price or
// window that no model can have (such as a price per token instead of per million), a cached price
// above the input price, or an unknown tier.
func NewRegistry(entries ...Model) (*Registry, error) {
	user := slices.Clone(entries)
	seen := make(map[string]int, len(user))
	var errs []error
	for i := range user {
		m := &user[i]
		m.Name = strings.ToLower(strings.TrimSpace(m.Name))
		if err := m.validate(); err != nil {
			errs = append(errs, fmt.Errorf("tokens: entry %d: %w", i, err))
			continue
		}
		if first, ok := seen[m.Name]; ok {
			errs = append(errs, fmt.Errorf("tokens: entry %d: Name %q is also that of entry %d; keep one", i, m.Name, first))
			continue
		}
		seen[m.Name] = i
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	sortBySpecificity(user)
	return &Registry{user: user}, nil
}

// Limits for entries: the largest window is several hundred times that of any current model, and
// the highest price is a dollar per token. A price below minPrice is a price per token instead of
// per million.
const (
	maxWindow = 1_000_000_000
	maxPrice  = 1_000_000
	minPrice  = 0.0001
)

func (m Model) validate() error {
	if m.Name == "" {
		return errors.New("the Name is empty; give the part of the model name to match")
	}
	for _, n := range []struct {
		field  string
		tokens int
	}{
		{"ContextWindow", m.ContextWindow},
		{"MaxOutputTokens", m.MaxOutputTokens},
	} {
		if n.tokens < 0 || n.tokens > maxWindow {
			return fmt.Errorf("%q: %s is %d; want 0 (unknown) to %d tokens", m.Name, n.field, n.tokens, maxWindow)
		}
	}
	if m.ContextWindow > 0 && m.MaxOutputTokens > m.ContextWindow {
		return fmt.Errorf("%q: MaxOutputTokens is %d, above ContextWindow %d", m.Name, m.MaxOutputTokens, m.ContextWindow)
	}
	for _, p := range []struct {
		field string
		price float64
	}{
		{"InputPrice", m.InputPrice},
		{"CachedInputPrice", m.CachedInputPrice},
		{"OutputPrice", m.OutputPrice},
	} {
		if math.IsNaN(p.price) || math.IsInf(p.price, 0) || p.price < 0 {
			return fmt.Errorf("%q: %s is %v; want USD per million tokens, 0 (unknown) or more", m.Name, p.field, p.price)
		}
		if p.price > maxPrice || p.price > 0 && p.price < minPrice {
			return fmt.Errorf("%q: %s is %v; want USD per million tokens, 0 (unknown) or from %v to %v", m.Name, p.field, p.price, minPrice, float64(maxPrice))
		}
	}
	if m.InputPrice > 0 && m.CachedInputPrice > m.InputPrice {
		return fmt.Errorf("%q: CachedInputPrice is %v, above InputPrice %v", m.Name, m.CachedInputPrice, m.InputPrice)
	}
	switch m.Tier {
	case "", TierFrontier, TierMid, TierSmall:
		return nil
	}
	return fmt.Errorf("%q: Tier is %q; want %q, %q, %q or none", m.Name, m.Tier, TierFrontier, TierMid, TierSmall)
}

// Lookup returns the row for a model name as it appears in a request or a
// response, in any case, with or without a publisher path and a version:
//
//	models/gemini-2.5-pro-preview-05-06
//	projects/p/locations/us/publishers/google/models/gemini-2.5-pro
//	us.anthropic.claude-sonnet-4-20250514-v1:0
//	openai/gpt-4o-2024-08-06
//	ft:gpt-4o-mini:acme:invoices:Ab12
//
// A row matches every name that contains the row's name. The row with the longest name wins, first
// among the registry's own entries, then in the built-in table. The names of projects and
// locations, and the suffix of a fine-tuned model, are ignored, except for an own entry with a path
// or a colon in its name: it is compared with the full name, so it can name one deployment.
// If an own entry has a zero field, the field comes from the built-in row for the same name, so an
// entry may set only a price, or only a window. The prices belong together: two price lists are never
// mixed. The ContextWindow of a row is never 0: if unknown, it is [DefaultContextWindow], and
// [Registry.Window] reports false. For an unknown name, Lookup returns the zero Model and false.
func (r *Registry) Lookup(name string) (Model, bool) {
	own, known, ok := r.rows(name)
	if !ok {
		return Model{}, false
	}
	return complete(own, known), true
}

// Window returns the context window of a model in tokens, and whether it is known. If the name is
// unknown or its row has no window, the window is [DefaultContextWindow], an assumption that
// deserves a warning.
func (r *Registry) Window(name string) (window int, known bool) {
	own, builtIn, ok := r.rows(name)
	if !ok {
		return DefaultContextWindow, false
	}
	return complete(own, builtIn).ContextWindow, own.ContextWindow > 0 || builtIn.ContextWindow > 0
}

// rows returns the own and the built-in row for a name. A missing row is the zero Model.
func (r *Registry) rows(name string) (own, builtIn Model, ok bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	model := modelPart(name)
	builtIn, ok = match(builtInModels, model)
	if r == nil {
		return own, builtIn, ok
	}
	own, mine := match(r.user, model)
	if whole, named := match(r.user, name); named && (!mine || len(whole.Name) > len(own.Name)) && strings.ContainsAny(whole.Name, "/:") {
		own, mine = whole, true // an entry for one deployment or one fine-tuned model
	}
	return own, builtIn, ok || mine
}

// modelPart returns the part of a name that names the model: without the project and location of a
// resource name, and without the owner and suffix of a fine-tuned model. Users may name those after
// another model: "ft:gpt-4o-mini:gemini-fans:v1" is a gpt-4o-mini.
func modelPart(name string) string {
	if strings.HasPrefix(name, "projects/") {
		if _, after, ok := strings.Cut(name, "/locations/"); ok {
			_, name, _ = strings.Cut(after, "/")
		}
	}
	if at := strings.LastIndex(name, "ft:"); at == 0 || at > 0 && name[at-1] == '/' {
		name, _, _ = strings.Cut(name[at+len("ft:"):], ":")
	}
	return name
}

// complete returns own with its zero fields taken from known. If own is the zero Model, it returns
// known.
func complete(own, known Model) Model {
	if own.Name == "" {
		own.Name = known.Name
	}
	if own.ContextWindow == 0 {
		// The window must have room for the reply, whichever of the two was set.
		own.ContextWindow = max(cmp.Or(known.ContextWindow, DefaultContextWindow), own.MaxOutputTokens)
	}
	if own.MaxOutputTokens == 0 {
		own.MaxOutputTokens = min(known.MaxOutputTokens, own.ContextWindow)
	}
	if own.InputPrice == 0 && own.CachedInputPrice == 0 && own.OutputPrice == 0 {
		own.InputPrice, own.CachedInputPrice, own.OutputPrice = known.InputPrice, known.CachedInputPrice, known.OutputPrice
	}
	if own.Tier == "" {
		own.Tier = known.Tier
	}
	return own
}

// Lookup returns the built-in row for a model name; see [Registry.Lookup].
func Lookup(name string) (Model, bool) { return (*Registry)(nil).Lookup(name) }

// ContextWindow returns the built-in context window of a model in tokens, or [DefaultContextWindow]
// if the model is unknown.
func ContextWindow(name string) int {
	if m, ok := Lookup(name); ok {
		return m.ContextWindow
	}
	return DefaultContextWindow
}

// match returns the row with the longest name that occurs in name. Of several names with equal
// length, it returns the one that occurs last, because the model follows the publisher and the
// server, as in "ollama/qwen3".
func match(models []Model, name string) (Model, bool) {
	best, at := -1, -1
	for i, m := range models {
		if best >= 0 && len(m.Name) < len(models[best].Name) {
			break
		}
		if p := strings.LastIndex(name, m.Name); p > at {
			best, at = i, p
		}
	}
	if best < 0 {
		return Model{}, false
	}
	return models[best], true
}

// sortBySpecificity sorts longer names first, and names of equal length in a fixed order.
func sortBySpecificity(models []Model) {
	slices.SortFunc(models, func(a, b Model) int {
		if len(a.Name) != len(b.Name) {
			return len(b.Name) - len(a.Name)
		}
		return strings.Compare(a.Name, b.Name)
	})
}
