package recall_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/said"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// vague summarizes anything in the same words, as a model's.
type vague struct{}

func (vague) Summarize(context.Context, summarizer.Request) (summarizer.Result, error) {
	return summarizer.Result{Content: genai.NewContentFromText("They talked about several wishes, and how the walls of the house are to be painted.", genai.RoleModel), Model: "writer"}, nil
}

// pasted is a message of about 2,000 tokens, in one line.
func pasted() string {
	text := "Paint the house by this list."
	for i := range 160 {
		text += fmt.Sprintf(" Wall %d of house %d gets the color number %d.", i, i%7, 4000+13*i)
		if i == 80 {
			text += " The heliotrope parlor stays as it is, whatever the list says."
		}
	}
	return text + " Never paint the roof."
}

// What the prompt shows of a long message in part is found by the words of its middle, and read as a whole.
func TestAMessageThatIsShownInPartIsReadAsAWhole(t *testing.T) {
	t.Parallel()
	svc, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{
		Summarizer: vague{}, InvocationThreshold: compaction.Off, TokenThreshold: compaction.Off, MaxLedgerTokens: compaction.Off, RecallTool: recall.ToolName,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close(context.Background()) })
	whole := pasted()
	if n := tokens.Estimate(whole); n < 1800 || n > 2600 {
		t.Fatalf("the message has %d tokens", n)
	}
	texts := []string{"user: " + whole, "bot: " + strings.Repeat("I have read the list of all the walls with care, and begin. ", 900)}
	for i := range 10 {
		texts = append(texts, fmt.Sprintf("user: What about item %d?", i), fmt.Sprintf("bot: Item %d is in stock.", i))
	}
	store(t, svc, ref, texts...)
	compact(t, svc, ref)
	resp, err := svc.Get(t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	shown := resp.Session.Events().At(0).Content.Parts[0].Text
	if !strings.Contains(shown, "Paint the house by this list.") || !strings.Contains(shown, said.CutMark) || !strings.Contains(shown, "Never paint the roof.") || strings.Contains(shown, "heliotrope") {
		t.Fatalf("the block is not what this test is about: %s", shown)
	}

	r := recaller(t, svc, recall.Config{})
	if got := answers(t, svc, r, map[string]any{"query": "heliotrope parlor"})[0]; !strings.Contains(got, "heliotrope parlor stays as it is") || !strings.Contains(got, ", m1] ") {
		t.Fatalf("found %s", got)
	}
	next, got := "m1", ""
	for part := 1; part < 5; part++ {
		p, err := r.Turn(t.Context(), ref, "", next)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, l := range p.Lines {
			size += tokens.Estimate(l.String()) + 1
		}
		if size > 1500 {
			t.Errorf("%s: %d tokens are returned", next, size)
		}
		l := p.Lines[0]
		if l.Ref != next || !l.Found {
			t.Fatalf("%s: the first line is %+v", next, l)
		}
		got += l.Text
		if !l.Cut {
			break
		}
		next = fmt.Sprintf("m1/%d", part+1)
	}
	if got != whole {
		t.Errorf("read %d of %d bytes, the end is %q", len(got), len(whole), got[max(0, len(got)-80):])
	}
}

// The model is told how to read on, and that it has all of it.
func TestAModelReadsALongMessageInParts(t *testing.T) {
	t.Parallel()
	svc := service(t)
	store(t, svc, ref, append([]string{"user: " + pasted()}, long()...)...)
	compact(t, svc, ref)
	r := recaller(t, svc, recall.Config{})
	goesOn := regexp.MustCompile(`\[End of earlier messages\. recall_turn\("(m1/\d+)"\) goes on with m1\.\]`)
	next, parts := "m1", 0
	for ; next != "" && parts < 9; parts++ {
		got := answersOf(t, svc, r, recall.TurnToolName, map[string]any{"ref": next})[0]
		next = ""
		if m := goesOn.FindStringSubmatch(got); m != nil {
			next = m[1]
		} else if !strings.Contains(got, "Never paint the roof.") || !strings.Contains(got, "[End of earlier messages.]") {
			t.Fatalf("part %d: %s", parts+1, got)
		}
	}
	if parts != 2 {
		t.Errorf("%d parts", parts)
	}
	for _, bad := range []string{"m1/0", "m1/3", "m1/99999999999999999999", "m1/", "m1/-1", "m1/x", "m2/2", "m999/2"} {
		if got := answersOf(t, svc, r, recall.TurnToolName, map[string]any{"ref": bad})[0]; !strings.Contains(got, "There is no such message") {
			t.Errorf("%s: %s", bad, got)
		}
	}
}

// Parts are whole characters, and together they are the message, however long it is.
func TestTheLongestMessageIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]string{"letters": "abcdefghij", "words": "wall 17 ", "emoji": "🏠", "accents": "é", "Chinese": "墙", "right to left": "קיר "} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := strings.TrimSpace(strings.Repeat(one, 100_000/len(one))) + " the end"
			svc := service(t)
			store(t, svc, ref, append([]string{"user: " + whole}, long()...)...)
			r := recaller(t, svc, recall.Config{})
			got := ""
			for part, more := 1, true; more; part++ {
				p, err := r.Turn(t.Context(), ref, "", fmt.Sprintf("m1/%d", part))
				if err != nil {
					t.Fatal(err)
				}
				if !utf8.ValidString(p.Lines[0].Text) || p.Lines[0].Text == "" {
					t.Fatalf("part %d is %q", part, p.Lines[0].Text)
				}
				got, more = got+p.Lines[0].Text, p.Lines[0].Cut
			}
			if got != whole {
				t.Errorf("read %d of %d bytes, the end is %q", len(got), len(whole), got[max(0, len(got)-80):])
			}
		})
	}
}
