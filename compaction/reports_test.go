package compaction_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
)

// said is an event of so many words, each a token, with what the provider reports of the prompt; 0 for
// no report.
func said(id, author string, n, reported int) *session.Event {
	ev := &session.Event{ID: id, InvocationID: "inv-" + id, Author: author}
	ev.Content = genai.NewContentFromText(strings.Repeat("word ", n), genai.RoleUser)
	if reported > 0 {
		ev.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(reported), CandidatesTokenCount: int32(n)}
	}
	return ev
}

// A job runs beside the model: the answer then reports the prompt from before the summary. Taken for
// the size of what is shown now, it would have the next turn compact what there is no need to.
func TestACountFromBeforeTheSummaryIsIgnored(t *testing.T) {
	t.Parallel()
	seen := &notes{}
	cfg, _ := oracleConfig()
	cfg.Synchronous, cfg.InvocationThreshold, cfg.ContextWindow = false, compaction.Off, 20_000
	var sess session.Session
	cfg.Observer = func(ctx context.Context, o compaction.Observation) {
		if seen.Observe(ctx, o); o.Outcome == compaction.Started {
			sess.Events() // ADK builds the prompt while the summary is being written
		}
	}
	svc := newService(t, session.InMemoryService(), cfg)
	sess = create(t, svc)
	prompt, n := 0, 0
	say := func(author string, words int) {
		reported := 0
		if author == "agent" {
			reported = prompt
		}
		prompt += words
		n++
		ev := said(fmt.Sprint("e", n), author, words, reported)
		ev.Timestamp = time.Now()
		appendAll(t, svc, sess, ev)
	}
	say("user", 300)
	for len(seen.of(compaction.Stored)) == 0 {
		say("agent", 290)
		flush(t, svc)
		say("user", 300)
		flush(t, svc) // the job runs beside the model, which is shown what was there before
	}
	say("agent", 100)
	if got := status(t, svc); got.PromptTokens > 5000 {
		t.Errorf("%d visible events of 300 tokens at most are taken for %d tokens", got.VisibleEvents, got.PromptTokens)
	}
	say("user", 6000)
	for _, o := range seen.of(compaction.Stored) {
		if o.Inline {
			t.Errorf("the turn waited for a summary of %d events, with 7,000 tokens of 20,000", o.Events)
		}
	}
}

// An agent that is shown nothing of the past reports a small prompt, and the next one's is large.
func TestTheReportOfAnAgentWithoutHistoryDoesNotHideThePrompt(t *testing.T) {
	t.Parallel()
	seen := &notes{}
	cfg, _ := oracleConfig()
	cfg.InvocationThreshold, cfg.Observer, cfg.ContextWindow = compaction.Off, seen.Observe, 20_000
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	prompt := 0
	say := func(turn int, author string, words, reported int) {
		prompt += words
		ev := said(fmt.Sprint(author, turn), author, words, reported)
		ev.InvocationID = fmt.Sprint("inv", turn)
		appendAll(t, svc, sess, ev)
	}
	for turn := range 20 {
		say(turn, "user", 300, 0)
		say(turn, "root", 250, prompt)
		say(turn, "formatter", 50, 400)
	}
	say(20, "user", 9000, 0)
	if got := status(t, svc); len(seen.of(compaction.Stored)) == 0 {
		t.Errorf("a prompt of %d goes out, the hard limit is %d: taken for %d", prompt, got.HardLimit, got.PromptTokens)
	}
}

// ADK copies a peer's usage into the event. The peer must not decide what is compacted here.
func TestTheReportOfARemoteAgentIsNotOurs(t *testing.T) {
	t.Parallel()
	cfg, oracle := oracleConfig()
	cfg.InvocationThreshold = compaction.Off
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	for i := range 60 {
		remote := said(fmt.Sprint("remote", i), "remote", 50, 400_000)
		remote.CustomMetadata = map[string]any{"a2a:context_id": "c"}
		appendAll(t, svc, sess, said(fmt.Sprint("user", i), "user", 50, 0), remote)
	}
	if n := len(oracle.Requests()); n > 0 {
		t.Errorf("%d summaries of a conversation of 6,000 tokens in a window of 128,000", n)
	}
}
