package config_test

import (
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// A nil pointer would panic, and a model without a name is looked up as if no model were given.
func TestLoadRefusesAModelThatIsNoneInWords(t *testing.T) {
	var none *compactiontest.Model
	if _, err := config.Load("", none); err == nil || !strings.Contains(err.Error(), "the model is nil") {
		t.Errorf("a nil pointer: %v", err)
	}
	if _, err := config.Load("", compactiontest.NewModel("", nil)); err == nil || !strings.Contains(err.Error(), "has no name") {
		t.Errorf("no name: %v", err)
	}
}
