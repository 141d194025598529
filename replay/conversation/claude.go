package conversation

import (
	"fmt"

	"google.golang.org/genai"
)

// isClaude reports whether a line belongs to a Claude Code transcript. Consecutive lines of this
// kind form a session and, in older files, its sub-agents.
func isClaude(line object) bool {
	if isConversation(line) || isEvent(line) || isLocomo(line) || !line["type"].is('"') {
		return false
	}
	for _, field := range []string{"uuid", "sessionid", "leafuuid", "messageid"} {
		if _, ok := line[field]; ok {
			return true
		}
	}
	return false
}

// synthetic is the model name of answers that the application wrote itself, such as errors of the
// API.
const synthetic = "<synthetic>"

// entry is a line of a transcript: a message, or a link between messages.
type entry struct {
	message
	uuid, parent string
	// root is true for a line that begins a chain: its parentUuid is null.
	root bool
	// session and subagent are those of the line. sidechain is true for lines of a sub-agent.
	session, subagent string
	sidechain         bool
	// answer is the ID of the API's answer that the line is a block of.
	answer string
	// isMessage is false for a line that only links others.
	isMessage bool
	// boundary is the compaction that the line marks, or nil.
	boundary *Compaction
	// up is the line before it in its chain, or nil.
	up *entry
}

// transcript collects the lines of a run.
type transcript struct {
	entries []*entry
	model   string
	notes   notes
}

// read reads a line. Lines of types other than user, assistant and system never reached the model.
func (t *transcript) read(fields object, where place) error {
	kind, err := fields["type"].text("type")
	if err != nil {
		return err
	}
	e := &entry{}
	e.place = where
	for _, field := range []struct {
		name   string
		target *string
	}{
		{"uuid", &e.uuid}, {"parentUuid", &e.parent}, {"sessionId", &e.session}, {"agentId", &e.subagent},
	} {
		if *field.target, err = fields[fold(field.name)].text(field.name); err != nil {
			return err
		}
	}
	_, linked := fields["parentuuid"]
	e.root, e.sidechain = linked && e.parent == "", fields["issidechain"].truth()
	var ok bool
	if e.time, ok = momentIn(fields["timestamp"]); !ok {
		t.notes.add("timestamps that could not be read, left out", 1)
	}
	switch kind {
	case "user":
		e.isMessage, e.from, e.summary = true, user, fields["iscompactsummary"].truth()
		err = t.readMessage(e, fields["message"])
	case "assistant":
		e.isMessage, e.from = true, agent
		err = t.readMessage(e, fields["message"])
	case "system":
		err = t.readSystem(e, fields)
	default:
		if kind != "summary" { // the title of a session
			t.notes.add(fmt.Sprintf("lines of the type %q, left out", kind), 1)
		}
	}
	if err != nil {
		return err
	}
	if e.isMessage || e.uuid != "" {
		t.entries = append(t.entries, e)
	}
	return nil
}

// readSystem reads a line of the application: a compaction, or a link between lines.
func (t *transcript) readSystem(e *entry, fields object) error {
	subtype, err := fields["subtype"].text("subtype")
	if err != nil {
		return err
	}
	if subtype != "compact_boundary" {
		t.notes.add(`lines of the type "system", left out`, 1)
		return nil
	}
	const name = "compactMetadata"
	data, err := fields[fold(name)].object(name)
	if err != nil {
		return err
	}
	e.boundary = &Compaction{}
	if e.boundary.Trigger, err = data["trigger"].text(name + ".trigger"); err != nil {
		return err
	}
	before, err := data["pretokens"].number(name + ".preTokens")
	if err != nil {
		return err
	}
	e.boundary.PromptTokens = count(before)
	if e.parent == "" {
		e.root = false
		e.parent, err = fields["logicalparentuuid"].text("logicalParentUuid")
	}
	return err
}

// readMessage reads a message to or from the API.
func (t *transcript) readMessage(e *entry, v value) error {
	if !v.is('{') {
		return v.want("message", "an object with a role and content")
	}
	fields, err := v.object("message")
	if err != nil {
		return err
	}
	if e.answer, err = fields["id"].text("message.id"); err != nil {
		return err
	}
	name, err := fields["model"].text("message.model")
	if err != nil {
		return err
	}
	if name == synthetic {
		e.isMessage = false
		t.notes.add("answers that the application made up, left out", 1)
		return nil
	}
	if t.model == "" {
		t.model = name
	}
	if err := t.readBlocks(&e.message, fields["content"]); err != nil {
		return err
	}
	if e.from == agent {
		e.prompt, e.output, err = usageIn("message.usage", fields["usage"])
	}
	return err
}

// readBlocks reads a content: a string, or a list of blocks.
func (t *transcript) readBlocks(m *message, v value) error {
	const name = "message.content"
	switch {
	case v.missing():
		return nil
	case v.is('"'):
		if text := unquote(v.json); text != "" {
			m.parts = []*genai.Part{{Text: text}}
		}
		return nil
	case !v.is('['):
		return v.want(name, "a string or a list of blocks")
	}
	list, err := v.list(name)
	if err != nil {
		return err
	}
	for i, block := range list {
		if err := t.readBlock(m, element(name, i), block); err != nil {
			return err
		}
	}
	return nil
}

func (t *transcript) readBlock(m *message, where string, v value) error {
	if !v.is('{') {
		return v.want(where, "an object with a type")
	}
	fields, err := v.object(where)
	if err != nil {
		return err
	}
	kind, err := fields["type"].text(where + ".type")
	if err != nil {
		return err
	}
	part := &genai.Part{}
	switch {
	case kind == "":
		return v.fail("%s has no type; expected text, thinking, tool_use, tool_result, image or document", where)
	case kind == "text":
		part.Text, err = fields["text"].text(where + ".text")
	case kind == "thinking":
		part.Thought = true
		part.Text, err = fields["thinking"].text(where + ".thinking")
	case kind == "image" || kind == "document":
		part, err = sourcePart(where+".source", fields["source"])
	case kind == "tool_use" && m.from == agent:
		part.FunctionCall, err = claudeCall(where, fields)
	case kind == "tool_use":
		return v.fail("%s is a tool_use of the user; expected calls in the assistant's messages", where)
	case kind == "tool_result" && m.from == user:
		return t.readResult(m, where, fields)
	case kind == "tool_result":
		return v.fail("%s is a tool_result of the assistant; expected results in the user's messages", where)
	default: // each version of the application adds types
		t.notes.add(fmt.Sprintf("blocks of the type %q, left out", kind), 1)
		return nil
	}
	if err != nil {
		return err
	}
	if !nothing(part) {
		m.parts = append(m.parts, part)
	}
	return nil
}

func claudeCall(where string, fields object) (*genai.FunctionCall, error) {
	call := &genai.FunctionCall{}
	var err error
	if call.ID, err = fields["id"].text(where + ".id"); err != nil {
		return nil, err
	}
	if call.Name, err = fields["name"].text(where + ".name"); err != nil {
		return nil, err
	}
	call.Args, err = fields["input"].mapping(where + ".input")
	return call, err
}

// readResult reads a tool_result. Its content has the form of a message's content.
func (t *transcript) readResult(m *message, where string, fields object) error {
	response := &genai.FunctionResponse{}
	var err error
	if response.ID, err = fields["tooluseid"].text(where + ".tool_use_id"); err != nil {
		return err
	}
	inner := message{}
	if err := t.readBlocks(&inner, fields["content"]); err != nil {
		return err
	}
	fillResponse(response, inner.parts, fields["iserror"].truth())
	m.results = append(m.results, result{place: m.place, FunctionResponse: response})
	return nil
}

// sourcePart reads the source of a picture or a document.
func sourcePart(where string, v value) (*genai.Part, error) {
	if !v.is('{') {
		return nil, v.want(where, "an object with a type")
	}
	fields, err := v.object(where)
	if err != nil {
		return nil, err
	}
	kind, err := fields["type"].text(where + ".type")
	if err != nil {
		return nil, err
	}
	mime, err := fields["mediatype"].text(where + ".media_type")
	if err != nil {
		return nil, err
	}
	switch kind {
	case "base64":
		data, err := bytesIn(where+".data", fields["data"])
		return &genai.Part{InlineData: &genai.Blob{Data: data, MIMEType: mime}}, err
	case "text":
		text, err := fields["data"].text(where + ".data")
		return &genai.Part{Text: text}, err
	case "url", "file":
		address, err := fields["url"].text(where + ".url")
		if address == "" && err == nil {
			address, err = fields["fileid"].text(where + ".file_id")
		}
		return &genai.Part{FileData: &genai.FileData{FileURI: address, MIMEType: mime}}, err
	}
	return nil, v.fail("%s has the type %q; expected base64, url, file or text", where, kind)
}

// usageIn reads a provider's counts for a call. OpenAI's prompt_tokens include cached tokens,
// Anthropic's input_tokens exclude them. For example, each of these is a prompt of 83 tokens:
//
//	{"prompt_tokens": 83, "prompt_tokens_details": {"cached_tokens": 80}}
//	{"input_tokens": 3, "cache_read_input_tokens": 80}
//	{"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": 80}}   an adapter left the cached part out
func usageIn(name string, v value) (prompt, output int, err error) {
	usage, err := v.object(name)
	if err != nil {
		return 0, 0, err
	}
	details, err := usage["prompttokensdetails"].object(name + ".prompt_tokens_details")
	if err != nil {
		return 0, 0, err
	}
	counts := map[string]float64{}
	for _, field := range []string{
		"prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens",
	} {
		if counts[field], err = usage[fold(field)].number(name + "." + field); err != nil {
			return 0, 0, err
		}
	}
	cached, err := details["cachedtokens"].number(name + ".prompt_tokens_details.cached_tokens")
	if err != nil {
		return 0, 0, err
	}
	whole := counts["prompt_tokens"]
	if usage["prompttokens"].missing() {
		whole = counts["input_tokens"] + counts["cache_read_input_tokens"] + counts["cache_creation_input_tokens"]
	}
	if out := usage["completiontokens"]; out.missing() {
		counts["completion_tokens"] = counts["output_tokens"]
	}
	return withCached(count(whole), count(cached)), count(counts["completion_tokens"]), nil
}

// withCached adds the cached part if it is larger than the prompt, which shows that the prompt
// excludes it.
func withCached(prompt, cached int) int {
	if cached > prompt && prompt > 0 {
		return prompt + cached
	}
	return prompt
}
