package audit_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
)

// TestThePromptAtEachAnswerIsWhatTheModelSaw: an app reads its session in front of each call of the model, and afterwards
// the file says the same of each of them, long after other summaries took the place of those.
func TestThePromptAtEachAnswerIsWhatTheModelSaw(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	stored := writing(t, path)
	svc := compacting(t, stored)
	sess := create(t, svc, user, "order-1")
	req := &session.GetRequest{AppName: app, UserID: user, SessionID: "order-1"}
	saw := map[string][]string{} // by the ID of the answer
	for _, ev := range said(40) {
		if ev.Author != "user" && ev.Content.Role == "model" {
			now, err := svc.Get(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			saw[ev.ID] = []string{}
			for seen := range now.Session.Events().All() {
				text, err := json.Marshal(seen.Content)
				if err != nil {
					t.Fatal(err)
				}
				saw[ev.ID] = append(saw[ev.ID], string(text))
			}
		}
		if err := svc.AppendEvent(t.Context(), sess, ev); err != nil {
			t.Fatal(err)
		}
	}
	f := open(t, path)
	s := find(t, f, "")
	summaries, checked := map[string]bool{}, 0
	for row, err := range f.Rows(t.Context(), s, 0, -1) {
		if err != nil {
			t.Fatal(err)
		}
		want, is := saw[row.ID]
		if !is {
			continue
		}
		p, entries, err := audit.ReadPrompt(t.Context(), f, s, audit.At{Seq: row.Seq}, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			text, err := json.Marshal(e.Content)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(text))
			if e.Record != nil {
				summaries[e.Record.RecordID] = true
			}
			if e.CoveredBy != "" || e.Record != nil && (e.Record.AbsorbedBy != "" || e.Record.State != audit.Current) {
				t.Errorf("event %d: the prompt knows what was stored later: %+v", row.Seq, e)
			}
		}
		if !slices.Equal(got, want) || p.Answer != row.Seq || p.Events != len(want) {
			t.Fatalf("the prompt that event %d answered has %d events, and the model saw %d:\n%s\n%s", row.Seq, len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		checked++
	}
	if checked != 80 || len(summaries) < 8 {
		t.Errorf("%d prompts were compared, with %d summaries", checked, len(summaries))
	}
}

func TestAPlaceIsAnEventOrATurn(t *testing.T) {
	t.Parallel()
	h := &ct.History{}
	for n := range 3 {
		id := fmt.Sprint("i", n)
		h.User(id, "q").Call(id, "bot", "t", fmt.Sprint("c", n)).Response(id, "bot", "t", "r", fmt.Sprint("c", n)).Agent(id, "bot", "done")
	}
	h.Compact("r1", "e1", "e2", "e3", "e4").User("i3", "and now?")
	f := open(t, built(t, h))
	s := find(t, f, "")
	for text, want := range map[string]string{
		"":      "0 turn 4 [] 10 events",   // the next prompt
		"2":     "2 turn 1 [2 4] 1 events", // an answer
		"3":     "4 turn 1 [2 4] 3 events", // the response of a tool: the call behind it
		"5":     "6 turn 2 [6 8] 5 events", // a message: the call that answers it
		"turn2": "8 turn 2 [6 8] 7 events", // the last call of a turn
		"12":    "12 turn 3 [10 12] 11 events",
		"13":    "0 turn 4 [] 10 events", // a record, and nothing was answered since
		"99":    `session "shop/ada/order-1" has no event 99: its newest is 14`,
		"turn4": `turn 4 of session "shop/ada/order-1" has no answer of a model`,
		"turn5": `session "shop/ada/order-1" has no turn 5: it has 4`,
		"0":     `"0" is neither the number of an event, such as 47, nor that of a turn, such as turn12`,
		"-1":    `"-1" is neither the number of an event, such as 47, nor that of a turn, such as turn12`,
		"turn":  `"turn" is neither the number of an event, such as 47, nor that of a turn, such as turn12`,
		"now":   `"now" is neither the number of an event, such as 47, nor that of a turn, such as turn12`,
	} {
		at, err := audit.ParseAt(text)
		var p *audit.Prompt
		if err == nil {
			p, _, err = audit.ReadPrompt(t.Context(), f, s, at, 0, -1)
		}
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%d turn %d %v %d events", p.Answer, p.Turn, p.Calls, p.Events)
		}
		if got != want {
			t.Errorf("at %q: %s, want %s", text, got, want)
		}
	}
}

func TestAChangeSaysWhatACompactionTookAndGave(t *testing.T) {
	t.Parallel()
	f := open(t, built(t, (&ct.History{}).Turns(4, "bot").Compact("r1", "e1", "e2", "e3").Turns(1, "bot")))
	s := find(t, f, "")
	c, err := audit.ReadChange(t.Context(), f, s, audit.At{Seq: 8}, audit.At{Seq: 11})
	if err != nil {
		t.Fatal(err)
	}
	told := func(entries []audit.Entry) string {
		var out []string
		for _, e := range entries {
			out = append(out, e.ID)
		}
		return strings.Join(out, " ")
	}
	if told(c.Gone) != "e1 e2 e3" || !strings.HasPrefix(told(c.Come), "r1 e8 ") || c.Kept != 4 || len(c.Other) != 0 {
		t.Errorf("gone %s, come %s, other %s, kept %d", told(c.Gone), told(c.Come), told(c.Other), c.Kept)
	}
}

// TestTheQuestionOfTheDocumentsShowsTheSamePrompt: the query of docs/schema.md for what the model saw has the events and
// as many summaries as the prompt, at each answer.
func TestTheQuestionOfTheDocumentsShowsTheSamePrompt(t *testing.T) {
	t.Parallel()
	path := made(t, 25)
	_, part, _ := strings.Cut(bytesOf(t, "../../../../docs/schema.md"), "17. What did the model see")
	_, part, _ = strings.Cut(part, "```sql\n")
	query, _, _ := strings.Cut(part, "```")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	f := open(t, path)
	s := find(t, f, "")
	checked := 0
	for seq := int64(1); seq <= s.Events; seq++ {
		p, entries, err := audit.ReadPrompt(t.Context(), f, s, audit.At{Seq: seq}, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		if p.Answer != seq {
			continue
		}
		var want, got []int64
		for _, e := range entries {
			want = append(want, e.Seq)
		}
		rows, err := db.QueryContext(t.Context(), strings.ReplaceAll(query, "seq < 7", fmt.Sprint("seq < ", seq)))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var place int64
			var author, text string
			if err := rows.Scan(&place, &author, &text); err != nil {
				t.Fatal(err)
			}
			if got = append(got, place); author == "" || text == "" {
				t.Errorf("event %d: the row %d says nothing: %q %q", seq, place, author, text)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("what event %d answered: the query has %v, the prompt %v", seq, got, want)
		}
		checked++
	}
	if checked != 50 {
		t.Errorf("%d prompts were compared", checked)
	}
}

// TestARecordRightBeforeAnAnswerIsNamed: whether the model had seen its summary is not in the file.
func TestARecordRightBeforeAnAnswerIsNamed(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(3, "bot").User("i", "and now?").Compact("r1", "e1", "e2").Agent("i", "bot", "Here.").Agent("i", "bot", "And there.")
	f := open(t, built(t, h))
	for seq, want := range map[int64]int64{2: 0, 9: 8, 10: 0} {
		p, _, err := audit.ReadPrompt(t.Context(), f, find(t, f, ""), audit.At{Seq: seq}, 0, -1)
		if err != nil || p.Answer != seq || p.Late != want {
			t.Errorf("event %d: %+v, %v, want the record %d", seq, p, err, want)
		}
	}
}
