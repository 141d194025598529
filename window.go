package longsession

import "github.com/adk-go-ext/longsession/layer/toolresult"

// The default size over which a result becomes a stub is that of package toolresult, and less in a small
// window, where a few results of that size would fill what compaction leaves. On recorded coding sessions in
// a window of 32,000, the lower size saved another tenth of the tokens.
const (
	stubAbove         = 4_096
	leastStubAbove    = 1_024
	stubBytesPerToken = 0.05
)

// knownWindow returns the context window if it is known from the start, else 0.
func (c *Config) knownWindow() int {
	window := c.Compaction.ContextWindow
	if window == 0 && c.Compaction.AgentModelFunc == nil {
		name := c.Compaction.AgentModel
		if name == "" && c.Compaction.Model != nil {
			name = c.Compaction.Model.Name()
		}
		window, _ = c.Compaction.Registry.Window(name)
	}
	return window
}

// The most bytes that one call of read_result returns are those of package toolresult, and less in a small
// window: 16 KB of text that JSON escapes can be more than 12,000 tokens, and the newest answer is never
// masked. Half a byte for each token of the window is at most two thirds of it.
const (
	readMax           = 16_384
	leastReadMax      = 1_024
	readBytesPerToken = 0.5
)

// readOptions are those of read_result for the window.
func (c *Config) readOptions() toolresult.ReadOptions {
	window := c.knownWindow()
	most := max(leastReadMax, int(readBytesPerToken*float64(window)))
	if window == 0 || most >= readMax {
		return toolresult.ReadOptions{}
	}
	return toolresult.ReadOptions{MaxLimit: most}
}

// stubInSmallWindow sets the default of StubAbove for a context window that is known from the start.
func (c *Config) stubInSmallWindow() {
	limits, window := &c.ToolResults.Limits, c.knownWindow()
	above := max(leastStubAbove, int(stubBytesPerToken*float64(window)))
	if limits.StubAbove != 0 || window == 0 || above >= stubAbove || limits.MaxBytes > 0 && limits.MaxBytes < above {
		return
	}
	limits.StubAbove = above
}
