package integration_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/catalog"
	scriptedllm "github.com/adk-go-ext/longsession/internal/scripted"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/layer/prompt/agentsmd"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/layer/subtask/tools"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// overheard is a model whose requests are kept as text, each part of them once.
type overheard struct {
	model.LLM

	mu   sync.Mutex
	seen map[string]bool
	text strings.Builder
}

func (o *overheard) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	o.hear(req.Config)
	for _, content := range req.Contents {
		o.hear(content)
	}
	return o.LLM.GenerateContent(ctx, req, stream)
}

func (o *overheard) hear(part any) {
	var sent bytes.Buffer
	enc := json.NewEncoder(&sent)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(part)
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.seen[sent.String()] {
		o.seen[sent.String()] = true
		o.text.Write(sent.Bytes())
	}
}

func (o *overheard) all() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// chatted is a session with every layer, whose chats write to one screen.
type chatted struct {
	t        *testing.T
	folder   string
	sessions session.Service
	llm      *overheard
	small    model.LLM
	registry *tokens.Registry
	catalog  int // how many tools of an MCP server the agent has
	out, err bytes.Buffer
}

const talkWindow = 32_000

func newTalk(t *testing.T, lines string) *chatted {
	t.Helper()
	play := func(name, text string) model.LLM {
		m, err := scriptedllm.New(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	k := &chatted{t: t, folder: newProject(t).dir, sessions: session.InMemoryService(), llm: &overheard{LLM: play("scripted:talk", lines), seen: map[string]bool{}}}
	k.small = play("scripted:small", `{"text": "The file has 600 lines of readings, none above 40."}`)
	price, _ := tokens.Lookup("gemini-2.5-flash")
	var models []tokens.Model
	for _, name := range []string{"scripted:talk", "scripted:small"} {
		price.Name, price.ContextWindow, price.MaxOutputTokens = name, talkWindow, 4_000
		models = append(models, price)
	}
	var err error
	if k.registry, err = tokens.NewRegistry(models...); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		k.write(fmt.Sprintf("part%d.txt", i), strings.Repeat(fmt.Sprintf("Reading %d is within its bounds. ", i), 40))
	}
	k.write("readings.txt", strings.Repeat("The reading is 17.\n", 600))
	return k
}

func (k *chatted) write(name, text string) {
	k.t.Helper()
	if err := os.WriteFile(filepath.Join(k.folder, name), []byte(text), 0o644); err != nil {
		k.t.Fatal(err)
	}
}

// config has every layer at work. Compactions begin late, so that the window fills up before.
func (k *chatted) config() longsession.Config {
	loader := agentsmd.NewLoader(k.folder)
	loader.Global = ""
	writer, err := summarizer.NewLLM(summarizer.LLMConfig{Model: k.llm, Pack: summarizer.PackHandover, Registry: k.registry})
	if err != nil {
		k.t.Fatal(err)
	}
	cut := func(s toolresult.Strategy) toolresult.Limits {
		return toolresult.Limits{StubAbove: toolresult.Off, MaxTokens: 200, Strategy: s}
	}
	return longsession.Config{
		Model: k.llm, Registry: k.registry,
		Compaction:   compaction.Config{Summarizer: writer, Synchronous: true, InvocationThreshold: compaction.Off},
		Budget:       budget.Config{Thresholds: budget.Thresholds{Compact: 0.9, Block: 0.98}},
		ToolResults:  toolresult.Config{PerTool: map[string]toolresult.Limits{"log_lines": {StubAbove: toolresult.Off, MaxLines: 20}, "log_head": cut(toolresult.Head), "log_tail": cut(toolresult.Tail), "log_both": cut(toolresult.Both)}},
		Prompt:       prompt.Config{Project: loader},
		ContextTools: contexttool.Config{Enabled: true, CheckpointTokens: compaction.Off},
	}
}

// talk runs a chat of its own over the session, as after a restart of the program, and returns what it has shown.
func (k *chatted) talk(cfg longsession.Config, noCheckpoint bool, lines ...string) (out, errs string, failed error) {
	k.t.Helper()
	compactions := &chat.Compactions{}
	cfg.Compaction.Observer = compactions.Observe
	stack, err := longsession.New(k.sessions, cfg)
	if err != nil {
		k.t.Fatal(err)
	}
	files, err := tools.NewFiles(tools.FilesConfig{Root: k.folder})
	if err != nil {
		k.t.Fatal(err)
	}
	defer func() { _ = files.Close() }()
	runner, err := stack.Subtasks(subtask.Config{Model: k.small, Parent: k.llm})
	if err != nil {
		k.t.Fatal(err)
	}
	wrappers, err := runner.Wrappers(files.Tools()...)
	if err != nil {
		k.t.Fatal(err)
	}
	all := append(append(files.Tools(), wrappers...), stack.Tools()...)
	for _, name := range []string{"log_whole", "log_lines", "log_head", "log_tail", "log_both"} {
		all = append(all, logTool(k.t, name))
	}
	for _, t := range catalog.Tools()[:k.catalog] {
		if !slices.ContainsFunc(all, func(other tool.Tool) bool { return other.Name() == t.Name }) {
			all = append(all, &catalogTool{Tool: t, declaration: t.Declaration()})
		}
	}
	bot, err := llmagent.New(llmagent.Config{Name: "assistant", Model: stack.Model(k.llm), Tools: all, Instruction: "You are a helpful assistant."})
	if err != nil {
		k.t.Fatal(err)
	}
	var o, e bytes.Buffer
	c, err := chat.New(chat.Config{
		Agent: bot, Stack: stack, Session: compaction.SessionRef{AppName: "app", UserID: "ada", SessionID: "talk"}, Compactions: compactions, Tools: all, NoCheckpoint: noCheckpoint,
		In: strings.NewReader(strings.Join(lines, "\n") + "\n"), Out: &o, Err: &e, Interrupts: make(chan struct{}),
	})
	if err != nil {
		k.t.Fatal(err)
	}
	failed = c.Run(k.t.Context())
	if err := stack.Close(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
	k.out.Write(o.Bytes())
	k.err.Write(e.Bytes())
	return o.String(), e.String(), failed
}

// logTool returns a tool with a long result.
func logTool(t *testing.T, name string) tool.Tool {
	t.Helper()
	text := ""
	for i := range 300 {
		text += fmt.Sprintf("line %d of the log\n", i)
	}
	made, err := functiontool.New(functiontool.Config{Name: name, Description: "reads the log"}, func(agent.ToolContext, struct{}) (map[string]any, error) {
		return map[string]any{"output": text}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// call is a line of a script: the response to a message is a call of a tool.
func call(when, tool, args string) string {
	return fmt.Sprintf(`{"when": %q, "calls": [{"name": %q, "args": %s}]}`+"\n", when, tool, args)
}

// The script's summaries. They are the answers to the prompts that ask for their headings.
const (
	handover   = `{"when": "# Exact next steps", "text": "# Current state\nThe valves are checked one after the other; the survey of part0.txt to part11.txt is done.\n# Files & changes\nNone.\n# Technical context\nThe readings are within their bounds.\n# Strategy & approach\nOne step of the plan at a time.\n# Exact next steps\n1. Check the valve of the next step."}` + "\n"
	checkpoint = `{"when": "# Where we are", "text": "# Task\nSurvey the readings.\n# Files & changes\nNone.\n# Technical context\nreadings.txt has 600 lines.\n# Strategy & approach\nPart by part.\n# Verification & next steps\nNone.\n# Where we are\nThe survey is finished."}` + "\n"
	planSteps  = 30
)

// Over 50 turns of a chat with every layer at work, the person sees each line in its exact form, and the model sees
// each marker and note.
func TestEachExactLineIsSeenInFiftyTurns(t *testing.T) {
	t.Parallel()
	var answers strings.Builder
	answers.WriteString(`{"text": "Noted: the readings of this step are within their bounds, and the next step can begin. I keep a list of what is done."}` + "\n")
	for i := range 12 {
		answers.WriteString(call(fmt.Sprintf("part %d.", i), "read_file", fmt.Sprintf(`{"path": "part%d.txt"}`, i)))
	}
	answers.WriteString(call("all readings", "read_file", `{"path": "readings.txt"}`))
	answers.WriteString(call("summarize the readings", "agentic_read_file", `{"path": "readings.txt", "question": "Is any reading above 40?"}`))
	for range 5 {
		answers.WriteString(handover)
	}
	answers.WriteString(checkpoint)
	for i := range planSteps {
		answers.WriteString(call(fmt.Sprintf("Step %d of", i), "list_dir", `{"path": "."}`))
	}
	for _, name := range []string{"log_whole", "log_lines", "log_head", "log_tail", "log_both"} {
		answers.WriteString(call("call "+name, name, `{}`))
	}
	answers.WriteString(call("that is all for the survey", "mark_task_done", `{"detail": "finished the survey of the readings"}`))
	k := newTalk(t, answers.String())
	k.catalog = 100

	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for i := range 12 {
		say("Read part %d.", i)
	}
	say("Show me all readings")
	say("Now summarize the readings")
	for _, name := range []string{"log_whole", "log_lines", "log_head", "log_tail", "log_both"} {
		say("call %s", name)
	}
	say("that is all for the survey")
	for i := range planSteps {
		say("Step %d of the plan: %s", i, strings.Repeat("check the valve, write down its reading, close the valve again. ", 75))
	}
	turns := len(lines)
	if turns != 50 {
		t.Fatalf("%d turns, want 50", turns)
	}
	say("/tokens")
	say("/stats")
	say("/compact the valves")
	say("/context")
	say("/compaction-status")
	say("/recall reading of step 3")
	say("/tools")
	say("/help")
	say("/guard")
	out, errs, err := k.talk(k.config(), false, lines...)
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	if n := len(regexp.MustCompile(`(?m)^📊 [\d.]+[KM]?/28\.8K \(\d+\.\d%\)( next summary in about \d+ turns?| ~\d+ turns left)?$`).FindAllString(errs, -1)); n != turns {
		t.Errorf("%d lines about the window, want one for each of %d turns:\n%s", n, turns, errs)
	}
	shows(t, "the screen", out, map[string]string{
		"window": `(?m)^📊 Context Usage:\n   Tokens: \d+ / 28800 \(\d+\.\d% used\)\n   Latest turn: Turn 50 \| Input: \d+, Output: \d+ \| Avg/turn: \d+ \| Total: \d+\n   Compaction threshold: 90%\n   Next summary in about \d+ turns?$`,
		"turn":   `(?m)^Turn 50 \| Input: \d+, Output: \d+ \| Avg/turn: \d+ \| Total: \d+$`,
		"context": `(?m)^Context-management activity:\n` +
			`  Compactions:  \d+ \(last (\d+m)?\d+s ago, focus: the valves\)\n` +
			`  Checkpoints:  1 \(last (\d+m)?\d+s ago, note: finished the survey of the readings\)\n` +
			`  Summarized:   \d+ chars across all boundaries\n` +
			`  Subtasks:     1 \(\d+ in / \d+ out tokens, \$0\.\d{4} rolled up to /stats total\)\n` +
			`  Models:       scripted:talk \(\d+ turns, \d+ in / \d+ out, \$\d+\.\d{4}\)\n` +
			`              \+ scripted:small \(\d+ turns, \d+ in / \d+ out, \$0\.\d{4}\)$`,
		"compacted": `(?m)^Context compacted: [\d,]+ -> [\d,]+ tokens, [\d,]+ events -> [\d,]+\. Everything stays readable in the session\.$`,
		"done":      `(?m)^  /done \[note\] `,
		"mark":      `(?m)^  mark_task_done `,
		"guard":     `(?m)^Session: \$\d+\.\d{4}, \d+ model calls, [\d,]+ tokens; no limit is set\n`,
	})
	shows(t, "standard error", errs, map[string]string{
		"left":       `(?m)^📊 [\d.]+K/28\.8K \(\d+\.\d%\) next summary in about \d+ turns?$`,
		"compaction": `(?m)^Summarized \d+ events: [\d,]+ -> [\d,]+ tokens\. It cost \$\d+\.\d{4}\.$`,
		"next":       `(?m)The next is due at [\d,]+ tokens; the prompt has [\d,]+\.$`,
	})
	shows(t, "the model", k.llm.all(), map[string]string{
		"stub":     `\[Tool result stored — [\d,]+ bytes from \\"log_whole\\"\.\\nFirst 200 chars: .+?Use the \\"read_result\\" tool with ref_id=\\"[\w-]+\\" to read specific portions\.`,
		"elision":  `\[\.\.\. omitted \d+ of 300 lines \.\.\.\]`,
		"head":     `\[truncated: kept first ~\d+ of ~\d+ tokens \(head\)\]`,
		"tail":     `\[truncated: kept last ~\d+ of ~\d+ tokens \(tail\)\]`,
		"both":     `\[truncated: kept first\+last ~\d+ of ~\d+ tokens \(both\)\]`,
		"masked":   `\[result masked — ~\d+ tokens removed\]`,
		"note":     `\[Context: \d+% used\. You can call compact_context to free space before continuing with large operations\.\]`,
		"rules":    `House rules`,
		"deferred": `\[\d+ tools deferred to save context\. Use tool_search to find them\.\]`,
		"headings": `# Task.*# Files & changes.*# Technical context.*# Strategy & approach.*# Verification & next steps.*# Where we are`,
		"handover": `# Current state.*# Files & changes.*# Technical context.*# Strategy & approach.*# Exact next steps`,
	})

	ref := regexp.MustCompile(`bytes from \\"log_whole\\".*?ref_id=\\"([\w-]+)\\" to read`).FindStringSubmatch(k.llm.all())
	if ref == nil {
		t.Fatal("no result has a reference")
	}
	out, _, err = k.talk(k.config(), true, "/result "+ref[1], "/help", "/tools", "/tokens", "/history 1")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out, " of the log\n"); n != 300 {
		t.Errorf("/result shows %d lines of 300", n)
	}
	if strings.Contains(out, "/done") || strings.Contains(out, "mark_task_done") || strings.Contains(out, "checkpoint") {
		t.Errorf("--no-checkpoint leaves something of it:\n%s", out)
	}
	shows(t, "the screen after a restart", out, map[string]string{
		"window": `(?m)^📊 Context Usage:\n   Tokens: [1-9]\d* / 28800 \(\d+\.\d% used\)\n   Latest turn: none since this chat began`,
		"newest": `(?m)^\S+ \S+  assistant: Noted: the readings`,
	})
	k.stopAndGoOn(t)
}

// A turn whose calls alone fill the window goes on while the summarizer fails, and the person is told of both: the
// failure, and the summary without a model in its place.
func TestAFailedSummaryIsToldInAFullWindow(t *testing.T) {
	t.Parallel()
	var answers strings.Builder
	for i := range 45 {
		answers.WriteString(call("long haul", "list_dir", fmt.Sprintf(`{"path": ".", "note": %q}`, strings.Repeat(fmt.Sprintf("reason %d ", i), 300))))
	}
	answers.WriteString(`{"text": "That was a long way."}` + "\n")
	k := newTalk(t, answers.String())
	cfg := k.config()
	cfg.Compaction.Summarizer = summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
		return summarizer.Result{}, errors.New("the writer is away")
	})
	out, errs, err := k.talk(cfg, false, "Begin the long haul.")
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	shows(t, "the screen", out, map[string]string{"answer": `(?m)^That was a long way\.$`})
	shows(t, "standard error", errs, map[string]string{
		"failure": `(?m)^The conversation was not summarized: .*the writer is away\. It stays as it is\.$`,
		"rescue":  `(?m)^Summarized \d+ events: [\d,]+ -> [\d,]+ tokens\.$`,
	})
}

// cramped is a model with a small window: it looks with a tool until it is asked what it sees, and then quotes the
// beginning of its request. Whoever calls it drops what does not fit.
type cramped struct{ window int }

func (cramped) Name() string { return "cramped" }

func (m cramped) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		toolresult.Drop(req, func() bool { return tokens.OfContents(req.Contents) <= m.window })
		switch newest := req.Contents[len(req.Contents)-1].Parts[0]; {
		case newest.FunctionResponse != nil:
			yield(compactiontest.Say("I have looked."), nil)
		case newest.Text == "What do you see?":
			yield(compactiontest.Say(req.Contents[0].Parts[0].Text), nil)
		default:
			yield(compactiontest.CallTool("look", nil), nil)
		}
	}
}

// An app whose model drops old tool rounds says so to the model, and a person who asks for it reads the notice.
func TestTheNoticeOfOmittedMessagesIsReadOnTheScreen(t *testing.T) {
	t.Parallel()
	bot, err := llmagent.New(llmagent.Config{Name: "assistant", Model: cramped{2_000}, Tools: []tool.Tool{logTool(t, "look")}})
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	c, err := chat.New(chat.Config{
		Agent: bot, Sessions: session.InMemoryService(), Session: compaction.SessionRef{AppName: "app", UserID: "ada", SessionID: "talk"},
		In: strings.NewReader(strings.Repeat("Look.\n", 5) + "What do you see?\n"), Out: &out, Err: &errs, Interrupts: make(chan struct{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &errs)
	}
	shows(t, "the screen", out.String(), map[string]string{"notice": `(?m)^\[conversation truncated — 8 older messages omitted\]$`})
}

// stopAndGoOn stops the session at a ceiling below what it has spent, and lets it go on.
func (k *chatted) stopAndGoOn(t *testing.T) {
	cfg := k.config()
	cfg.Guard = guard.Config{Session: guard.Limits{USD: tokens.Cent}}
	_, errs, err := k.talk(cfg, false, "Go on.")
	if !errors.Is(err, guard.ErrStopped) {
		t.Fatalf("error %v, want that of a guard", err)
	}
	shows(t, "standard error of a stopped session", errs, map[string]string{"stopped": `This session is stopped: .*cost_ceiling: the session has used \$\d+\.\d{4} of \$0\.0100`})
	out, _, err := k.talk(cfg, false, "/guard", "/resume-after-cost-ceiling +0.01")
	if err == nil || !regexp.MustCompile(`^the session stays stopped: \$\d+\.\d{4} of \$0\.0200 are used\. To go on, add at least this: /resume-after-cost-ceiling \+\d+\.\d{2}$`).MatchString(err.Error()) {
		t.Errorf("too little is added: error %v", err)
	}
	needed := regexp.MustCompile(`(?m)^Stopped: .* To go on, add at least this: (/resume-after-cost-ceiling \+\d+\.\d{2})$`).FindStringSubmatch(out)
	if needed == nil {
		t.Fatalf("/guard does not say what to do:\n%s", out)
	}
	out, _, err = k.talk(cfg, false, needed[1], "/guard", "Go on.")
	if err != nil {
		t.Errorf("after %s: %v\n%s", needed[1], err, out)
	}
	shows(t, "the screen after a reset", out, map[string]string{
		"goes on": `(?m)^The session goes on: added \$\d+\.\d{4}\.$`,
		"granted": `(?m)^Granted: added \$\d+\.\d{4}; it is part of the limits above$`,
		"free":    `(?m)^No limit is reached\.$`,
		"answer":  `(?m)^Noted: the readings`,
	})
}

// shows reports the texts that were not seen.
func shows(t *testing.T, where, text string, want map[string]string) {
	t.Helper()
	for name, pattern := range want {
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("%s does not show %s: %s", where, name, pattern)
			if len(text) < 20_000 {
				t.Logf("%s:\n%s", where, text)
			}
		}
	}
}
