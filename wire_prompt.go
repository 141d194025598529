package longsession

import "github.com/adk-go-ext/longsession/prompt"

// addPrompt makes the builder of sections, and has the budget name the section at which a prefix breaks.
func (s *Stack) addPrompt(cfg *Config) error {
	if !cfg.uses(LayerPrompt) {
		return nil
	}
	builder, err := prompt.New(cfg.Prompt)
	s.prompt = builder
	cfg.Budget.Sections = prompt.SectionNames
	return err
}

// addCache makes the explicit cache of Gemini, if it is enabled.
func (s *Stack) addCache(cfg *Config) error {
	if !cfg.Cache.Enabled {
		return nil
	}
	cache, err := prompt.NewCache(cfg.Cache)
	s.cache = cache
	return err
}
