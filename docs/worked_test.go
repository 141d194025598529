package docs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/summarizer"
)

// TestWorkedExampleIsWhatHappens plays the example of ARCHITECTURE.md through the service and compares
// what is stored, the record and the view with what the document shows.
func TestWorkedExampleIsWhatHappens(t *testing.T) {
	t.Parallel()
	ref := compaction.SessionRef{AppName: "desk", UserID: "mara", SessionID: "chat"}
	writer := summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
		return summarizer.Result{Content: genai.NewContentFromText(
			"Mara Quist, customer 20417, asked for order A-1041: in transit with Nordpost, due on 12 March.", genai.RoleModel)}, nil
	})
	service, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{
		Summarizer: writer, ContextWindow: 128_000, InvocationThreshold: compaction.Off, TokenThreshold: compaction.Off,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close(t.Context())
	created, err := service.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}

	h := &compactiontest.History{}
	h.User("i1", "Good morning! I am Mara Quist, customer number 20417.").Agent("i1", "desk", "Good morning, Mara.")
	h.User("i2", "Where is order A-1041?").Call("i2", "desk", "lookup_order", "c1")
	h.Response("i2", "desk", "lookup_order", "in transit with Nordpost since 9 March, tracking number NP88213074, "+
		"due on 12 March, to Birkenweg 12 in Jena, side door; one walnut desk lamp, LMP-204, for 129.50 euros, paid by card on "+
		"5 March; one spare shade, SHD-011, for 24.00 euros, on back order until 20 March, sent separately", "c1")
	h.Agent("i2", "desk", "It arrives on 12 March.")

	h.User("i3", "Cancel it, please.").Call("i3", "desk", "cancel_order", "c2")
	h.User("i4", "Did that work?")
	for i, ev := range h.Events {
		if i == 7 {
			result, err := service.Compact(t.Context(), ref, compaction.CompactOptions{KeepEvents: 2})
			if err != nil || result.Skipped {
				t.Fatalf("compacted: %+v, %v", result, err)
			}
		}
		if err := service.AppendEvent(t.Context(), created.Session, ev); err != nil {
			t.Fatal(err)
		}
	}

	document := read(t, "../ARCHITECTURE.md")
	shows := func(what, text string) {
		if !strings.Contains(document, "```text\n"+text+"```\n") && !strings.Contains(document, "```json\n"+text+"```\n") {
			t.Errorf("ARCHITECTURE.md does not show %s:\n%s", what, text)
		}
	}
	request := &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}
	raw, err := service.Raw(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := service.Get(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	stored, view := raw.Session.Events(), seen.Session.Events()
	if stored.Len() != 10 {
		t.Errorf("%d events stored, want ten", stored.Len())
	}
	shows("what is stored", table(stored))
	shows("the view", table(view))
	shows("the record", recordIn(t, stored))
}

func recordIn(t *testing.T, events session.Events) string {
	t.Helper()
	for ev := range events.All() {
		if !compaction.IsCompactionEvent(ev) {
			continue
		}
		fields, ok := ev.CustomMetadata[compaction.CompactionMetadataKey].(map[string]any)
		if !ok {
			t.Fatalf("the record is a %T", ev.CustomMetadata[compaction.CompactionMetadataKey])
		}
		var out strings.Builder
		line := func(key string, value any) {
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "  %q: %s,\n", key, text)
		}
		line("record_id", "r1")
		for _, key := range []string{"kind", "trigger", "level"} {
			line(key, fields[key])
		}
		covered, _ := fields["covered"].([]any)
		out.WriteString("  \"covered\": [\n")
		for i, ref := range covered {
			text, err := json.Marshal(ref)
			if err != nil {
				t.Fatal(err)
			}
			comma := ","
			if i == len(covered)-1 {
				comma = ""
			}
			fmt.Fprintf(&out, "    %s%s\n", text, comma)
		}
		out.WriteString("  ],\n")
		line("absorbed", fields["absorbed"])
		line("through", fields["through"])
		line("compacted_content_json", fields["compacted_content_json"])
		return "{\n" + strings.TrimSuffix(out.String(), ",\n") + "\n}\n"
	}
	t.Fatal("no record is stored")
	return ""
}

// table renders events, one a line. IDs that are new in every run are named after what they are.
func table(events session.Events) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%-2s  %-8s  %-6s  %-10s  %s\n", "#", "id", "author", "invocation", "content")
	n := 0
	for ev := range events.All() {
		n++
		id, invocation := ev.ID, ev.InvocationID
		switch {
		case compaction.IsCompactionEvent(ev):
			id, invocation = "r1", "its own"
		case view.IsStandIn(ev):
			id = "stand-in"
		case len(id) > 8:
			id, invocation = "r1", "its own"
		}
		fmt.Fprintf(&out, "%-2d  %-8s  %-6s  %-10s  %s\n", n, id, ev.Author, invocation, content(ev))
	}
	return out.String()
}

func content(ev *session.Event) string {
	if ev.Content == nil {
		return "none; the record is in its metadata"
	}
	part := ev.Content.Parts[0]
	text := part.Text
	switch {
	case part.FunctionCall != nil:
		text = fmt.Sprintf("call %s: %s", part.FunctionCall.ID, part.FunctionCall.Name)
	case part.FunctionResponse != nil:
		response, _ := json.Marshal(part.FunctionResponse.Response)
		text = fmt.Sprintf("response %s: %s", part.FunctionResponse.ID, response)
	}
	text = strings.ReplaceAll(text, "\n", " ")
	if runes := []rune(text); len(runes) > 70 {
		text = string(runes[:69]) + "…"
	}
	return text
}
