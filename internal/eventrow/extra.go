package eventrow

import (
	"encoding/json"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// extra has every field of an event that has no column of its own, under readable names.
type extra struct {
	ErrorCode               string                   `json:"error_code,omitzero"`
	ErrorMessage            string                   `json:"error_message,omitzero"`
	FinishReason            genai.FinishReason       `json:"finish_reason,omitzero"`
	ModelVersion            string                   `json:"model_version,omitzero"`
	TurnComplete            bool                     `json:"turn_complete,omitzero"`
	Interrupted             bool                     `json:"interrupted,omitzero"`
	AvgLogprobs             float64                  `json:"avg_logprobs,omitzero"`
	InputTranscription      *genai.Transcription     `json:"input_transcription,omitzero"`
	OutputTranscription     *genai.Transcription     `json:"output_transcription,omitzero"`
	CitationMetadata        *genai.CitationMetadata  `json:"citation_metadata,omitzero"`
	GroundingMetadata       *genai.GroundingMetadata `json:"grounding_metadata,omitzero"`
	LogprobsResult          *genai.LogprobsResult    `json:"logprobs_result,omitzero"`
	SessionResumptionHandle string                   `json:"session_resumption_handle,omitzero"`
	// Time is set if the event's time is outside of the range of the time column.
	Time  *Instant `json:"time,omitzero"`
	Exact exactly  `json:"exact,omitzero"`
	// Further has the fields of [adk.FurtherFields] that are set, under their Go names.
	Further map[string]json.RawMessage `json:"further,omitzero"`
}

// furtherOf returns the fields that only some versions of ADK have, nil if none is set.
func furtherOf(ev *session.Event) (map[string]json.RawMessage, error) {
	var out map[string]json.RawMessage
	for _, f := range adk.FurtherFields {
		v := f.Of(ev)
		if v.IsZero() {
			continue
		}
		text, err := JSON(f.Name, v.Interface())
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = map[string]json.RawMessage{}
		}
		out[f.Name] = json.RawMessage(text)
	}
	return out, nil
}

// extraOf returns the fields of an event that have no column.
func extraOf(ev *session.Event) extra {
	return extra{
		ErrorCode: ev.ErrorCode, ErrorMessage: ev.ErrorMessage, FinishReason: ev.FinishReason,
		ModelVersion: ev.ModelVersion, TurnComplete: ev.TurnComplete, Interrupted: ev.Interrupted,
		AvgLogprobs: ev.AvgLogprobs, InputTranscription: ev.InputTranscription,
		OutputTranscription: ev.OutputTranscription, CitationMetadata: ev.CitationMetadata,
		GroundingMetadata: ev.GroundingMetadata, LogprobsResult: ev.LogprobsResult,
		SessionResumptionHandle: ev.SessionResumptionHandle,
	}
}

// set copies the fields into an event.
func (x *extra) set(ev *session.Event) {
	ev.ErrorCode, ev.ErrorMessage, ev.FinishReason = x.ErrorCode, x.ErrorMessage, x.FinishReason
	ev.ModelVersion, ev.TurnComplete, ev.Interrupted = x.ModelVersion, x.TurnComplete, x.Interrupted
	ev.AvgLogprobs, ev.InputTranscription, ev.OutputTranscription = x.AvgLogprobs, x.InputTranscription, x.OutputTranscription
	ev.CitationMetadata, ev.GroundingMetadata, ev.LogprobsResult = x.CitationMetadata, x.GroundingMetadata, x.LogprobsResult
	ev.SessionResumptionHandle = x.SessionResumptionHandle
}

// isZero reports whether no field is set. Most rows have NULL in this column.
func (x *extra) isZero() bool {
	return x.ErrorCode == "" && x.ErrorMessage == "" && x.FinishReason == "" && x.ModelVersion == "" &&
		!x.TurnComplete && !x.Interrupted && x.AvgLogprobs == 0 && x.InputTranscription == nil &&
		x.OutputTranscription == nil && x.CitationMetadata == nil && x.GroundingMetadata == nil &&
		x.LogprobsResult == nil && x.SessionResumptionHandle == "" && x.Time == nil && x.Exact == nil && x.Further == nil
}
