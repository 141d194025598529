package adk

import (
	"fmt"
	"reflect"
	"slices"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
)

// FurtherFields are the fields of an event that this module does not name, because only one major of ADK has them or
// only a later version will: storage keeps them under their names, whatever they are. Fields of the actions follow
// "Actions.".
//
//	v1.7   none
//	v2.2   Routes, RequestedInput, Output, NodeInfo
var FurtherFields = append(append(
	fieldsBesides(reflect.TypeFor[session.Event](), "", "LLMResponse", "ID", "Timestamp", "InvocationID", "Branch", "IsolationScope", "Author", "Actions", "LongRunningToolIDs"),
	fieldsBesides(reflect.TypeFor[model.LLMResponse](), "", "Content", "CitationMetadata", "GroundingMetadata", "UsageMetadata", "CustomMetadata", "LogprobsResult",
		"Partial", "TurnComplete", "Interrupted", "ErrorCode", "ErrorMessage", "FinishReason", "AvgLogprobs", "InputTranscription", "OutputTranscription",
		"ModelVersion", "SessionResumptionHandle")...),
	fieldsBesides(reflect.TypeFor[session.EventActions](), "Actions.", "StateDelta", "ArtifactDelta", "RequestedToolConfirmations", "SkipSummarization",
		"TransferToAgent", "Escalate")...)

// FurtherColumns are those of them that ADK's own tables have a column for, which has JSON.
var FurtherColumns = columnsOf(FurtherFields, map[string]string{"Routes": "routes_json", "Output": "output_json", "NodeInfo": "node_info_json", "RequestedInput": "requested_input_json"})

// Column is a field with its column.
type Column struct {
	Field
	Column string
}

func columnsOf(fields []Field, names map[string]string) (found []Column) {
	for _, f := range fields {
		if name := names[f.Name]; name != "" {
			found = append(found, Column{f, name})
		}
	}
	return found
}

// Field is a field of an event.
type Field struct {
	Name  string
	index []int
}

// Of returns the field of an event, which can be set.
func (f Field) Of(ev *session.Event) reflect.Value {
	return reflect.ValueOf(ev).Elem().FieldByIndex(f.index)
}

// fieldsBesides returns the fields of a struct whose names are not known, in their order.
func fieldsBesides(t reflect.Type, prefix string, known ...string) (found []Field) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || slices.Contains(known, f.Name) {
			continue
		}
		found = append(found, Field{prefix + f.Name, indexOf(t, i)})
	}
	return found
}

// indexOf returns where a field of an event, or of a struct in it, is in the event.
func indexOf(t reflect.Type, i int) []int {
	event := reflect.TypeFor[session.Event]()
	if t == event {
		return []int{i}
	}
	for j := range event.NumField() {
		if event.Field(j).Type == t {
			return []int{j, i}
		}
	}
	panic(fmt.Sprintf("adk: an event has no %s", t))
}
