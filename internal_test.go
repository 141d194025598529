package longsession

import (
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// sourceOf is a source with one content, or only with an error.
type sourceOf struct {
	content string
	err     error
}

func (s sourceOf) Open(context.Context, store.Owner, string) (io.ReaderAt, int64, error) {
	if s.err != nil {
		return nil, 0, s.err
	}
	return strings.NewReader(s.content), int64(len(s.content)), nil
}

// A source that fails does not hide a result of another one.
func TestAResultIsOpenedFromTheSourceThatHasIt(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	unknown, failing, found := sourceOf{err: store.ErrUnknownRef}, sourceOf{err: down}, sourceOf{content: "whole"}
	for name, test := range map[string]struct {
		sources sources
		want    error
	}{
		"the first":           {sources{found, failing}, nil},
		"behind unknown":      {sources{unknown, found}, nil},
		"behind a failure":    {sources{failing, found}, nil},
		"nowhere":             {sources{unknown, unknown}, store.ErrUnknownRef},
		"perhaps where down":  {sources{unknown, failing}, down},
		"perhaps where down2": {sources{failing, unknown}, down},
		"no source":           {nil, store.ErrUnknownRef},
	} {
		reader, size, err := test.sources.Open(t.Context(), store.Owner{}, "r-0123456789abcdef")
		if !errors.Is(err, test.want) || (err == nil) != (reader != nil && size == 5) {
			t.Errorf("%s: %v, %d bytes, error %v", name, reader, size, err)
		}
	}
}

// The package comment shows the order that the rows have, and says of each row why it is where it is.
func TestOrderIsThatOfThePackageComment(t *testing.T) {
	t.Parallel()
	comment, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	listed := func(line string) []string {
		found := regexp.MustCompile(`(?m)^//\t` + line + ` +=(.*)$`).FindSubmatch(comment)
		if found == nil {
			t.Fatalf("the package comment in doc.go has no line %q", line)
		}
		return regexp.MustCompile(`\w+`).FindAllString(string(found[1]), -1)
	}
	var wraps, before, behind []string
	for _, row := range (&builder{Stack: &Stack{}, cfg: &Config{}}).order() {
		if row.wrap != nil {
			wraps = append(wraps, row.name)
		}
		if row.before != nil {
			before = append(before, row.name)
		}
		if row.behind != nil {
			behind = append(behind, row.name)
		}
	}
	slices.Reverse(behind)
	document, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	drawn := regexp.MustCompile(`(?m)^Model +=(.*)$`).FindSubmatch(document)
	if drawn == nil || !slices.Equal(regexp.MustCompile(`\w+`).FindAllString(string(drawn[1]), -1), append(slices.Clone(wraps), "request")) {
		t.Errorf("models are wrapped in %v; \"Requests\" in ARCHITECTURE.md has %s", wraps, drawn)
	}
	if want := listed("Model"); !slices.Equal(append(wraps, "request"), want) {
		t.Errorf("models are wrapped in %v; the line \"Model =\" of the package comment in doc.go has %v", wraps, want)
	}
	if want := listed("before"); !slices.Equal(before, want) {
		t.Errorf("in front of the app's plugins come %v; the line \"before =\" of the package comment in doc.go has %v", before, want)
	}
	if want := listed("behind"); !slices.Equal(behind, want) {
		t.Errorf("behind the app's plugins come %v; the line \"behind =\" of the package comment in doc.go has %v", behind, want)
	}
	for _, name := range slices.Concat(wraps, before, behind) {
		if !regexp.MustCompile(`(?m)^//\t` + name + ` +\w`).Match(comment) {
			t.Errorf("the package comment in doc.go does not say why %q is where it is: add a line //<tab>%s  <the reason>", name, name)
		}
	}
}
