package longsession

import "github.com/adk-go-ext/longsession/layer/toolsearch"

// addToolSearch makes the deferral of declarations.
func (b *builder) addToolSearch() error {
	if !b.cfg.uses(LayerToolSearch) {
		return nil
	}
	deferral, err := toolsearch.New(b.cfg.ToolSearch)
	b.search = deferral
	return err
}
