package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/persistence"
)

const (
	// turnsPerRound are appended on one side and then on the other.
	turnsPerRound = 20
	// bytesPerMessage is the length of a message of these turns.
	bytesPerMessage = 300
	bytesPerQuery   = 60
)

// appends compares appends to one file with recall and to another one without.
type appends struct {
	rounds        int
	with, without []time.Duration // of one append, the median of each round
}

// ratios are those of the rounds, sorted: the time with recall by the time without.
func (a appends) ratios() []float64 {
	var all []float64
	for i := range a.with {
		all = append(all, float64(a.with[i])/float64(a.without[i]))
	}
	slices.Sort(all)
	return all
}

func middle(sorted []float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

// side is a session over a file.
type side struct {
	file    *persistence.SQLiteSessionService
	service *compaction.CompactionSessionService
	search  *recall.Recaller // nil without recall
	session session.Session
	turns   int
	words   *vocabulary
}

// openSide creates a session over a file. Summaries are written in the background, as in an app.
func openSide(ctx context.Context, path string, recalling bool) (s *side, err error) {
	s = &side{words: newVocabulary(3)}
	if s.file, err = persistence.NewSQLiteSessionService(path, persistence.WithSynchronousNormal()); err != nil {
		return nil, err
	}
	cfg := config()
	cfg.Synchronous = false
	if s.service, err = compaction.NewCompactionService(s.file, cfg); err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	if recalling {
		if s.search, err = recall.New(s.service, recall.Config{}); err != nil {
			return nil, errors.Join(err, s.close(ctx))
		}
	}
	created, err := s.service.Create(ctx, &session.CreateRequest{AppName: appName, UserID: userName, SessionID: "appends"})
	if err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	s.session = created.Session
	return s, nil
}

func (s *side) close(ctx context.Context) error {
	return errors.Join(s.service.Close(ctx), s.file.Close())
}

// round appends some turns, and returns the median time of an append. Then it waits for background work, as a user's
// thinking does. With recall it also searches once, which takes in what is new, so that each round appends next to an
// index that grows with the session.
func (s *side) round(ctx context.Context) (time.Duration, error) {
	var took []time.Duration
	for range turnsPerRound {
		s.turns++
		for _, author := range []string{"user", agentName} {
			role := genai.Role(genai.RoleUser)
			if author == agentName {
				role = genai.RoleModel
			}
			ev := session.NewEventWithContext(ctx, fmt.Sprintf("turn-%d", s.turns))
			ev.Author = author
			ev.LLMResponse = model.LLMResponse{Content: genai.NewContentFromText(s.words.text(bytesPerMessage), role)}
			start := time.Now()
			err := s.service.AppendEvent(ctx, s.session, ev)
			took = append(took, time.Since(start))
			if err != nil {
				return 0, err
			}
		}
	}
	if err := s.service.Flush(ctx, refOf("appends")); err != nil {
		return 0, err
	}
	if s.search != nil {
		if _, err := s.search.Search(ctx, refOf("appends"), recall.Query{Text: s.words.text(bytesPerQuery)}); err != nil {
			return 0, err
		}
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// compareAppends appends turns to both, in rounds that take turns in who is first.
func compareAppends(ctx context.Context, dir string, turns int) (a appends, err error) {
	var sides [2]*side
	for i := range sides {
		s, err := openSide(ctx, filepath.Join(dir, fmt.Sprintf("appends-%d.db", i)), i == 1)
		if err != nil {
			return a, err
		}
		defer func() { err = errors.Join(err, s.close(ctx)) }()
		sides[i] = s
	}
	a.rounds = turns / turnsPerRound
	for round := range a.rounds {
		var took [2]time.Duration
		for i := range sides {
			at := (i + round) % 2
			if took[at], err = sides[at].round(ctx); err != nil {
				return a, err
			}
		}
		a.without, a.with = append(a.without, took[0]), append(a.with, took[1])
	}
	return a, nil
}
