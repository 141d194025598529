package integration_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// The environment of a process that ends itself in the midst of a turn.
const (
	victimStore = "LONGSESSION_VICTIM_STORE" // database or persistence
	victimPath  = "LONGSESSION_VICTIM_PATH"
	victimStep  = "LONGSESSION_VICTIM_STEP" // at which it dies
)

// deadly ends its process with SIGKILL at a step. Steps are counted from the moment at which the call of
// mark_task_done is stored: before and after each write, and at each call of the summarizer.
type deadly struct {
	at, steps atomic.Int64
	armed     atomic.Bool
}

func (d *deadly) step() {
	if d.armed.Load() && d.steps.Add(1) == d.at.Load() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until the signal arrives
	}
}

// write does one write, with a step before and after it.
func (d *deadly) write(ev *session.Event, store func() error) error {
	d.step()
	err := store()
	if err == nil && ev.Content != nil {
		for _, part := range ev.Content.Parts {
			if part.FunctionCall != nil && part.FunctionCall.Name == contexttool.MarkTaskDoneName {
				d.armed.Store(true)
			}
		}
	}
	d.step()
	return err
}

// deadlyService is any service whose process dies in a write.
type deadlyService struct {
	session.Service
	*deadly
}

func (s deadlyService) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	return s.write(ev, func() error { return s.Service.AppendEvent(ctx, sess, ev) })
}

// deadlyFile is the same for the service on a file, whose records are written apart.
type deadlyFile struct {
	*persistence.SQLiteSessionService
	*deadly
}

func (s deadlyFile) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	return s.write(ev, func() error { return s.SQLiteSessionService.AppendEvent(ctx, sess, ev) })
}

func (s deadlyFile) AppendRecord(ctx context.Context, sess session.Session, ev *session.Event) error {
	return s.write(ev, func() error { return s.SQLiteSessionService.AppendRecord(ctx, sess, ev) })
}

// openVictim opens a storage by name; d may be nil.
func openVictim(t *testing.T, store, path string, d *deadly) session.Service {
	t.Helper()
	if store == "database" {
		inner := storages.OpenDatabase(t, path, true)
		if d == nil {
			return inner
		}
		return deadlyService{inner, d}
	}
	inner, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inner.Close() })
	if d == nil {
		return inner
	}
	return deadlyFile{inner, d}
}

// marked is an app whose agent marks the task as done when it is told to finish, with a summarizer that
// counts as a step.
func marked(t *testing.T, inner session.Service, d *deadly) (*compaction.CompactionSessionService, *runner.Runner) {
	t.Helper()
	cfg := contexttool.Config{Enabled: true, CheckpointTokens: compaction.Off}
	oracle := &compactiontest.Oracle{}
	svc, err := compaction.NewCompactionService(inner, cfg.Compaction(compaction.Config{
		Summarizer:          steppingSummarizer{oracle, d},
		InvocationThreshold: compaction.Off, TokenThreshold: compaction.Off,
	}))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := contexttool.New(svc, cfg)
	if err != nil {
		t.Fatal(err)
	}
	llm := compactiontest.NewModel("scripted", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		if last := req.Contents[len(req.Contents)-1].Parts[0]; strings.HasPrefix(last.Text, "Finish") {
			return compactiontest.CallTool(contexttool.MarkTaskDoneName, map[string]any{"detail": "the survey"})
		}
		return compactiontest.Say(strings.Repeat("The price of flowers is 12 EUR. ", 20))
	})
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Model: llm, Tools: tools.Tools()})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{AppName: ref.AppName, Agent: bot, SessionService: svc, AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	return svc, r
}

// steppingSummarizer takes a step before it answers.
type steppingSummarizer struct {
	*compactiontest.Oracle
	d *deadly
}

func (s steppingSummarizer) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	if s.d != nil {
		s.d.step()
	}
	return s.Oracle.Summarize(ctx, req)
}

func sayTo(r *runner.Runner, text string) error {
	for _, err := range r.Run(context.Background(), ref.UserID, ref.SessionID, genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestACheckpointSurvivesKillAtEveryWrite kills a process at every write after the call of
// mark_task_done was stored. After a restart the checkpoint is there, once.
func TestACheckpointSurvivesKillAtEveryWrite(t *testing.T) {
	if os.Getenv(victimStore) != "" {
		playVictim(t)
		return
	}
	t.Parallel()
	for _, store := range []string{"database", "persistence"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			kills := 0
			for step := 1; ; step++ {
				path := filepath.Join(t.TempDir(), "victim.db")
				_, r := marked(t, openVictim(t, store, path, nil), nil)
				for i := range 4 {
					if err := sayTo(r, fmt.Sprintf("Question %d. ", i)+compactiontest.Fact(i+1)); err != nil {
						t.Fatal(err)
					}
				}
				cmd := exec.Command(os.Args[0], "-test.run=^TestACheckpointSurvivesKillAtEveryWrite$", "-test.count=1")
				cmd.Env = append(os.Environ(), victimStore+"="+store, victimPath+"="+path, victimStep+"="+strconv.Itoa(step))
				out, err := cmd.CombinedOutput()
				var exit *exec.ExitError
				killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled()
				if err != nil && !killed {
					t.Fatalf("step %d: %v\n%s", step, err, out)
				}
				kills += checkVictim(t, store, path, step, killed)
				if !killed {
					break
				}
				if step > 50 {
					t.Fatal("the process never gets to its end")
				}
			}
			t.Logf("killed at %d steps", kills)
			if kills < 7 {
				t.Errorf("only %d kills: the test looks in the wrong place", kills)
			}
		})
	}
}

// checkVictim goes on where the victim died: with a Get alone, and with the next turn.
func checkVictim(t *testing.T, store, path string, step int, killed bool) (kills int) {
	t.Helper()
	inner := openVictim(t, store, path, nil)
	svc, _ := marked(t, inner, nil)
	count := func(when string) {
		t.Helper()
		resp, err := svc.Raw(t.Context(), getRequest())
		if err != nil {
			t.Fatal(err)
		}
		checkpoints := 0
		for ev := range resp.Session.Events().All() {
			if m, err := record.From(ev); err == nil && m != nil && m.Kind == record.KindCheckpoint {
				checkpoints++
				if m.Note != "the survey" || len(m.Covered) != 8 {
					t.Errorf("step %d, %s: note %q over %d events", step, when, m.Note, len(m.Covered))
				}
			}
		}
		if checkpoints != 1 {
			t.Errorf("killed %t at step %d, %s: %d checkpoints", killed, step, when, checkpoints)
		}
	}
	if _, err := svc.Get(t.Context(), getRequest()); err != nil {
		t.Fatal(err)
	}
	if err := svc.Close(t.Context()); err != nil { // waits for the job that the Get has started
		t.Fatal(err)
	}
	count("after a Get")
	svc, r := marked(t, inner, nil)
	defer func() { _ = svc.Close(context.Background()) }()
	for i := range 2 {
		if err := sayTo(r, "And now?"); err != nil {
			t.Errorf("step %d: the next turn: %v", step, err)
		}
		if err := svc.Flush(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		count(fmt.Sprintf("%d turns later", i+1))
	}
	if killed {
		return 1
	}
	return 0
}

// playVictim is the process that dies.
func playVictim(t *testing.T) {
	d := &deadly{}
	at, err := strconv.Atoi(os.Getenv(victimStep))
	if err != nil {
		t.Fatal(err)
	}
	d.at.Store(int64(at))
	svc, r := marked(t, openVictim(t, os.Getenv(victimStore), os.Getenv(victimPath), d), d)
	if err := sayTo(r, "Finish it."); err != nil {
		t.Fatal(err)
	}
	if err := svc.Flush(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if err := svc.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
