package conversation

import (
	"fmt"
	"slices"

	"google.golang.org/genai"
)

// thread is one conversation of a transcript: a session, or the work of one of its sub-agents.
type thread struct {
	id       string
	entries  []*entry
	sessions map[string]bool
	// whole means that every line counts: nobody goes back within a sub-agent's lines.
	whole bool
}

// threads divides the lines of a run into conversations. A session may continue under a new name,
// with its old lines copied, so a line belongs to the thread of its parent. Only a line without a
// parent begins a thread, if the name of its session is new. For example,
//
//	u1 session s            begins a thread
//	a1 session s, parent u1
//	u2 session t, parent a1 continues it under the name t
//	u3 session v            begins another thread
func (t *transcript) threads() []*thread {
	var all []*thread
	var current *thread
	in := map[*entry]*thread{}
	byID := map[string]*entry{}
	subagents := map[string]*thread{}
	sidechains := 0
	for _, e := range t.entries {
		parent := byID[e.parent]
		if e.parent == "" {
			parent = nil
		}
		var home *thread // of e
		switch {
		case e.sidechain && e.subagent != "":
			home = subagents[e.session+"\x00"+e.subagent]
			if home == nil {
				home = &thread{id: e.session + "/agent-" + e.subagent, whole: true}
				subagents[e.session+"\x00"+e.subagent] = home
				all = append(all, home)
			}
		case e.sidechain && parent != nil && parent.sidechain:
			home = in[parent]
		case e.sidechain:
			sidechains++
			home = &thread{id: fmt.Sprintf("%s/sidechain-%d", e.session, sidechains), whole: true}
			all = append(all, home)
		case parent != nil && !parent.sidechain:
			home, e.up = in[parent], parent
			current = home
		case current == nil || e.session != "" && len(current.sessions) > 0 && !current.sessions[e.session]:
			current = &thread{sessions: map[string]bool{}}
			all = append(all, current)
			home = current
		default:
			home = current
			if !e.root || e.summary || e.boundary != nil { // its parent is missing from the file
				e.up = home.last()
			}
		}
		if e.uuid != "" {
			byID[e.uuid] = e
		}
		in[e] = home
		home.entries = append(home.entries, e)
		if home.sessions != nil && e.session != "" {
			home.sessions[e.session] = true
			home.id = e.session
		}
	}
	return all
}

// placed is a recording with the number of its first line.
type placed struct {
	*recording
	line int
}

// recordings returns those of all threads with a message. If there is none, it returns an empty
// recording, which becomes an error later.
func (t *transcript) recordings(session string, first int) []placed {
	var all []placed
	for _, th := range t.threads() {
		if slices.ContainsFunc(th.entries, func(e *entry) bool { return e.isMessage }) {
			all = append(all, placed{th.recording(t), th.entries[0].line})
		}
	}
	if len(all) == 0 {
		all = append(all, placed{&recording{id: session}, first})
	}
	all[0].notes.addAll(t.notes)
	return all
}

func (th *thread) last() *entry {
	if len(th.entries) == 0 {
		return nil
	}
	return th.entries[len(th.entries)-1]
}

// kept returns the lines of the chain that ends with the newest message, and counts the messages
// that are not in it: the user went back and said something else. For example,
//
//	u1, a1 (parent u1), u2 (parent a1), a2 (parent u2), u3 (parent a1)
//
// keeps u1, a1 and u3, and leaves out u2 and a2. Results of parallel calls and blocks of one answer
// have parents of their own, so kept adds those that belong to a kept call or answer.
func (th *thread) kept() (kept []*entry, left int) {
	if th.whole {
		return th.entries, 0
	}
	newest := len(th.entries) - 1
	for newest > 0 && !th.entries[newest].isMessage {
		newest--
	}
	in, answers, calls := map[*entry]bool{}, map[string]bool{}, map[string]bool{}
	copied := map[string]bool{} // UUIDs of kept lines, which a continued session has twice
	keep := func(e *entry) {
		in[e] = true
		copied[e.uuid] = e.uuid != ""
		if e.answer != "" {
			answers[e.answer] = true
		}
		for _, p := range e.parts {
			if p.FunctionCall != nil {
				calls[p.FunctionCall.ID] = true
			}
		}
	}
	for e := th.entries[newest]; e != nil && !in[e]; e = e.up {
		keep(e)
	}
	for more := true; more; {
		more = false
		for _, e := range th.entries {
			if in[e] || copied[e.uuid] || !(e.answer != "" && answers[e.answer] || e.answersOnly(calls)) {
				continue
			}
			keep(e)
			more = true
		}
	}
	for _, e := range th.entries {
		switch {
		case in[e]:
			kept = append(kept, e)
		case e.isMessage && !copied[e.uuid]:
			left++
		}
	}
	return kept, left
}

// answersOnly reports whether a line has only results, all of these calls.
func (e *entry) answersOnly(calls map[string]bool) bool {
	for _, r := range e.results {
		if !calls[r.ID] {
			return false
		}
	}
	return len(e.results) > 0 && len(e.parts) == 0
}

// recording converts a thread. It joins the lines that are blocks of one answer.
func (th *thread) recording(t *transcript) *recording {
	rec := &recording{id: th.id, model: t.model}
	kept, left := th.kept()
	rec.notes.add("messages on branches that the user left, left out", left)
	answers := map[string]int{} // the API's answer -> index in rec.messages
	var pending *compactedAt
	for _, e := range kept {
		switch {
		case e.boundary != nil:
			rec.addCompaction(pending)
			pending = &compactedAt{index: e.index, Compaction: *e.boundary}
			continue
		case !e.isMessage:
			continue
		case e.summary && pending != nil:
			pending.index = e.index
		}
		rec.addCompaction(pending)
		pending = nil
		at, known := answers[e.answer]
		if !known || e.from != agent || e.answer == "" {
			if e.from == agent && e.answer != "" {
				answers[e.answer] = len(rec.messages)
			}
			m := e.message
			if len(m.parts) == 0 && len(m.results) > 0 {
				m.from = tool
			}
			rec.messages = append(rec.messages, m)
			continue
		}
		// Each block of an answer has a line of its own, with the counts for the whole answer so
		// far.
		m := &rec.messages[at]
		for _, p := range e.parts {
			if !m.calls(p.FunctionCall) {
				m.parts = append(m.parts, p)
			}
		}
		m.prompt, m.output = max(m.prompt, e.prompt), max(m.output, e.output)
	}
	rec.addCompaction(pending)
	return rec
}

// calls reports whether the message has this call already: a transcript may have a block twice.
func (m *message) calls(call *genai.FunctionCall) bool {
	return call != nil && call.ID != "" && slices.ContainsFunc(m.parts, func(p *genai.Part) bool {
		return p.FunctionCall != nil && p.FunctionCall.ID == call.ID
	})
}

func (rec *recording) addCompaction(c *compactedAt) {
	if c != nil {
		rec.compactions = append(rec.compactions, *c)
	}
}
