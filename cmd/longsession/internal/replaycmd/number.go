package replaycmd

import (
	"cmp"
	"strconv"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/compaction"
)

// automatic is the value of a flag that leaves a number to the library.
const automatic = "auto"

// number is a setting of the library in a flag: auto for 0, and 0 for Off. zero describes what Off does.
func number(to *int, zero string) setting.Value { return numberOr(to, automatic, zero) }

// numberOr is the same with another word for 0.
func numberOr(to *int, word, zero string) setting.Value {
	text := func() string {
		switch *to {
		case 0:
			return word
		case compaction.Off:
			return "0"
		}
		return strconv.Itoa(*to)
	}
	return setting.New(text, func(text string) error {
		n := 0
		if text != word {
			if err := setting.Int(&n, 0, setting.NoLimit, zero).Set(text); err != nil {
				return err
			}
			n = cmp.Or(n, compaction.Off)
		}
		*to = n
		return nil
	})
}

// autoShare is a share of the effective window in a flag, likewise.
func autoShare(to *float64) setting.Value {
	text := func() string {
		switch *to {
		case 0:
			return automatic
		case compaction.Off:
			return "0"
		}
		return strconv.FormatFloat(*to, 'g', -1, 64)
	}
	return setting.New(text, func(text string) error {
		share := 0.0
		if text != automatic {
			if err := setting.Share(&share, "the effective window", "turns it off").Set(text); err != nil {
				return err
			}
			share = cmp.Or(share, compaction.Off)
		}
		*to = share
		return nil
	})
}
