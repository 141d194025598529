package conversation

import (
	"encoding/json"
	"slices"
)

// forms lists the forms of a line, for errors.
const forms = `expected one of: {"messages":[...]} (OpenAI-style), {"contents":[...]} (Gemini-style), ` +
	`{"events":[...]} or an event with an "author" (ADK), a line with a "type" and a "uuid" or "sessionId" (Claude Code), ` +
	`{"conversation":{"session_1":[...]}} (LoCoMo)`

// isEvent reports whether a line is one ADK event. A run of such lines is a conversation.
func isEvent(line object) bool {
	if isConversation(line) {
		return false
	}
	_, authored := line["author"]
	_, invoked := line["invocationid"]
	return authored || invoked
}

func isConversation(line object) bool {
	for _, list := range []string{"messages", "contents", "events"} {
		if _, ok := line[list]; ok {
			return true
		}
	}
	return false
}

// readLine reads a value that is a whole conversation. fields are those of v, if it is an object.
func readLine(v value, fields object) (*recording, error) {
	if v.is('[') {
		return readList(v)
	}
	if isLocomo(fields) {
		return readLocomo(fields)
	}
	rec := &recording{}
	var err error
	if rec.id, err = name(fields["id"]); err != nil {
		return rec, err
	}
	if rec.model, err = fields["model"].text("model"); err != nil {
		return rec, err
	}
	switch {
	case !isConversation(fields):
		return rec, v.fail("the line has none of the known lists; %s", forms)
	case !fields["messages"].missing():
		err = rec.readMessages(fields["messages"])
	case !fields["contents"].missing():
		err = rec.readContents(fields)
	default:
		err = rec.readEvents(fields["events"])
	}
	if err != nil {
		return rec, err
	}
	config, _ := fields["config"].object("config") // only Gemini-style recordings have one
	rec.readTools(fields["tools"], fields["functions"], config["tools"])
	if err := rec.readCompactions(fields["compactions"]); err != nil {
		return rec, err
	}
	return rec, rec.readQuestions(fields["qa"], false)
}

// readList reads a list of messages without an object around it. The first message shows the form.
func readList(v value) (*recording, error) {
	rec := &recording{}
	elements, err := v.list("the line")
	if err != nil || len(elements) == 0 {
		return rec, err
	}
	first, err := elements[0].object("the first message")
	switch {
	case err != nil:
		return rec, err
	case isEvent(first):
		return rec, rec.readEvents(v)
	case len(first["parts"].json) > 0:
		return rec, rec.readContents(object{"contents": v})
	case len(first["role"].json) > 0:
		return rec, rec.readMessages(v)
	}
	return rec, elements[0].fail("the list does not begin with a message; expected messages with a role, contents with parts or events with an author")
}

// name reads an ID: a string or a number.
func name(v value) (string, error) {
	if v.missing() || v.is('"') {
		return v.text("id")
	}
	var n json.Number
	if err := json.Unmarshal(v.json, &n); err != nil {
		return "", v.want("id", "a string or a number")
	}
	return n.String(), nil
}

func (rec *recording) readCompactions(v value) error {
	list, err := v.list("compactions")
	if err != nil {
		return err
	}
	for i, entry := range list {
		where := element("compactions", i)
		fields, err := entry.object(where)
		if err != nil {
			return err
		}
		at, err := fields["atmessage"].number(where + ".at_message")
		if err != nil {
			return err
		}
		if fields["atmessage"].missing() || at < 0 {
			return entry.fail("%s has no at_message; expected the index, from 0, of the message before which it happened", where)
		}
		c := compactedAt{index: count(at)}
		if c.Trigger, err = fields["trigger"].text(where + ".trigger"); err != nil {
			return err
		}
		if c.Summary, err = fields["summary"].text(where + ".summary"); err != nil {
			return err
		}
		before, err := fields["pretokens"].number(where + ".preTokens")
		if err != nil {
			return err
		}
		c.PromptTokens = count(before)
		rec.compactions = append(rec.compactions, c)
	}
	return nil
}

// addSummaries turns summary messages into compactions, except those that compactions has an entry
// for.
func (rec *recording) addSummaries() {
	for _, m := range rec.messages {
		if !m.summary {
			continue
		}
		at := slices.IndexFunc(rec.compactions, func(c compactedAt) bool { return c.index == m.index })
		if at < 0 {
			rec.compactions = append(rec.compactions, compactedAt{index: m.index})
			at = len(rec.compactions) - 1
		}
		if c := &rec.compactions[at]; c.Summary == "" {
			c.Summary = joined(m.parts)
		}
	}
	slices.SortStableFunc(rec.compactions, func(a, b compactedAt) int { return a.index - b.index })
}

// conversationsIn returns the elements of a list that begins with a whole conversation, and nil for
// any other value.
func conversationsIn(v value) []value {
	if !v.is('[') {
		return nil
	}
	list, err := v.list("the line")
	if err != nil || len(list) == 0 {
		return nil
	}
	if first, err := list[0].object("the first message"); err != nil || !isConversation(first) && !isLocomo(first) {
		return nil
	}
	return list
}
