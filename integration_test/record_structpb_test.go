package integration_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/adk-go-ext/longsession/record"
)

// Vertex AI stores state as a structpb.Struct, which refuses any value that is not plain JSON.
func TestARecordSurvivesStructpb(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../record/testdata/record_v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	want, err := record.Decode(object)
	if err != nil {
		t.Fatal(err)
	}
	want.Values = []record.Value{{Text: "booking code XK7P2", Kind: "identifier", Author: "user", Event: "event-1", At: want.CreatedAt, Uses: 2, Score: 1.5}}
	message, err := structpb.NewStruct(record.Encode(want))
	if err != nil {
		t.Fatalf("the record holds what structpb refuses: %v", err)
	}
	got, err := record.Decode(message.AsMap())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record changed (-want +got):\n%s", diff)
	}
}
