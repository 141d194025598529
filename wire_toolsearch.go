package longsession

import "github.com/adk-go-ext/longsession/toolsearch"

// addToolSearch makes the deferral of declarations.
func (s *Stack) addToolSearch(cfg *Config) error {
	if !cfg.uses(LayerToolSearch) {
		return nil
	}
	deferral, err := toolsearch.New(cfg.ToolSearch)
	s.search = deferral
	return err
}
