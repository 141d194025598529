package values_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/record"
)

func answered(object map[string]any) []*session.Event {
	return []*session.Event{event("bot", 0, genai.NewPartFromFunctionResponse("find", object))}
}

// A number in a tool's answer is a value with the name of its field, and so is a text that is only a number.
func TestAFieldNamesItsNumber(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		object map[string]any
		want   []string // all that is found
	}{
		{map[string]any{"order_id": 4172}, []string{"order id 4172"}},
		{map[string]any{"orderId": json.Number("4172")}, []string{"order id 4172"}},
		{map[string]any{"order": map[string]any{"total": 48.5}}, []string{"total 48.5"}},
		{map[string]any{"order-number": "4172"}, []string{"order number 4172"}},
		{map[string]any{"tracking": "NP-8841"}, []string{"tracking NP-8841"}},
		{map[string]any{"amount": "$48.50"}, []string{"amount $48.50"}},
		{map[string]any{"delivery_date": "2026-03-12"}, []string{"delivery date 2026-03-12"}},
		{map[string]any{"out": `{"order_id": 4172}`}, []string{"order id 4172"}},
		{map[string]any{"temperature": -12.5}, []string{"temperature -12.5"}},
		{map[string]any{"year_of_birth": float32(1984)}, []string{"year birth 1984"}},
		{map[string]any{"parcels": []any{map[string]any{"weight": 350}, map[string]any{"weight": 720}}}, []string{"weight 350", "weight 720"}},
		// What says nothing later.
		{map[string]any{"line": 4172, "offset": 512, "duration_ms": 840, "exit_code": 127, "created_at": "2026-03-12", "pageSize": 50}, nil},
		{map[string]any{"quantity": 2, "ok": true, "none": nil, "ratio": 1e300, "large": uint64(1) << 63}, nil},
		// A listing.
		{map[string]any{"files": []any{map[string]any{"owner": 501}, map[string]any{"owner": 502}, map[string]any{"owner": 503}, map[string]any{"owner": 504}}}, nil},
		// Secrets.
		{map[string]any{"pin": 4711, "cvv": 123, "otp": "884213", "card": 4111111111111111, "visa": 4111111111111112.0}, nil},
		{map[string]any{"wifi": map[string]any{"code": 884213, "key": "MOON-BASE-9"}, "door_code": "4711", "accessKeyId": "A1B2C3"}, nil},
		{map[string]any{"name": "DB_PASSWORD", "value": 884213}, nil},
		{map[string]any{"body": "DB_PASSWORD_4711"}, nil},
	} {
		got := texts(values.Of(answered(r.object), nil, nil))
		slices.Sort(got)
		slices.Sort(r.want)
		if !slices.Equal(got, r.want) {
			t.Errorf("%v: got %q, want %q", r.object, got, r.want)
		}
	}
}

// A number is the same from every backend: those that store JSON return float64.
func TestNumbersAreTheSameFromEveryBackend(t *testing.T) {
	t.Parallel()
	object := map[string]any{"order_id": int64(417_200_001), "total": float32(48.25), "seats": uint8(17)}
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var stored map[string]any
	if err := json.Unmarshal(data, &stored); err != nil {
		t.Fatal(err)
	}
	here, there := values.Of(answered(object), nil, nil), values.Of(answered(stored), nil, nil)
	if len(here) != 3 || !reflect.DeepEqual(here, there) {
		t.Errorf("%q here, %q from storage", texts(here), texts(there))
	}
}

// One answer with many fields has no more room than one with few.
func TestFieldsOfOneAnswerAreBounded(t *testing.T) {
	t.Parallel()
	object := map[string]any{}
	for i := range 200 {
		object["gauge"+strings.Repeat("x", i%20)+string(rune('a'+i/20))] = 1000 + i
	}
	if got := values.Of(answered(object), nil, nil); len(got) != 12 {
		t.Errorf("%d values: %q", len(got), texts(got))
	}
}

// The app's function sees a field's text alone, and with the name of the field.
func TestAFieldIsRedacted(t *testing.T) {
	t.Parallel()
	for name, redact := range map[string]func(string) string{
		"the text alone": func(text string) string {
			if text == "P-77" {
				return "***"
			}
			return text
		},
		"inside":        func(text string) string { return strings.ReplaceAll(text, "P-77", "[REDACTED-1]") },
		"with its name": func(text string) string { return strings.ReplaceAll(text, "patient P-77", "[REDACTED-1]") },
		"everything":    func(string) string { return "" },
	} {
		if got := values.Of(answered(map[string]any{"patient": "P-77"}), nil, redact); len(got) > 0 {
			t.Errorf("%s: got %q", name, texts(got))
		}
	}
	alone := func(text string) string { return strings.ReplaceAll(text, "patient", "[REDACTED-1]") }
	if got := texts(values.Of(answered(map[string]any{"patient": "P-77"}), nil, alone)); !slices.Equal(got, []string{"P-77"}) {
		t.Errorf("the name of the field is redacted: got %q", got)
	}
}

// A text that is read in part gives no part of a value.
func TestAValueIsNeverCut(t *testing.T) {
	t.Parallel()
	for n := range 20 {
		text := strings.Repeat("word ", (64<<10)/5-3) + strings.Repeat("x", n) + " ORD-1755 is there."
		for _, got := range texts(values.Of(answered(map[string]any{"out": text}), nil, nil)) {
			if strings.HasPrefix(got, "ORD") && got != "ORD-1755" {
				t.Errorf("%d: %q", n, got)
			}
		}
	}
}

// A value that was stored before the app had its function is redacted when another record takes it over.
func TestStoredValuesAreRedacted(t *testing.T) {
	t.Parallel()
	redact := func(text string) string {
		for _, name := range []string{"Smith", "patient"} {
			text = strings.ReplaceAll(text, name, "[REDACTED-1]")
		}
		return strings.ReplaceAll(text, "4711", "****")
	}
	for _, r := range []struct{ kind, text, want string }{
		{"identifier", "order ORD-17", "order ORD-17"},
		{"identifier", "patient P-77", "P-77"},
		{"identifier", "room patient P-77", "room P-77"},
		{"number", "Smith paid 500 dollars", "paid 500 dollars"},
		{"name", "Lee Smith", ""},
		{"number", "room 4711", ""},
		{"own+is", "name is Smith", ""},
		{"own+is", "patient is tall", ""},
	} {
		got := strings.Join(texts(values.Redacted([]record.Value{{Kind: r.kind, Text: r.text}}, redact)), " | ")
		if got != r.want {
			t.Errorf("%s %q: got %q, want %q", r.kind, r.text, got, r.want)
		}
	}
	alone := func(text string) string {
		if text == "P-77" {
			return ""
		}
		return strings.ReplaceAll(text, "patient", "***")
	}
	if got := values.Redacted([]record.Value{{Kind: "identifier", Text: "patient P-77"}, {Kind: "identifier", Text: "room patient P-77"}}, alone); len(got) > 0 {
		t.Errorf("a value that is redacted when it is alone: %q", texts(got))
	}
	list := []record.Value{{Kind: "name", Text: "Lee Smith"}}
	if got := values.Redacted(list, nil); !reflect.DeepEqual(got, list) {
		t.Errorf("without a function: %q", texts(got))
	}
	values.Redacted(list, redact)
	if list[0].Text != "Lee Smith" {
		t.Error("the caller's list was changed")
	}
}

// Holds knows each value in its own event, and not in one that only has parts of it.
func TestHolds(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		ev   *session.Event
		text string
		want bool
	}{
		{said("user", "Seat 17 is free, Anna.", 0), "seat 17", true},
		{said("user", "Order 4172 is late.", 0), "seat 17", false},
		{said("user", "Order 4172 is late.", 0), "order 417", false},
		{said("user", "Order ORD-171 is late.", 0), "order ORD-17", false},
		{said("user", "It cost $1,249.50\u200b then.", 0), "cost $1,249.50", true},
		{said("user", "On March\n14,   2026 then.", 0), "March 14, 2026", true},
		{said("user", "The lake was cold.", 0), "Lake Tahoe", false},
		{said("user", "我的生日是5月6号，你呢？", 0), "5月6号", true},
		{event("bot", 0, genai.NewPartFromFunctionResponse("f", map[string]any{"out": `{"title": "\u4f55\u4ee5\u7b19\u7bab\u9ed8"}`})), "何以笙箫默", true},
		{event("bot", 0, genai.NewPartFromFunctionResponse("f", map[string]any{"title": "何以笙箫默 <b>"})), "何以笙箫默", true},
		{event("bot", 0, genai.NewPartFromFunctionResponse("f", map[string]any{"order_id": 4172.0})), "order id 4172", true},
		{event("bot", 0, genai.NewPartFromFunctionResponse("f", map[string]any{"order_id": 41729.0})), "order id 4172", false},
		{event("bot", 0, genai.NewPartFromFunctionCall("f", map[string]any{"path": []any{"a|b/c.go"}})), "a/b/c.go", true},
		{said("user", "Anything.", 0), "", false},
		{nil, "seat 17", false},
	} {
		if got := values.Holds(r.ev, record.Value{Kind: "identifier", Text: r.text}); got != r.want {
			t.Errorf("%q: got %v", r.text, got)
		}
	}
	cut := record.Value{Kind: "failure+tool", Text: "error: cannot open the fi"}
	if !values.Holds(said("bot", "error: cannot open the file", 0), cut) || values.Holds(said("bot", "error: cannot close the file", 0), cut) {
		t.Error("an error that was cut")
	}
}
