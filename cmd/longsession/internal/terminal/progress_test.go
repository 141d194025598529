package terminal

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// watched returns a progress on a terminal, whose clock the test moves on with wait.
func watched(total int64) (p *Progress, shown *bytes.Buffer, wait func(time.Duration)) {
	shown = &bytes.Buffer{}
	p = NewProgress(shown, total)
	p.w = shown
	now := p.start
	p.now = func() time.Time { return now }
	return p, shown, func(d time.Duration) { now = now.Add(d) }
}

// text returns the description of a bar.
func text(s string) func() string { return func() string { return s } }

func TestProgressIsSilentForTwoSecondsAndThenShowsHowFarItIs(t *testing.T) {
	t.Parallel()
	p, shown, wait := watched(1000)
	wait(patience - time.Millisecond)
	p.Advance(400, text("early"))
	if shown.Len() > 0 {
		t.Errorf("after less than two seconds it shows %q", shown)
	}
	wait(time.Millisecond)
	p.Advance(0, text("1 conversation, 42 messages"))
	if !strings.Contains(shown.String(), "1 conversation, 42 messages  40%") {
		t.Errorf("it shows %q", shown)
	}
	drawn := shown.Len()
	p.Advance(0, text("43 messages"))
	if shown.Len() != drawn {
		t.Errorf("it is drawn again at once: %q", shown.String()[drawn:])
	}
	wait(blink)
	p.Advance(0, text("44 messages"))
	if !strings.Contains(shown.String()[drawn:], "44 messages") {
		t.Errorf("it is not drawn again: %q", shown.String()[drawn:])
	}
}

func TestProgressOfAnUnknownLengthShowsNoShare(t *testing.T) {
	t.Parallel()
	p, shown, wait := watched(-1)
	wait(patience)
	p.Advance(400, text("1 conversation"))
	if text := shown.String(); !strings.Contains(text, "1 conversation") || strings.Contains(text, "%") {
		t.Errorf("it shows %q", text)
	}
}

func TestProgressMakesRoomForOtherOutput(t *testing.T) {
	t.Parallel()
	p, shown, wait := watched(1000)
	wait(patience)
	p.Advance(400, text("1 conversation"))
	before := shown.Len()
	err := p.Aside(func() error {
		if cleared := shown.String()[before:]; strings.Trim(cleared, "\r ") != "" || cleared == "" {
			t.Errorf("before a line is written it shows %q, want the bar blanked out", cleared)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	p.Finish()
	end := shown.Len()
	p.Advance(5, text("5 messages"))
	p.Finish()
	if shown.Len() != end {
		t.Errorf("after the end it shows %q", shown.String()[end:])
	}
}

func TestProgressIsForTerminalsOnly(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if p := NewProgress(w, 0); p.w != nil {
		t.Error("it writes into a pipe")
	}
	if p := NewProgress(&bytes.Buffer{}, 0); p.w != nil {
		t.Error("it writes into a buffer")
	}
}
