package conversation

import (
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// readEvents reads the events of an ADK session.
func (rec *recording) readEvents(v value) error {
	list, err := v.list("events")
	if err != nil {
		return err
	}
	for i, entry := range list {
		where := place{index: i, column: entry.at + 1}
		fields, err := entry.object("the event")
		if err == nil {
			err = rec.readEvent(fields, where)
		}
		if err != nil {
			return inMessage(err, where)
		}
	}
	return nil
}

// readEvent reads an event as ADK's REST server, Python or Go writes it. Of the actions it reads
// a record of ADK's own compaction; it ignores fields that no message needs (grounding, log probabilities), so these can
// have any shape.
func (rec *recording) readEvent(fields object, where place) error {
	ev := &session.Event{}
	var err error
	if ev.Author, err = fields["author"].text("author"); err != nil {
		return err
	}
	if ev.ModelVersion, err = fields["modelversion"].text("modelVersion"); err != nil {
		return err
	}
	ev.Partial = fields["partial"].truth()
	if content := fields["content"]; !content.missing() {
		if ev.Content, err = contentIn("content", content); err != nil {
			return err
		}
	}
	if ev.CustomMetadata, err = fields["custommetadata"].mapping("customMetadata"); err != nil {
		return err
	}
	adk.KeepCompaction(ev, fields["actions"].json)
	if v := fields["inputtranscription"]; !v.missing() {
		ev.InputTranscription = &genai.Transcription{}
	}
	if v := fields["outputtranscription"]; !v.missing() {
		ev.OutputTranscription = &genai.Transcription{}
	}
	usage, err := fields["usagemetadata"].object("usageMetadata")
	if err != nil {
		return err
	}
	ev.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{}
	for _, field := range []struct {
		name   string
		target *int32
	}{
		{"promptTokenCount", &ev.UsageMetadata.PromptTokenCount},
		{"candidatesTokenCount", &ev.UsageMetadata.CandidatesTokenCount},
		{"thoughtsTokenCount", &ev.UsageMetadata.ThoughtsTokenCount},
		{"cachedContentTokenCount", &ev.UsageMetadata.CachedContentTokenCount},
	} {
		n, err := usage[fold(field.name)].number("usageMetadata." + field.name)
		if err != nil {
			return err
		}
		*field.target = int32(count(n))
	}
	var ok bool
	if ev.Timestamp, ok = momentIn(fields["timestamp"]); !ok {
		rec.notes.add("timestamps that could not be read, left out", 1)
	}
	rec.addEvent(ev, where)
	return nil
}
