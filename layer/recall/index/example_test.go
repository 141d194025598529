package index_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/layer/recall/index"
)

// searched is a session service with a search of its own. Package recall uses it instead of an index in memory.
type searched struct{ session.Service }

var _ index.Index = searched{}

// SearchText finds the events that contain the text of the query as it is.
func (s searched) SearchText(ctx context.Context, req *session.GetRequest, q index.Query) (hits []index.Hit, err error) {
	resp, err := s.Get(ctx, &session.GetRequest{AppName: req.AppName, UserID: req.UserID, SessionID: req.SessionID})
	if err != nil {
		return nil, err
	}
	position := -1
	for ev := range resp.Session.Events().All() {
		position++
		if ev.Content == nil || q.May != nil && !q.May(ev) {
			continue
		}
		for _, part := range ev.Content.Parts {
			if strings.Contains(part.Text, q.Text) && len(hits) < q.Limit {
				hits = append(hits, index.Hit{Event: ev, Position: position, Score: 1})
				break
			}
		}
	}
	return hits, nil
}

// A storage that can search offers its search to recall by one method.
func Example() {
	ctx := context.Background()
	svc := searched{session.InMemoryService()}
	made, err := svc.Create(ctx, &session.CreateRequest{AppName: "travel", UserID: "ada", SessionID: "trip"})
	if err != nil {
		log.Fatal(err)
	}
	for i, text := range []string{"When does the ferry leave?", "Every hour, on the half hour.", "Is the lighthouse open?"} {
		ev := &session.Event{ID: fmt.Sprint(i), Author: "user", Timestamp: time.Date(2026, 3, 1, 9, i, 0, 0, time.UTC)}
		ev.Content = genai.NewContentFromText(text, genai.RoleUser)
		if err := svc.AppendEvent(ctx, made.Session, ev); err != nil {
			log.Fatal(err)
		}
	}
	hits, err := svc.SearchText(ctx, &session.GetRequest{AppName: "travel", UserID: "ada", SessionID: "trip"}, index.Query{Text: "ferry", Limit: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range hits {
		fmt.Println(hit.Position, hit.Event.Content.Parts[0].Text)
	}
	// Output: 0 When does the ferry leave?
}
