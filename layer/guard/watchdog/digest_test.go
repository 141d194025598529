package watchdog_test

import (
	"encoding/json"
	"testing"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
)

// FuzzResultsAreAlike holds that two results have one hash exactly if JSON makes them the same. Errors have one, too, if
// they have the same words.
func FuzzResultsAreAlike(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[true,null]}`), []byte(`{"b":[true,null],"a":1.0}`))
	f.Add([]byte(`{"a":1,"b":2}`), []byte(`{"a":2,"b":1}`))
	f.Add([]byte(`{"a":{"b":1}}`), []byte(`{"a":{},"b":1}`))
	f.Add([]byte(`{"a":[1,2]}`), []byte(`{"a":[2,1]}`))
	f.Add([]byte(`{"a":[[1],2]}`), []byte(`{"a":[[1,2]]}`))
	f.Add([]byte(`{"a":"1"}`), []byte(`{"a":1}`))
	f.Add([]byte(`{"a":-0.0}`), []byte(`{"a":0}`))
	f.Add([]byte(`{"a":null}`), []byte(`{}`))
	f.Add([]byte(`{"a":""}`), []byte(`{"a":[]}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		var a, b map[string]any
		if json.Unmarshal(one, &a) != nil || json.Unmarshal(two, &b) != nil || a == nil || b == nil {
			return
		}
		w := newWatchdog(t, watchdog.Config{})
		of, other := w.Call("", "x", nil, a).Result, w.Call("", "x", nil, b).Result
		equal, words := of.Hash == other.Hash, of.Error && other.Error
		if want := canonical.String(a) == canonical.String(b); equal != want && (want || !words) {
			t.Errorf("%s and %s: alike %t, want %t", one, two, equal, want)
		}
	})
}
