package adk

import (
	"bytes"
	"encoding/json"
	"reflect"

	"google.golang.org/adk/session"
)

// compactionKey is the key of CustomMetadata under which services keep the record of ADK's own compaction where the
// type of the storage has no field for it: _COMPACTION_CUSTOM_METADATA_KEY in adk-python's
// sessions/vertex_ai_session_service.py, and [KeepCompaction].
const compactionKey = "_compaction"

// compactionField is the index of Compaction in session.EventActions, -1 in versions of ADK without it: all before v2.3.
var compactionField = fieldOf(reflect.TypeFor[session.EventActions]())

// fieldOf returns the index of the field of actions that holds the record of a compaction, -1 for none.
func fieldOf(actions reflect.Type) int {
	if f, ok := actions.FieldByName("Compaction"); ok && len(f.Index) == 1 {
		return f.Index[0]
	}
	return -1
}

// IsCompaction reports whether ev is a record of ADK's own compaction, which the app turns on by EventsCompactionConfig: it
// has actions.compaction, and does not speak. From v2.3 on, ADK replaces every event in the record's range of times by the
// record's summary when it builds a prompt. The rule is that of hasCompaction in internal/compactioninternal/apply.go,
// except that an event with content is conversation, whatever else it carries. It is false for nil.
func IsCompaction(ev *session.Event) bool {
	if ev == nil {
		return false
	}
	value, kept := ev.CustomMetadata[compactionKey]
	if !(kept && isRecord(value)) && !(compactionField >= 0 && holds(&ev.Actions, compactionField)) {
		return false // nearly always, and for the price of one look into a map
	}
	return !Classify(ev).Is(Speaks)
}

// holds reports whether a field of actions, a pointer to a struct, is set.
func holds(actions any, field int) bool {
	return !reflect.ValueOf(actions).Elem().Field(field).IsZero()
}

// isRecord tells a record of ADK from what an app may keep under the same key: it has the summary, under the name that
// adk-python or ADK Go gives it.
func isRecord(value any) bool {
	object, _ := value.(map[string]any)
	return object["compacted_content"] != nil || object["compactedContent"] != nil
}

// KeepCompaction puts the record of ADK's own compaction, which is in the stored JSON of an event's actions, into the
// event's metadata if the event has lost it, because the type of its actions has no field for it, and reports whether it did.
func KeepCompaction(ev *session.Event, actions []byte) bool {
	if !bytes.Contains(actions, []byte(`"compaction"`)) {
		return false
	}
	var stored struct {
		Compaction json.RawMessage `json:"compaction"`
	}
	return json.Unmarshal(actions, &stored) == nil && KeepRecord(ev, stored.Compaction)
}

// CompactionName is the name of that field among [FurtherFields], in versions of ADK that have it.
const CompactionName = "Actions.Compaction"

// KeepRecord does what [KeepCompaction] does, given the JSON of the record alone. Without any it does nothing.
func KeepRecord(ev *session.Event, compaction []byte) bool {
	var object map[string]any
	if len(compaction) == 0 || compactionField >= 0 && holds(&ev.Actions, compactionField) ||
		json.Unmarshal(compaction, &object) != nil || !isRecord(object) {
		return false
	}
	if ev.CustomMetadata == nil {
		ev.CustomMetadata = map[string]any{}
	}
	ev.CustomMetadata[compactionKey] = object
	return true
}
