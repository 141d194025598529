package ledger

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/tokens"
)

// Owner names the session whose account a snapshot is.
type Owner struct{ App, User, Session string }

// format is the version of the format.
const format = 1

// maxSnapshot is the largest snapshot that is read, in bytes.
const maxSnapshot = 64 << 10

// numbers are the fields of an Amount: calls, prompt, cached and output tokens, nano-dollars.
type numbers [5]int64

// snapshot is the stored form of a State.
type snapshot struct {
	Version   int            `json:"v"`
	App       string         `json:"app"`
	User      string         `json:"user"`
	Session   string         `json:"session"`
	Total     numbers        `json:"total"`
	Models    []namedNumbers `json:"models,omitempty"`
	Unpriced  []string       `json:"unpriced,omitempty"`
	TurnID    string         `json:"turn,omitempty"`
	Turn      numbers        `json:"turn_total"`
	Children  int            `json:"subtasks,omitempty"`
	Subtasks  *numbers       `json:"subtask_total,omitempty"`
	NoPrice   bool           `json:"subtasks_unpriced,omitempty"` // see [State.SubtasksUnpriced]
	Summaries *numbers       `json:"summary_total,omitempty"`
	Open      []namedNumbers `json:"open,omitempty"`
	Last      numbers        `json:"last"`
	Wall      int64          `json:"wall_ns,omitempty"`
	Granted   *grantedLimits `json:"granted,omitempty"`
	Held      *Held          `json:"held,omitempty"`
	Landed    *Held          `json:"landed,omitempty"`
	Tripped   *Stop          `json:"tripped,omitempty"`
}

type namedNumbers struct {
	Name  string  `json:"name"`
	Total numbers `json:"total"`
}

type grantedLimits struct {
	USD    int64 `json:"usd,omitempty"`
	Calls  int64 `json:"calls,omitempty"`
	Tokens int64 `json:"tokens,omitempty"`
	Wall   int64 `json:"wall_ns,omitempty"`
}

func numbersOf(a Amount) numbers {
	return numbers{int64(a.Calls), int64(a.Usage.PromptTokens), int64(a.Usage.CachedTokens), int64(a.Usage.OutputTokens), int64(a.USD)}
}

func someNumbers(a Amount) *numbers {
	if a == (Amount{}) {
		return nil
	}
	n := numbersOf(a)
	return &n
}

func (n *numbers) amount() Amount {
	if n == nil {
		return Amount{}
	}
	return Amount{int(n[0]), tokens.Usage{PromptTokens: int(n[1]), CachedTokens: int(n[2]), OutputTokens: int(n[3])}, tokens.Nano(n[4])}
}

// Encode writes a state as one line of JSON.
func Encode(o Owner, s State) string {
	out := snapshot{
		Version: format, App: o.App, User: o.User, Session: o.Session,
		Total: numbersOf(s.Total), Unpriced: s.Unpriced, TurnID: s.TurnID, Turn: numbersOf(s.Turn),
		Children: s.Children, Subtasks: someNumbers(s.Subtasks), NoPrice: s.SubtasksUnpriced, Summaries: someNumbers(s.Summaries),
		Last: numbersOf(s.Last), Wall: add(int64(s.Wall), 0), Held: s.Held, Landed: s.Landed, Tripped: s.Tripped,
	}
	out.Models, out.Open = sorted(s.Models), sorted(s.Open)
	if g := s.Granted; g != (Limits{}) {
		out.Granted = &grantedLimits{int64(g.USD), int64(g.ModelCalls), int64(g.Tokens), int64(g.Wall)}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return "" // strings and whole numbers can always be written
	}
	return string(text)
}

func sorted(amounts map[string]Amount) (out []namedNumbers) {
	for name, amount := range amounts {
		out = append(out, namedNumbers{name, numbersOf(amount)})
	}
	slices.SortFunc(out, func(a, b namedNumbers) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Decode reads what Encode has written. The error says what is wrong with anything else.
func Decode(text string) (Owner, State, error) {
	if len(text) > maxSnapshot {
		return Owner{}, State{}, fmt.Errorf("the snapshot has %d bytes, more than %d", len(text), maxSnapshot)
	}
	var in snapshot
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return Owner{}, State{}, fmt.Errorf("the snapshot is no JSON of this format: %w", err)
	}
	if err := in.check(); err != nil {
		return Owner{}, State{}, err
	}
	s := State{
		Total: in.Total.amount(), Unpriced: in.Unpriced, TurnID: in.TurnID, Turn: in.Turn.amount(),
		Children: in.Children, Subtasks: in.Subtasks.amount(), SubtasksUnpriced: in.NoPrice, Summaries: in.Summaries.amount(),
		Last: in.Last.amount(), Wall: time.Duration(in.Wall), Held: in.Held, Landed: in.Landed, Tripped: in.Tripped,
	}
	if g := in.Granted; g != nil {
		s.Granted = Limits{tokens.Nano(g.USD), int(g.Calls), int(g.Tokens), time.Duration(g.Wall)}
	}
	var sum Amount
	for _, m := range in.Models {
		if s.Models == nil {
			s.Models = map[string]Amount{}
		}
		if _, twice := s.Models[m.Name]; twice {
			return Owner{}, State{}, fmt.Errorf("the snapshot has the model %.40q twice", m.Name)
		}
		s.Models[m.Name] = m.Total.amount()
		sum = sum.Plus(m.Total.amount())
	}
	if sum != s.Total {
		return Owner{}, State{}, errors.New("the total of the snapshot is not the sum of its models")
	}
	for _, child := range in.Open {
		s.open(child.Name, Amount{}, child.Total.amount())
	}
	return Owner{in.App, in.User, in.Session}, s, nil
}

func (in *snapshot) check() error {
	if in.Version != format {
		return fmt.Errorf("the snapshot has version %d, not %d", in.Version, format)
	}
	all := []*numbers{&in.Total, &in.Turn, in.Subtasks, in.Summaries, &in.Last, {int64(in.Children), in.Wall}}
	for i := range in.Models {
		all = append(all, &in.Models[i].Total)
	}
	for i := range in.Open {
		all = append(all, &in.Open[i].Total)
	}
	if g := in.Granted; g != nil {
		all = append(all, &numbers{g.USD, g.Calls, g.Tokens, g.Wall})
	}
	for _, held := range []*Held{in.Held, in.Landed} {
		if held != nil {
			all = append(all, &numbers{held.Spent, held.Bound})
		}
	}
	for _, n := range all {
		if n == nil {
			continue
		}
		for _, value := range n {
			if value < 0 || value > most {
				return fmt.Errorf("the snapshot has the number %d, which is not between 0 and %d", value, most)
			}
		}
	}
	if len(in.Models) > maxModels+1 || len(in.Unpriced) > maxModels || len(in.Open) > maxOpen {
		return fmt.Errorf("the snapshot has %d models and %d subtasks, more than %d and %d", max(len(in.Models), len(in.Unpriced)), len(in.Open), maxModels+1, maxOpen)
	}
	for _, s := range in.Unpriced {
		if !utf8.ValidString(s) {
			return errors.New("the snapshot has a name that is no text")
		}
	}
	if !slices.IsSorted(in.Unpriced) {
		return errors.New("the names of the snapshot are not in order")
	}
	return nil
}
