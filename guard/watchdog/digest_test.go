package watchdog_test

import (
	"encoding/json"
	"testing"

	"github.com/adk-go-ext/longsession/guard/watchdog"
	"github.com/adk-go-ext/longsession/internal/canonical"
)

// FuzzResultsAreAlike holds that two results have one hash exactly if JSON makes them the same,
// errors left aside.
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
		if w.Call("", "x", nil, a).Result.Error || w.Call("", "x", nil, b).Result.Error {
			return // errors are alike if they have the same words
		}
		equal := w.Call("", "x", nil, a).Result.Hash == w.Call("", "x", nil, b).Result.Hash
		if want := canonical.String(a) == canonical.String(b); equal != want {
			t.Errorf("%s and %s: alike %t, want %t", one, two, equal, want)
		}
	})
}
