package budget

import (
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/configerr"
)

// Thresholds set what happens at which use of the window. They are shares of the effective window, so
// 0.95 of a window of 128,000 with 8,000 reserved for the reply is 114,000 tokens. A zero field takes
// its value from [Standard]; [compaction.Off] turns a field off. Those that are on must keep the order 0 < Note <
// Compact < Block <= 1.
type Thresholds struct {
	// Note is the use of the window from which a note about it is written into a tool result, once
	// for each further 5%. 0 means 0.80.
	Note float64
	// Compact is the use from which [Thresholds.ShouldCompact] asks for a compaction. The meter compacts only over Block;
	// a stack passes a Compact that is set on to its compaction service. 0 means 0.95.
	Compact float64
	// Block is the use beyond which a request is not sent as it is: it is made smaller first. 0
	// means 0.98.
	Block float64
}

var (
	// Standard uses as much of the window as is safe: note at 80%, compact at 95%, block at 98%.
	Standard = Thresholds{Note: 0.80, Compact: 0.95, Block: 0.98}
	// Early leaves room for models that get worse in a full window: note at 65%, compact at 70%,
	// block at 95%.
	Early = Thresholds{Note: 0.65, Compact: 0.70, Block: 0.95}
)

// ShouldCompact reports whether a request has reached Compact. It is false if Compact is Off.
func (t Thresholds) ShouldCompact(b Budget) bool { return reached(t.withDefaults().Compact, b) }

// IsBlocked reports whether a request of that size has reached Block. It is false if Block is Off. For the
// requests that it sends, [Meter.Model] compares an upper bound of the size with Block instead, because the
// part that no provider has counted yet is only estimated.
func (t Thresholds) IsBlocked(b Budget) bool { return reached(t.withDefaults().Block, b) }

func reached(threshold float64, b Budget) bool {
	return threshold > 0 && b.UsedPercentage() >= threshold
}

// withDefaults replaces zero fields.
func (t Thresholds) withDefaults() Thresholds {
	for _, f := range []struct {
		value    *float64
		fallback float64
	}{{&t.Note, Standard.Note}, {&t.Compact, Standard.Compact}, {&t.Block, Standard.Block}} {
		if *f.value == 0 {
			*f.value = f.fallback
		}
	}
	return t
}

// check returns what is wrong with thresholds, given as they are after defaults.
func (t Thresholds) check() (p configerr.Problems) {
	type named struct {
		name  string
		value float64
	}
	var below named
	for _, f := range []named{{"Note", t.Note}, {"Compact", t.Compact}, {"Block", t.Block}} {
		switch {
		case f.value == compaction.Off:
		case !(f.value > 0 && f.value <= 1):
			p.Refuse("Thresholds."+f.name, f.value, "it is a share of the effective window, above 0 and up to 1; 0 is the default, and Off (%d) turns it off", compaction.Off)
		case f.value <= below.value:
			p.Refuse("Thresholds."+f.name, f.value, "it must be more than %s, which is %v: Note < Compact < Block", below.name, below.value)
		default:
			below = f
		}
	}
	return p
}
