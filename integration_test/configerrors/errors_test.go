// Package configerrors_test compares how packages refuse their configurations.
package configerrors_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/layer/subtask/tools"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/summarizer"
)

// An app asks for refused values by one type, and finds those of every package.
func TestOneQuestionFindsTheRefusedValuesOfEveryPackage(t *testing.T) {
	t.Parallel()
	svc, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{Summarizer: summarizer.Extractive{}, ContextWindow: 32_000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := svc.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for name, refuse := range map[string]func() error{
		"longsession": func() error {
			_, err := longsession.New(session.InMemoryService(), longsession.Config{Disable: []longsession.Layer{"cache"}})
			return err
		},
		"compaction": func() error {
			_, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{SafetyRatio: 70})
			return err
		},
		"budget": func() error { _, err := budget.New(budget.Config{ContextWindow: -1}); return err },
		"contexttool": func() error {
			_, err := contexttool.New(svc, contexttool.Config{Enabled: true, CompactEvery: -7})
			return err
		},
		"guard":    func() error { _, err := guard.New(guard.Config{NoteAt: 1.5}); return err },
		"watchdog": func() error { _, err := watchdog.New(watchdog.Config{Repeats: 1}); return err },
		"prompt":   func() error { _, err := prompt.New(prompt.Config{SourceTimeout: -1}); return err },
		"recall":   func() error { _, err := recall.New(svc, recall.Config{Limit: -1}); return err },
		"subtask":  func() error { _, err := subtask.New(subtask.Config{}); return err },
		"tools":    func() error { _, err := tools.NewFetch(tools.FetchConfig{Timeout: -1}); return err },
		"toolresult": func() error {
			_, err := toolresult.New(toolresult.Config{PerTool: map[string]toolresult.Limits{"read": {MaxBytes: -2}}})
			return err
		},
		"toolsearch": func() error { _, err := toolsearch.New(toolsearch.Config{Mode: "always?"}); return err },
		"summarizer": func() error { _, err := summarizer.NewLLM(summarizer.LLMConfig{}); return err },
		"persistence": func() error {
			_, err := persistence.NewSQLiteSessionService(":memory:", persistence.WithBusyTimeout(-1))
			return err
		},
		"chat": func() error { _, err := chat.New(chat.Config{}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := refuse()
			var refused *compaction.ConfigError
			if !errors.As(err, &refused) {
				t.Fatalf("%v has no refused value", err)
			}
			if refused.Field == "" || refused.Reason == "" || !strings.Contains(err.Error(), refused.Field+" is ") {
				t.Errorf("field %q, reason %q of %v", refused.Field, refused.Reason, err)
			}
			first, _, _ := strings.Cut(err.Error(), refused.Field)
			if prefix, rest, _ := strings.Cut(first, ":"); strings.Contains(rest, strings.Fields(prefix)[0]) {
				t.Errorf("%q begins with %q twice", err, prefix)
			}
		})
	}
}
