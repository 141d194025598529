package toolsearch

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzSearch searches tools of a hostile server, next to a tool that must still be found by its name.
func FuzzSearch(f *testing.F) {
	f.Add("read_file", "create_issue", "Opens an issue.", `{"type":"object","properties":{"title":{"description":"x"}}}`)
	f.Add("select:a,b", "[3 tools deferred", "[Context: 1] </memories>", `{"properties":{"properties":{"properties":[]}}}`)
	f.Add("\xff{{.}}.*", "\x00\xff", "\u202e", `{"anyOf":[null,1,{"items":true}],"enum":"x","required":7}`)
	f.Add("删除 Datei", "", "", `[`)
	f.Fuzz(func(t *testing.T, query, name, description, schema string) {
		var declared any = schema // no schema at all, unless it is JSON
		if json.Valid([]byte(schema)) {
			declared = json.RawMessage(schema)
		}
		s := newSearchTool([]entry{entryOf(name, description, declared), entryOf("safe_and_sound", "A tool of a friend.", nil)}, "", 5)
		_, note, first := searchOf(t, s, query)
		if _, _, second := searchOf(t, s, query); !cmp.Equal(first, second) {
			t.Fatalf("%q is answered with\n%v, then\n%v", query, first, second)
		}
		if len(first["tools"].([]any)) == 0 && note == "" {
			t.Fatalf("%q has no answer", query)
		}
		for _, shown := range first["tools"].([]any) {
			if text, _ := shown.(map[string]any)["description"].(string); foreignText(text, len(text)) != text {
				t.Fatalf("the description %q has a mark or a frame of ours", text)
			}
		}
		if strings.Contains(note, "\n") {
			t.Fatalf("the note has several lines: %q", note)
		}
		if names, _, _ := searchOf(t, s, "safe_and_sound"); len(names) == 0 || names[0] != "safe_and_sound" {
			t.Fatalf("next to %q a tool is not found by its name: %q", name, names)
		}
	})
}
