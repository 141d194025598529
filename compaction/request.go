package compaction

import (
	"encoding/json"
	"maps"
	"reflect"

	lru "github.com/hashicorp/golang-lru/v2"
	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/tokens"
)

// ObserveRequest tells the service what a request really holds, for apps whose plugins or callbacks
// shorten requests on their way to the model (truncate results, mask or drop messages). Without it, and
// where the provider reports no usage, the service measures the view and compacts what was never sent.
//
// It has the form of a BeforeModelCallback, for the last plugin of a runner:
//
//	plugin.New(plugin.Config{Name: "observe", BeforeModelCallback: sessions.ObserveRequest})
//
// It changes nothing, always returns nil, nil, and may be called from several goroutines. What it
// learns is kept for each agent and branch of a session, in this process, like everything that it
// learns of a session.
func (s *CompactionSessionService) ObserveRequest(ctx agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	if isNil(ctx) || req == nil {
		return nil, nil
	}
	now := sent{}
	for _, c := range req.Contents {
		now.contents += tokens.OfContent(c) + promptsize.EventOverhead
	}
	if req.Config != nil {
		if req.Config.SystemInstruction != nil {
			now.fixed += tokens.OfContent(req.Config.SystemInstruction)
		}
		now.fixed += sizeOfTools(req.Config.Tools)
	}
	st := s.states.of(SessionRef{AppName: ctx.AppName(), UserID: ctx.UserID(), SessionID: ctx.SessionID()})
	if st.noteRequest(ctx.Branch(), ctx.AgentName(), now) {
		s.remember(st)
	}
	return nil, nil
}

// maxBranches bounds for how many branches of a session requests are remembered.
const maxBranches = 64

// noteRequest notes what an agent is sent. It reports false where no trigger is on, or no event has come
// in: then there is nothing to compare with.
func (st *sessionState) noteRequest(branch, agent string, now sent) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if now.view = st.memory.measured[branch]; now.view <= 0 {
		return false
	}
	if st.memory.requests == nil || len(st.memory.requests) >= maxBranches {
		st.memory.requests = map[string]map[string]sent{}
	}
	if st.memory.requests[branch] == nil {
		st.memory.requests[branch] = map[string]sent{}
	}
	st.memory.requests[branch][agent] = now
	return true
}

// sizeOfTools estimates declarations by what a model is shown of them.
func sizeOfTools(tools []*genai.Tool) int {
	sum := 0
	for _, t := range tools {
		if t == nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			if d != nil {
				sum += promptsize.EventOverhead + tokens.Estimate(d.Name) + tokens.Estimate(d.Description)
				sum += sizeOfSchema(d.Parameters) + sizeOfSchema(d.ParametersJsonSchema)
			}
		}
	}
	return sum
}

// schemas are the sizes of schemas by their pointers. ADK makes a declaration for every request anew, but
// not its schema.
var schemas, _ = lru.New[any, int](1024)

func sizeOfSchema(schema any) int {
	if isNil(schema) {
		return 0
	}
	known := reflect.TypeOf(schema).Kind() == reflect.Pointer
	if known {
		if size, ok := schemas.Get(schema); ok {
			return size
		}
	}
	data, err := json.Marshal(schema)
	if err != nil {
		return 0
	}
	size := tokens.Estimate(string(data))
	if known {
		schemas.Add(schema, size)
	}
	return size
}

// noteMeasured notes the estimate of the view that a branch sees.
func (st *sessionState) noteMeasured(branch string, estimate int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.memory.measured == nil || len(st.memory.measured) >= maxBranches {
		st.memory.measured = map[string]int{}
	}
	st.memory.measured[branch] = estimate
}

// requestsIn returns what agents in the branch were last sent.
func (st *sessionState) requestsIn(branch string) map[string]sent {
	st.mu.Lock()
	defer st.mu.Unlock()
	return maps.Clone(st.memory.requests[branch])
}
