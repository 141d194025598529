package record_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adk-go-ext/longsession/record"
)

// full has a value in every field; testdata/record_v1.json is its stored form.
func full() *record.Metadata {
	day := time.Date(2026, 3, 14, 15, 9, 26, 535_897_932, time.UTC)
	return &record.Metadata{
		RecordID:             "6f1c1f0e-52b8-4a54-9a3b-0d0c5f6f8a01",
		Kind:                 record.KindCheckpoint,
		StartTimestamp:       day,
		EndTimestamp:         day.Add(time.Hour),
		StartInvocationID:    "e-1",
		EndInvocationID:      "e-9",
		CompactedContentJSON: `{"parts":[{"text":"The table is booked: Casa Lola, 20:00."}],"role":"model"}`,
		EventCount:           12,
		OriginalTokens:       3456,
		CompactedTokens:      321,
		CompressionRatio:     10.766355140186915,
		CreatedAt:            day.Add(2 * time.Hour),
		Level:                2,
		Branch:               "root.booking",
		Covered: []record.Ref{
			{ID: "event-1", InvocationID: "e-1", Timestamp: day, Author: "booking"},
			{ID: "event-2", InvocationID: "e-1", Timestamp: day.Add(time.Nanosecond), Author: "booking"},
		},
		Absorbed: []string{"2b1d3c4e-0000-4000-8000-000000000001", "2b1d3c4e-0000-4000-8000-000000000002"},
		Through:  record.Ref{ID: "event-7", InvocationID: "e-9", Timestamp: day.Add(90 * time.Minute), Author: "user"},
		After:    record.Ref{ID: "event-0", InvocationID: "e-1", Timestamp: day.Add(-time.Second), Author: "user"},
		Agent:    "booking",
		Trigger:  record.TriggerTokens,
		Focus:    "the booking",
		Note:     "the table is booked",
		Model:    "gemini-2.5-flash",
		Usage:    record.Usage{PromptTokens: 3500, OutputTokens: 310},
	}
}

func small() *record.Metadata {
	m := &record.Metadata{RecordID: "r", Kind: record.KindSummary, Absorbed: []string{"a"}, Trigger: record.TriggerMerge}
	if err := m.SetText("text"); err != nil {
		panic(err)
	}
	return m
}

func TestStoredFormOfVersion1NeverChanges(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/record_v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var stored map[string]any
	if err := json.Unmarshal(data, &stored); err != nil {
		t.Fatal(err)
	}
	got, err := record.Decode(stored)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full(), got); diff != "" {
		t.Errorf("records stored by earlier releases read differently (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(stored, record.Encode(full())); diff != "" {
		t.Errorf("records are stored differently (-want +got):\n%s", diff)
	}
	for field, value := range stored {
		if reflect.ValueOf(value).IsZero() {
			t.Errorf("the file shows nothing of field %s", field)
		}
	}
}

// The field came after version 1 was fixed: a record without it has none, and it is stored only if it is
// set.
func TestCheckpointThroughIsOptional(t *testing.T) {
	t.Parallel()
	m := small()
	if _, stored := record.Encode(m)["checkpoint_through"]; stored {
		t.Error("it is stored although it is empty")
	}
	m.CheckpointThrough = record.Ref{ID: "event-7", InvocationID: "e-9", Timestamp: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC), Author: "user"}
	got, err := record.Decode(record.Encode(m))
	if err != nil || got.CheckpointThrough != m.CheckpointThrough {
		t.Errorf("%+v, %v", got, err)
	}
}

// The field came after version 1 was fixed. A record hides events, so it must not be refused for what it shows to
// nobody.
func TestUncutIsOptional(t *testing.T) {
	t.Parallel()
	m := small()
	stored := record.Encode(m)
	if _, has := stored["uncut"]; has {
		t.Error("it is stored although it is empty")
	}
	shown, _ := m.Text()
	if whole, err := m.Whole(); err != nil || whole != shown || shown == "" {
		t.Errorf("the whole of %q is %q, %v", shown, whole, err)
	}
	m.Uncut = "The whole text."
	if got, err := record.Decode(record.Encode(m)); err != nil || got.Uncut != m.Uncut {
		t.Errorf("%+v, %v", got, err)
	}
	if whole, err := m.Whole(); err != nil || whole != m.Uncut {
		t.Errorf("the whole of a summary that was cut is %q, %v", whole, err)
	}
	for _, damaged := range []any{nil, 1.0, true, " \n", []any{"text"}, map[string]any{"text": "text"}} {
		stored["uncut"] = damaged
		if got, err := record.Decode(stored); err != nil || got.Uncut != "" {
			t.Errorf("%v is read as %+v, %v", damaged, got, err)
		}
	}
}

func TestRecordSurvivesEveryBackend(t *testing.T) {
	t.Parallel()
	viaJSON := func(t *testing.T, object map[string]any) any {
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var out map[string]any
		if err := json.Unmarshal(data, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	ways := map[string]func(t *testing.T, object map[string]any) any{
		"memory": func(_ *testing.T, object map[string]any) any { return object },
		"JSON":   viaJSON,
		"text": func(t *testing.T, object map[string]any) any {
			data, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		},
		"json.Number": func(t *testing.T, object map[string]any) any {
			data, _ := json.Marshal(object)
			d := json.NewDecoder(strings.NewReader(string(data)))
			d.UseNumber()
			var out map[string]any
			if err := d.Decode(&out); err != nil {
				t.Fatal(err)
			}
			return out
		},
		"integers": func(_ *testing.T, object map[string]any) any {
			toIntegers(object)
			object["version"] = 1
			return object
		},
	}
	for name, way := range ways {
		for what, m := range map[string]*record.Metadata{"full": full(), "small": small(), "with values": withValues(), "with words": withSaid(), "with a share": withKept()} {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				got, err := record.Decode(way(t, record.Encode(m)))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(m, got); diff != "" {
					t.Errorf("record changed (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// Clocks of devices and REST clients are off by any amount; a record of such events must still be
// stored and read.
func TestStrangeTimesAreStoredAndRead(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("east", 14*3600)
	for name, at := range map[string]time.Time{
		"zero":                     {},
		"year 20000":               time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC),
		"before year 0":            time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC),
		"another zone":             time.Date(2026, 1, 1, 0, 0, 0, 1, east),
		"another zone, in year 0":  time.Date(0, 1, 1, 0, 0, 0, 0, east),
		"with a monotonic reading": time.Now(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := small()
			m.StartTimestamp, m.EndTimestamp, m.CreatedAt = at, at, at
			m.Covered = []record.Ref{{ID: "e", Timestamp: at}}
			once, err := record.Decode(record.Encode(m))
			if err != nil {
				t.Fatal(err)
			}
			if year := at.UTC().Year(); year >= 0 && year < 10_000 && !once.CreatedAt.Equal(at) {
				t.Errorf("%v became %v", at, once.CreatedAt)
			}
			if twice, err := record.Decode(record.Encode(once)); err != nil || !reflect.DeepEqual(once, twice) {
				t.Errorf("read again it is %+v (%v), want %+v", twice, err, once)
			}
			if _, err := json.Marshal(record.Encode(m)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEncodeSharesNothingWithTheRecord(t *testing.T) {
	t.Parallel()
	m := full()
	object := record.Encode(m)
	object["absorbed"].([]any)[0] = "changed"
	object["covered"].([]any)[0].(map[string]any)["id"] = "changed"
	if diff := cmp.Diff(full(), m); diff != "" {
		t.Errorf("a change of the stored form changed the record:\n%s", diff)
	}
}

func TestLaterMeansMadeLaterThenGreaterID(t *testing.T) {
	t.Parallel()
	at := func(id string, seconds int64) *record.Metadata {
		return &record.Metadata{RecordID: id, CreatedAt: time.Unix(seconds, 0)}
	}
	for _, r := range []struct {
		a, b *record.Metadata
		want bool
	}{
		{at("a", 2), at("b", 1), true},
		{at("b", 1), at("a", 2), false},
		{at("b", 1), at("a", 1), true},
		{at("a", 1), at("b", 1), false},
		{at("a", 1), at("a", 1), false},
	} {
		if got := r.a.Later(r.b); got != r.want {
			t.Errorf("%s@%d later than %s@%d: %v", r.a.RecordID, r.a.CreatedAt.Unix(), r.b.RecordID, r.b.CreatedAt.Unix(), got)
		}
	}
}
