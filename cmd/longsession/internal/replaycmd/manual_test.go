package replaycmd

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/pricing"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/tokens"
)

func manual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../../docs/command.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestManualNamesEveryFieldOfTheJSON(t *testing.T) {
	t.Parallel()
	text, fields := manual(t), 0
	var visit func(reflect.Type)
	visit = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			visit(typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				field := typ.Field(i)
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				if name != "" && name != "-" {
					fields++
					if !strings.Contains(text, "`"+name+"`") {
						t.Errorf("docs/command.md lacks the field %q of %s", name, typ)
					}
				}
				if name != "-" {
					visit(field.Type)
				}
			}
		}
	}
	for _, line := range []any{jsonRun{}, jsonConversation{}, jsonError{}, jsonTotal{}} {
		visit(reflect.TypeOf(line))
	}
	if fields < 60 {
		t.Errorf("%d fields found only: the test looks in the wrong place", fields)
	}
}

func TestHelpOfReplayNamesEveryKeyOfAGrid(t *testing.T) {
	t.Parallel()
	cmd := Command("", replay.Compare)
	for _, key := range gridKeys() {
		if !strings.Contains(help, key) || !strings.Contains(manual(t), "`"+key+"`") {
			t.Errorf("help or manual lacks the key %q", key)
		}
		if cmd.Flags().Lookup(key) == nil {
			t.Errorf("key %q is no flag", key)
		}
	}
}

func TestModelsThatAreOfferedHavePrices(t *testing.T) {
	t.Parallel()
	for _, name := range pricing.Models {
		if m, known := tokens.Lookup(name); !known || !m.Priced() || m.ContextWindow == 0 {
			t.Errorf("%s: known %v, %+v", name, known, m)
		}
	}
}
