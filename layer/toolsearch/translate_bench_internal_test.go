package toolsearch

import (
	"fmt"
	"testing"

	"google.golang.org/genai"
)

// BenchmarkTranslateRequest translates a request of 200 contents and 100 calls of deferred tools, of 200.
func BenchmarkTranslateRequest(b *testing.B) {
	var tools []fixed
	for i := range 200 {
		tools = append(tools, takes(fmt.Sprintf("tool_%03d", i), weatherSchema))
	}
	var contents []*genai.Content
	for i := range 100 {
		name := fmt.Sprintf("tool_%03d", i)
		contents = append(contents, said(call("", name, map[string]any{"city": "Rome"})), got(answer("", name, map[string]any{"n": i})))
	}
	req := asked(tools, nil, contents...)
	b.ReportAllocs()
	for b.Loop() {
		bridgeOf(req).request(req)
	}
}

// BenchmarkTranslateCall checks and translates one call of tool_call.
func BenchmarkTranslateCall(b *testing.B) {
	req := asked([]fixed{takes("event", eventSchema)}, nil)
	c := req.Tools[CallToolName].(*callTool)
	given := object(b, `{"name":"event","arguments":{"title":"a","when":{"day":1},"guests":[{"mail":"x","age":7}]}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, wrong := c.resolve(given); wrong != nil {
			b.Fatal(wrong.text)
		}
	}
}
