package longsession

import "github.com/adk-go-ext/longsession/layer/prompt"

// addPrompt makes the builder of sections, and has the budget name the section at which a prefix breaks.
func (b *builder) addPrompt() error {
	if !b.cfg.uses(LayerPrompt) {
		return nil
	}
	builder, err := prompt.New(b.cfg.Prompt)
	b.prompt = builder
	b.cfg.Budget.Sections = prompt.SectionNames
	return err
}

// addCache makes the explicit cache of Gemini, if it is enabled.
func (b *builder) addCache() error {
	if !b.cfg.Cache.Enabled {
		return nil
	}
	cache, err := prompt.NewCache(b.cfg.Cache)
	b.cache = cache
	return err
}
