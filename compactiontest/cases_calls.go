package compactiontest

import (
	"google.golang.org/genai"

	"google.golang.org/adk/tool/toolconfirmation"
)

func callCases() []Case {
	return []Case{
		{
			Name: "calls and responses stay together",
			Explain: "Guards that a tool call and all its responses are shown or hidden as one. Providers refuse a prompt with a response whose call is " +
				"missing (HTTP 400, the session is dead from then on), and ADK drops it silently; a call without its response makes the model wait or call again.",
			Check: playing(func(p *play) {
				for range 8 {
					p.tools(1)
					p.chat(1)
					p.check()
				}
				p.checkCompacted()
			}),
		},
		{
			Name: "an open call waits for its answer",
			Explain: "Guards that the call of a long-running tool stays as it is until it is truly answered, however late. ADK looks for the call when the " +
				"answer comes: if it is hidden, the answer is dropped, or the turn fails, and the user's approval or the finished job is lost.",
			Check: playing(checkLongCall),
		},
		{
			Name: "a confirmation waits for its answer",
			Explain: "Guards that a call that needs a confirmation, and the request for it, stay as they are until the user decides. If either is hidden, " +
				"ADK does not run the tool that the user has approved, or drops its result. Some backends do not store which event asked for the confirmation: it must be told from the call.",
			Check: playing(checkConfirmation),
		},
		{
			Name: "an interrupted call has a response",
			Explain: "Guards that a call whose turn was cut off, by Ctrl-C or the end of the process, is shown with a response that says so, and with the real one " +
				"if that comes after all. Gemini, OpenAI and Anthropic refuse every prompt with a call that has no response: the session is dead from then on.",
			Check: playing(checkInterruptedCall),
		},
	}
}

func checkInterruptedCall(p *play) {
	p.chat(2)
	for range 3 {
		inv := p.invocation()
		p.ask(inv)
		p.call(inv, inv+"cut", inv+"done")
		p.respond(inv, "agent", "done", inv+"done")
		p.say()
		p.check() // while the turn may go on
		p.chat(1)
		p.check()
	}
	inv := p.invocation()
	p.ask(inv)
	p.call(inv, "slow")
	p.say()
	p.chat(1)
	p.check()
	p.respond(inv, "agent", "done at last", "slow") // two turns ran at once
	p.answer(inv, "agent")
	p.say()
	p.check()
	p.chat(14)
	p.checkCompacted()
	p.check()
}

func checkLongCall(p *play) {
	p.chat(2)
	inv := p.invocation()
	p.ask(inv)
	p.call(inv, "long")
	p.h.Long("long")
	call := len(p.h.Events) - 1
	p.respond(inv, "agent", "pending", "long") // ADK stores a placeholder at once
	p.answer(inv, "agent")
	p.say()
	p.chat(14)
	p.checkCompacted()
	p.check()
	p.checkRaw("an open call", call)
	inv = p.invocation()
	p.respond(inv, genai.RoleUser, "done", "long")
	p.say()
	p.check()
	p.checkRaw("the call of a late answer", call)
	p.answer(inv, "agent")
	p.say()
	p.chat(14)
	p.check()
}

func checkConfirmation(p *play) {
	p.chat(2)
	inv := p.invocation()
	p.ask(inv)
	p.call(inv, "danger")
	call := len(p.h.Events) - 1
	p.respond(inv, "agent", "needs a confirmation", "danger")
	p.h.Last().Actions.SkipSummarization = true
	p.h.Last().Actions.RequestedToolConfirmations = map[string]toolconfirmation.ToolConfirmation{"danger": {}}
	original := map[string]any{"id": "danger", "name": "look", "args": map[string]any{"for": "the thing"}}
	p.h.Add(inv, "agent", &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{
		ID: "ask", Name: toolconfirmation.FunctionCallName, Args: map[string]any{"originalFunctionCall": original, "why": p.fact()},
	}}}}).Long("ask")
	request := len(p.h.Events) - 1
	p.say()
	p.chat(14)
	p.checkCompacted()
	p.check()
	p.checkRaw("a call that waits for a confirmation", call)
	p.checkRaw("a request for a confirmation", request)
	inv = p.invocation()
	p.h.Add(inv, genai.RoleUser, &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
		ID: "ask", Name: toolconfirmation.FunctionCallName, Response: map[string]any{"confirmed": true, "note": p.fact()},
	}}}})
	p.say()
	p.check()
	p.checkRaw("a call that was just confirmed", call)
	p.respond(inv, "agent", "done", "danger")
	p.answer(inv, "agent")
	p.say()
	p.chat(14)
	p.check()
}

// checkRaw checks that the event at a position is shown as it was said.
func (p *play) checkRaw(what string, position int) {
	if !p.look(p.live).shows(position) {
		p.add("%s, event %s, is hidden from the handle of the turn", what, p.said[position].ID)
	}
	if !p.look(p.fresh()).shows(position) {
		p.add("%s, event %s, is hidden from a new handle", what, p.said[position].ID)
	}
}
