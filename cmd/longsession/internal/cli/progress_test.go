package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// watched is a progress on a terminal of which the test holds the clock.
func watched(inputs ...input) (p *progress, shown *bytes.Buffer, wait func(time.Duration)) {
	shown = &bytes.Buffer{}
	p = newProgress(shown, inputs, false)
	p.w = shown
	now := p.start
	p.now = func() time.Time { return now }
	return p, shown, func(d time.Duration) { now = now.Add(d) }
}

func TestProgressIsSilentForTwoSecondsAndThenShowsHowFarItIs(t *testing.T) {
	t.Parallel()
	p, shown, wait := watched(input{bytes: 1000})
	p.messages(40)
	wait(patience - time.Millisecond)
	p.played(400)
	if shown.Len() > 0 {
		t.Errorf("after less than two seconds it shows %q", shown)
	}
	wait(time.Millisecond)
	p.messages(2)
	if !strings.Contains(shown.String(), "1 conversation, 42 messages  40%") {
		t.Errorf("it shows %q", shown)
	}
	drawn := shown.Len()
	p.messages(1)
	if shown.Len() != drawn {
		t.Errorf("it is drawn again at once: %q", shown.String()[drawn:])
	}
	wait(blink)
	p.messages(1)
	if !strings.Contains(shown.String()[drawn:], "44 messages") {
		t.Errorf("it is not drawn again: %q", shown.String()[drawn:])
	}
}

func TestProgressOfAnUnknownLengthShowsNoShare(t *testing.T) {
	t.Parallel()
	p, shown, wait := watched(input{bytes: 1000}, input{})
	wait(patience)
	p.played(400)
	if text := shown.String(); !strings.Contains(text, "1 conversation, 0 messages") || strings.Contains(text, "%") {
		t.Errorf("it shows %q", text)
	}
}

func TestProgressIsOutOfTheWayOfWhatIsWritten(t *testing.T) {
	t.Parallel()
	p, shown, wait := watched(input{bytes: 1000})
	wait(patience)
	p.played(400)
	before := shown.Len()
	err := p.beside(func() error {
		if cleared := shown.String()[before:]; strings.Trim(cleared, "\r ") != "" || cleared == "" {
			t.Errorf("before a line is written it shows %q, want the bar blanked out", cleared)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	p.finish()
	end := shown.Len()
	p.messages(5)
	p.finish()
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
	if p := newProgress(w, nil, false); p.w != nil {
		t.Error("it writes into a pipe")
	}
	if p := newProgress(&bytes.Buffer{}, nil, false); p.w != nil {
		t.Error("it writes into a buffer")
	}
}
