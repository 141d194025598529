package storetest_test

import (
	"testing"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/layer/toolresult/store/storetest"
)

// A store of an app's own is checked in a test of its own.
func ExampleRun() {
	_ = func(t *testing.T) {
		storetest.Run(t, func(*testing.T) storetest.Backend {
			return storetest.Backend{Store: store.NewMemory(64 << 20)} // the store to check
		})
	}
	// Output:
}
