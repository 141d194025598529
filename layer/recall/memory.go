package recall

import (
	"context"

	"google.golang.org/genai"

	"google.golang.org/adk/memory"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
)

// Memory returns the user's sessions as an ADK memory service, for runner.Config.MemoryService and the tool load_memory
// of ADK. The store of the sessions is the memory, so there is nothing to add: AddSessionToMemory does nothing.
//
// Know its limits:
//
//   - A search names an app and a user, and no session. So it finds what any session of the user has, the newest 50 of
//     them, also what the prompt shows already, and from all branches. Give it only to an app that wants that. To search one session, use
//     [Recaller.Tools].
//   - load_memory passes entries on as they are. Each is one message or a neighbor, cut to 300 or 120 tokens, and all
//     entries together have room in [Config].MaxTokens.
//   - SearchMemory never returns an error, because ADK fails the turn of an agent with preload_memory_tool for it. The
//     observer hears of it. One that takes longer than the service's Config.Timeout returns what it has found by then.
//   - Do not use preload_memory_tool with it. That searches with every message of the user, and writes what it finds
//     into the system instruction: the prompt changes at its head each time, and no provider's cache survives.
func (r *Recaller) Memory() memory.Service { return userMemory{r} }

type userMemory struct{ *Recaller }

// AddSessionToMemory does nothing: what is stored can be found.
func (userMemory) AddSessionToMemory(context.Context, session.Session) error { return nil }

// SearchMemory searches the sessions of a user.
func (m userMemory) SearchMemory(ctx context.Context, req *memory.SearchRequest) (*memory.SearchResponse, error) {
	resp := &memory.SearchResponse{Memories: []memory.Entry{}}
	if req == nil || req.AppName == "" || req.UserID == "" {
		return resp, nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.svc.Settings().Timeout)
	defer cancel()
	user := compaction.SessionRef{AppName: req.AppName, UserID: req.UserID}
	for _, p := range m.fit(m.others(ctx, user, Query{Text: req.Query})) {
		for _, line := range p.Lines {
			resp.Memories = append(resp.Memories, memory.Entry{
				ID: p.Session.SessionID + "/" + line.Ref, Author: line.Author, Timestamp: line.At,
				Content: genai.NewContentFromText(line.Text, roleOf(line.Author)),
			})
		}
	}
	return resp, nil
}

func roleOf(author string) genai.Role {
	if author == "user" {
		return genai.RoleUser
	}
	return genai.RoleModel
}
