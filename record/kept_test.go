package record_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adk-go-ext/longsession/record"
)

// withKept is a record with what was found when its summary was checked, which came after version 1 was fixed.
func withKept() *record.Metadata {
	m := full()
	share := .4375
	m.Kept, m.Invented = &share, 3
	return m
}

// A damaged share harms no record, and 0 is a share.
func TestADamagedShareHarmsNoRecord(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{"below 0": -.1, "above 1": 1.5, "text": "0.5", "nil": nil, "without end": math.Inf(1), "no number": math.NaN(), "a list": []any{.5}} {
		stored := record.Encode(full())
		stored["kept"], stored["invented"] = value, value
		got, err := record.Decode(stored)
		if err != nil {
			t.Errorf("%s: the record is refused: %v", name, err)
			continue
		}
		if diff := cmp.Diff(full(), got); diff != "" {
			t.Errorf("%s: the record is read differently (-want +got):\n%s", name, diff)
		}
	}
	m := full()
	for _, share := range []float64{0, 1, -1, 2, math.NaN()} {
		m.Kept, m.Invented = &share, 1<<30
		got, err := record.Decode(record.Encode(m))
		if is := share == 0 || share == 1; err != nil || (got.Kept != nil) != is || is && *got.Kept != share || got.Invented != 0 {
			t.Errorf("%v: %+v, %v", share, got, err)
		}
	}
}
