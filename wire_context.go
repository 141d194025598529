package longsession

import "github.com/adk-go-ext/longsession/layer/contexttool"

// prepareContextTools has compaction answer the calls of the context tools. It comes before the session service is
// made, and addContextTools behind it.
func (b *builder) prepareContextTools() error {
	if err := b.cfg.ContextTools.Check(); err != nil {
		return err
	}
	b.cfg.Compaction = b.cfg.ContextTools.Compaction(b.cfg.Compaction)
	return nil
}

// addContextTools makes the tools, unless they are off.
func (b *builder) addContextTools() error {
	tools, err := contexttool.New(b.Sessions, b.cfg.ContextTools)
	if err != nil {
		return err
	}
	b.tools = append(b.tools, tools.Tools()...)
	return nil
}
