package audit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
)

// verified returns the findings of a file as "rule seq", and how much was checked.
func verified(t *testing.T, path string, maxSummaries int) (found []string, texts string, done audit.Checked) {
	t.Helper()
	f := open(t, path)
	sessions, err := f.Sessions(t.Context(), audit.Narrow{})
	if err != nil {
		t.Fatal(err)
	}
	checked, unchained := 0, 0
	done, err = f.Verify(t.Context(), sessions, maxSummaries, func(one audit.Finding) error {
		if one.Rule == audit.RuleChain { // any change of a row is one, see TestVerifyFindsRowsThatLeftTheChain
			unchained++
			return nil
		}
		found = append(found, fmt.Sprint(one.Rule, " ", one.Seq))
		texts += one.Text + "\n"
		if one.Session == "" && !slices.Contains([]string{audit.RuleIntegrity, audit.RuleForeignKey, audit.RuleSchema}, one.Rule) {
			t.Errorf("finding %+v names no session", one)
		}
		return nil
	}, func(*audit.Session) { checked++ })
	if err != nil {
		t.Fatal(err)
	}
	if checked != len(sessions) || done.Sessions != checked || done.Findings != len(found)+unchained {
		t.Errorf("%d sessions of %d were checked, %+v for %d findings", checked, len(sessions), done, len(found))
	}
	return found, texts, done
}

func TestAFileThatAnAppMadeIsFine(t *testing.T) {
	t.Parallel()
	for _, turns := range []int{1, 12, 40} {
		path := made(t, turns)
		found, texts, done := verified(t, path, 5)
		if len(found) != 0 {
			t.Errorf("%d turns: %v\n%s", turns, found, texts)
		}
		if done.Events < int64(4*turns) || done.Views != 1 || turns > 5 && done.Records == 0 {
			t.Errorf("%d turns: %+v was checked", turns, done)
		}
	}
}

// TestGeneratedHistoriesAreFine: whatever calls, branches and records there are, marks that
// persistence has set are those that the records say.
func TestGeneratedHistoriesAreFine(t *testing.T) {
	t.Parallel()
	records, contested := 0, 0
	for n := range 30 {
		random := rand.New(rand.NewPCG(uint64(n), 1))
		seen := map[string]bool{}
		h := &ct.History{}
		for _, ev := range histories.Generate(40, random.IntN) {
			if ev != nil && !seen[ev.ID] { // a file has no two events of one ID
				seen[ev.ID] = true
				h.Events = append(h.Events, ev)
			}
		}
		path := built(t, h)
		found, texts, done := verified(t, path, 1000)
		for _, f := range found {
			if rule, _, _ := strings.Cut(f, " "); slices.Contains([]string{audit.RuleCoveredBy, audit.RuleConflicted, audit.RuleHidden, audit.RuleAppended, audit.RuleFormed, audit.RuleLinks, audit.RuleTimes, audit.RuleSchema}, rule) {
				t.Errorf("history %d: %s\n%s", n, f, texts)
			}
		}
		records += done.Records
		if find(t, open(t, path), "").Contested {
			contested++
		}
	}
	if records < 10 || contested == 0 {
		t.Errorf("the histories have %d records, and %d are contested", records, contested)
	}
}

func TestEachKindOfDamageIsFound(t *testing.T) {
	t.Parallel()
	waits := func() *ct.History {
		return (&ct.History{}).User("i", "q").LongCall("i", "bot", "t", "c").Agent("i", "bot", "I wait.").Turns(2, "bot")
	}
	remote := func() *ct.History {
		h := (&ct.History{}).Turns(1, "far").Turns(2, "bot")
		h.Events[1].CustomMetadata = map[string]any{"a2a:context_id": "x"}
		return h
	}
	many := (&ct.History{}).Turns(7, "bot")
	for i := range 6 {
		many.Compact(fmt.Sprint("r", i), fmt.Sprint("e", 2*i+1), fmt.Sprint("e", 2*i+2))
	}
	plain := func() *ct.History { return (&ct.History{}).Turns(4, "bot").Compact("r1", "e1", "e2") }
	tools := func() *ct.History {
		return (&ct.History{}).User("i", "q").Call("i", "bot", "t", "a").Response("i", "bot", "t", "r", "a").Agent("i", "bot", "done").Turns(2, "bot")
	}
	stateful := func() *ct.History {
		h := plain()
		h.Events[2].Actions.StateDelta = map[string]any{"plan": 1, "more": map[string]any{"b": []any{1.5, nil, "<&>"}, "a": 1e21}, "temp:x": 1, "app:x": 1, "user:x": 1}
		h.Events[4].Actions.StateDelta = map[string]any{"plan": int64(9007199254740993)}
		return h
	}
	unreadable := func() *ct.History {
		h := plain()
		h.Last().CustomMetadata[record.Key] = map[string]any{"version": 9.0}
		return h
	}
	for name, r := range map[string]struct {
		history *ct.History
		damage  []string
		want    []string
		says    string
	}{
		"hidden from an app, and no record says so": {plain(), []string{"UPDATE events SET covered_by = 'r1' WHERE seq = 4"}, []string{"covered_by 4", "I1 4"}, `according to the records nothing covers it`},
		"a mark is missing":                         {plain(), []string{"UPDATE events SET covered_by = NULL WHERE seq = 1"}, []string{"covered_by 1"}, `"r1" covers it`},
		"a mark of another record":                  {plain(), []string{"UPDATE events SET covered_by = 'r0' WHERE seq = 1"}, []string{"covered_by 1"}, `covered by "r0"`},
		"an event was deleted":                      {plain(), []string{"DELETE FROM events WHERE seq IN (4, 5)"}, []string{"I2 4"}, "events 4 to 5 are missing"},
		"the last event was deleted":                {(&ct.History{}).Turns(2, "bot"), []string{"DELETE FROM events WHERE seq = 4"}, []string{"I2 0"}, "newest event is 4 according to the session, but it is 3"},
		"the count is wrong":                        {plain(), []string{"UPDATE sessions SET last_seq = 99"}, []string{"I2 0"}, "newest event is 99 according to the session, but it is 9"},
		"half of a call is hidden":                  {tools(), []string{"UPDATE events SET unit = NULL, covered_by = 'x' WHERE seq = 2"}, []string{"links 2", "covered_by 2", "I1 2", "I3 3"}, "response e3 is shown without its call e2"},
		"an open call is hidden":                    {waits().Compact("r1", "e1", "e2", "e3"), nil, []string{"I4 2"}, "a call that waits for its answer"},
		"a remote agent's newest event is hidden":   {remote().Compact("r1", "e1", "e2"), nil, []string{"I4 2"}, "remote agent"},
		"a running turn's message is hidden":        {(&ct.History{}).Turns(2, "bot").User("last", "go").Call("last", "bot", "t", "a").Response("last", "bot", "t", "r", "a").User("last", "hurry").Compact("r1", "e5"), nil, []string{"I4 5"}, "running turn"},
		"the newest agent event is hidden":          {plain().Compact("r2", "e7", "e8"), []string{"UPDATE sessions SET last_agent = NULL"}, []string{"links 0", "I4 8"}, "newest agent event"},
		"too many summaries":                        {many, nil, []string{"I5 0"}, "shows 6 summaries, but 5 are allowed"},
		"a record that cannot be read":              {unreadable(), nil, []string{"record 9"}, "version"},
		"a record under another ID":                 {plain(), []string{"UPDATE events SET record_id = 'x' WHERE seq = 9"}, []string{"record 9"}, `is the record "r1" but marked as "x"`},
		"an event marked as a record":               {plain(), []string{"UPDATE events SET record_id = 'x' WHERE seq = 4"}, []string{"record 4"}, "but is not one"},
		"not marked as contested":                   {plain().Compact("r2", "e2", "e3"), []string{"UPDATE sessions SET contested = 0"}, []string{"contested 0"}, "cover an event twice"},
		"an event that cannot be read":              {plain(), []string{"UPDATE events SET content = '{' WHERE seq = 4"}, []string{"event 4"}, "the rest of this session was not checked"},
		"text that is stored as bytes":              {plain(), []string{"UPDATE events SET content = CAST(content AS BLOB), branch = CAST(branch AS BLOB) WHERE seq = 4"}, []string{"event 4"}, "column branch, content"},
		"state of nobody":                           {plain(), []string{"PRAGMA foreign_keys = OFF", "INSERT INTO session_state VALUES (99, 'k', '1')"}, []string{"foreign_key 0"}, "table session_state refers to a missing row of table sessions"},
		"an index is damaged": {plain(), []string{"PRAGMA writable_schema = ON",
			"UPDATE sqlite_schema SET sql = replace(sql, 'covered_by IS NOT NULL', 'covered_by IS NULL') WHERE name = 'events_covered'"}, []string{"schema 0", "integrity 0"}, "events_covered"},
		"an event before the first":          {plain(), []string{"UPDATE sessions SET last_seq = 10", "INSERT INTO events (session, seq, id, time, invocation_id, author, branch, content) SELECT session, 0, 'planted', time, 'x', author, branch, content FROM events WHERE seq = 7"}, []string{"I2 0", "I2 0", "I2 1"}, "has the number 0"},
		"an event far behind the last":       {plain(), []string{"UPDATE events SET seq = 9223372036854775807 WHERE seq = 9"}, []string{"I2 9", "I2 0"}, "events 9 to 9223372036854775806 are missing"},
		"a unit is missing":                  {tools(), []string{"UPDATE events SET unit = NULL WHERE seq = 3"}, []string{"links 3"}, "the column unit is NULL, but must be 2"},
		"an anchor of no rounds":             {plain(), []string{"UPDATE events SET anchor = 5 WHERE seq = 9"}, []string{"links 9"}, "the column anchor is 5, but must be NULL"},
		"a call is missing":                  {tools(), []string{"DELETE FROM calls"}, []string{"links 0"}, "the table calls disagrees with the calls of the events (0 rows, 1 calls)"},
		"a turn is missing":                  {plain(), []string{"DELETE FROM invocations WHERE began = 3"}, []string{"links 0"}, "(3 rows, 4 turns)"},
		"who spoke last is not known":        {plain(), []string{"UPDATE sessions SET last_user = NULL"}, []string{"links 0"}, "last_user and last_agent are NULL and 8, but must be 7 and 8"},
		"state that was changed":             {stateful(), []string{"UPDATE session_state SET value = '2' WHERE key = 'plan'"}, []string{"state 5"}, `sets "plan"`},
		"state that was deleted":             {stateful(), []string{"DELETE FROM session_state WHERE key = 'more'"}, []string{"state 3"}, `sets "more"`},
		"no time of making":                  {plain(), []string{"UPDATE sessions SET created_at = 'once'"}, []string{"times 0"}, `created_at is "once"`},
		"another time of writing":            {plain(), []string{"UPDATE sessions SET updated_at = '2030-01-01T00:00:00.000000000Z'"}, []string{"times 0"}, `updated_at is "2030-`},
		"a call after its answer":            {(&ct.History{}).User("i", "q").Response("i", "bot", "t", "r", "c").Call("i", "bot", "t", "c").Agent("i", "bot", "done"), []string{"UPDATE sessions SET contested = 0"}, []string{"contested 0"}, "a call came after its answer"},
		"contested without a cause":          {plain(), []string{"UPDATE sessions SET contested = 1"}, []string{"contested 0"}, "but its records do not conflict"},
		"covered by a record without a name": {plain(), []string{"UPDATE events SET covered_by = '' WHERE seq = 9"}, []string{"covered_by 9", "I1 1", "I1 2"}, `is marked as covered by ""`},
		"a record counts too few events":     {plain(), []string{"UPDATE events SET custom_metadata = json_set(custom_metadata, '$._adk_compaction.event_count', 1) WHERE seq = 9"}, []string{"record 9"}, "claims to cover 1 events, but names 2"},
		"an index is missing":                {plain(), []string{"DROP INDEX events_units"}, []string{"schema 0", "read 0"}, "run: CREATE INDEX events_units"},
		"a trigger":                          {plain(), []string{"CREATE TRIGGER t AFTER INSERT ON events BEGIN SELECT 1; END"}, []string{"schema 0"}, "trigger t does not belong"},
		"a table of somebody else":           {plain(), []string{"CREATE TABLE notes (text)"}, []string{"schema 0"}, "table notes does not belong"},
		"a view of somebody else":            {plain(), []string{"CREATE VIEW peek AS SELECT * FROM history"}, []string{"schema 0"}, "view peek does not belong"},
		"an extra constraint":                {plain(), []string{"CREATE UNIQUE INDEX once ON events (session, time, id)"}, []string{"schema 0"}, "index once does not belong"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := built(t, r.history)
			run(t, path, r.damage...)
			found, texts, _ := verified(t, path, 5)
			if strings.Contains(name, "index") { // SQLite tells of each row
				found = slices.Compact(found)
			}
			if !slices.Equal(found, r.want) || !strings.Contains(texts, r.says) {
				t.Errorf("found %q, want %q and %q\n%s", found, r.want, r.says, texts)
			}
		})
	}
}

// TestACopyOfARecordIsFine: the first record of an ID counts, and the copy is marked as covered by
// itself.
func TestACopyOfARecordIsFine(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(4, "bot").Compact("r1", "e1", "e2")
	again := *h.Last()
	again.ID = "again"
	h.AddEvent(&again)
	path := built(t, h)
	if found, texts, done := verified(t, path, 5); len(found) != 0 || done.Records != 2 {
		t.Errorf("%+v: %v\n%s", done, found, texts)
	}
}

// TestSummariesOfRunningRoundsHaveRoomOfTheirOwn: one more for each agent.
func TestSummariesOfRunningRoundsHaveRoomOfTheirOwn(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(2, "bot").Compact("r1", "e1", "e2").User("run", "go")
	for _, id := range []string{"a", "b", "c"} {
		h.Call("run", "bot", "t", id).Response("run", "bot", "t", "r", id)
	}
	h.Compact("live", "e7", "e8").Amend(func(m *record.Metadata) {
		m.Agent, m.After = "bot", record.RefTo(h.Events[5])
	})
	path := built(t, h)
	if found, texts, _ := verified(t, path, 1); len(found) != 0 {
		t.Errorf("%v\n%s", found, texts)
	}
}

// TestASummaryOfABranchMayBeShownBehindAnEventThatTheBranchSees: the user's message is in the branch above.
func TestASummaryOfABranchMayBeShownBehindAnEventThatTheBranchSees(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(1, "bot").User("run", "go").Branch("team.bot").Call("run", "bot", "t", "a").Response("run", "bot", "t", "r", "a")
	h.Compact("live", "e4", "e5").Amend(func(m *record.Metadata) { m.Agent, m.After = "bot", record.RefTo(h.Events[2]) })
	if found, texts, done := verified(t, built(t, h), 5); len(found) != 0 || done.Records != 1 {
		t.Errorf("%v\n%s", found, texts)
	}
}

func TestVerifyingHonoursTheContextAndItsReport(t *testing.T) {
	t.Parallel()
	f := open(t, built(t, (&ct.History{}).Turns(2, "bot")))
	sessions, err := f.Sessions(t.Context(), audit.Narrow{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Verify(ctx, sessions, 5, func(one audit.Finding) error { t.Errorf("finding %+v", one); return nil }, func(*audit.Session) {}); err == nil {
		t.Error("an ended context is ignored")
	}
}
