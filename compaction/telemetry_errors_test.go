package compaction_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/summarizer"
)

// A provider's error that quotes the prompt must not carry the conversation into the traces.
func TestAnErrorThatQuotesThePromptIsCutInTheSpan(t *testing.T) {
	t.Parallel()
	quoted := strings.Repeat("ä", 300) + " the secret"
	for _, omit := range []bool{false, true} {
		traced := newTraces()
		cfg, _ := oracleConfig()
		cfg.TracerProvider, cfg.OmitErrorText = traced.provider, omit
		cfg.Summarizer = summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
			return summarizer.Result{}, errors.New(quoted)
		})
		svc := newService(t, session.InMemoryService(), cfg)
		appendAll(t, svc, create(t, svc), turns(5)...)
		if got := status(t, svc); got.LastError == nil || !strings.Contains(got.LastError.Error(), "the secret") {
			t.Errorf("the app is told less than all: %v", got.LastError)
		}
		spans := traced.spans(t)
		if len(spans) == 0 {
			t.Fatal("no span")
		}
		texts := []string{spans[0].Status().Description}
		for _, event := range spans[0].Events() {
			for _, attr := range event.Attributes {
				if attr.Key == "exception.message" {
					texts = append(texts, attr.Value.AsString())
				}
			}
		}
		if len(texts) != 2 {
			t.Errorf("%d texts", len(texts))
		}
		for _, text := range texts {
			n := utf8.RuneCountInString(text)
			if !utf8.ValidString(text) || strings.Contains(text, "secret") || omit && n != 0 || !omit && n != 200 {
				t.Errorf("omit %t: %d characters: %q", omit, n, text)
			}
		}
	}
}
