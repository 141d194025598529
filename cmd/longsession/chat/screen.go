package chat

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// screen writes what the person sees: answers to out as they arrive, all else to err. On a terminal it shows a spinner
// until the first word comes. It is safe for concurrent use.
type screen struct {
	mu       sync.Mutex
	out, err io.Writer
	together bool            // what is written to out and to err comes to one place: the terminal, or one pipe or file
	shown    terminal.Screen // of err
	column   bool            // the last character on out was not a newline
	closed   bool
	failed   error         // of writing to out
	held     int           // how many hold the screen: somebody types
	later    []func()      // what is written when nobody holds it any more
	spin     chan struct{} // ends the spinner
	spinning bool          // its line is on the screen
}

func newScreen(out, err io.Writer) *screen {
	return &screen{out: out, err: err, together: isTerminal(out) || sameFile(out, err), shown: terminal.Of(err)}
}

// isTerminal reports whether a stream of the process is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// sameFile reports whether two streams of the process lead to one pipe or file, as after "2>&1".
func sameFile(out, err any) bool {
	o, _ := out.(*os.File)
	e, _ := err.(*os.File)
	if o == nil || e == nil {
		return false
	}
	outInfo, outErr := o.Stat()
	errInfo, errErr := e.Stat()
	return outErr == nil && errErr == nil && os.SameFile(outInfo, errInfo)
}

// hold keeps notes back while somebody types, because they would be written into the line. release shows them.
func (s *screen) hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopSpinner()
	s.held++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.held--; s.held > 0 {
			return
		}
		for _, write := range s.later {
			write()
		}
		s.later = nil
	})
}

// failure is the error of writing answers, such as that of a pipe that nobody reads.
func (s *screen) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// close drops everything that is written from now on.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopSpinner()
	s.closed = true
}

// print writes a part of an answer.
func (s *screen) print(text string) {
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.failed != nil {
		return
	}
	s.stopSpinner()
	s.write(harmless(text))
}

// write writes to out. The caller holds mu.
func (s *screen) write(text string) {
	if _, err := io.WriteString(s.out, text); err != nil {
		s.failed = fmt.Errorf("the answer cannot be written: %w", err)
		return
	}
	s.column = !strings.HasSuffix(text, "\n")
}

// endLine begins a new line on out if something is on the last one.
func (s *screen) endLine() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finishLine()
}

func (s *screen) finishLine() {
	if s.column && !s.closed && s.failed == nil {
		s.write("\n")
	}
}

// printed is a writer to out for the text of a command, which ends with a newline.
func (s *screen) printed() io.Writer { return printer{s} }

type printer struct{ s *screen }

func (p printer) Write(b []byte) (int, error) {
	p.s.print(string(b))
	return len(b), p.s.failure()
}

// note writes lines to err, wrapped and safe to show.
func (s *screen) note(text string) {
	s.aside(func() {
		for line := range strings.Lines(text) {
			_, _ = fmt.Fprintln(s.err, s.shown.Wrap(terminal.Printable(strings.TrimSuffix(line, "\n")), 0))
		}
	})
}

// fail writes an error to err.
func (s *screen) fail(err error) {
	s.aside(func() { _, _ = fmt.Fprintln(s.err, s.shown.Bad(s.shown.Wrap(terminal.Printable(err.Error()), 0))) })
}

// aside has write add lines to err: at once, or as soon as nobody types.
func (s *screen) aside(write func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if s.held > 0 {
		s.later = append(s.later, write)
		return
	}
	s.stopSpinner()
	if s.together {
		s.finishLine()
	}
	write()
}

// wait shows a spinner with a text until something is written, or stop is called. It shows nothing in the first 300
// milliseconds, and nothing at all where err is no terminal.
func (s *screen) wait(text string) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopSpinner()
	if s.shown.Columns == 0 || s.closed || s.held > 0 || os.Getenv("TERM") == "dumb" {
		return func() {}
	}
	end := make(chan struct{})
	s.spin = end
	go s.turnSpinner(end, terminal.Shorten(text, s.shown.Width()-2))
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.spin == end {
			s.stopSpinner()
		}
	}
}

func (s *screen) turnSpinner(end <-chan struct{}, text string) {
	frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-end:
			return
		case <-tick.C:
		}
		if i < 2 {
			continue
		}
		s.mu.Lock()
		if s.spin == end && !(s.together && s.column) {
			_, _ = fmt.Fprintf(s.err, "\r%c %s", frames[i%len(frames)], text)
			s.spinning = true
		}
		s.mu.Unlock()
	}
}

// stopSpinner takes the spinner off the screen. The caller holds mu.
func (s *screen) stopSpinner() {
	if s.spin != nil {
		close(s.spin)
		s.spin = nil
	}
	if s.spinning {
		_, _ = io.WriteString(s.err, "\r\x1b[K")
		s.spinning = false
	}
}

// harmless escapes what a terminal would obey: at once, or when the file that the pipe leads to is shown. Newlines and tabs stay, and so do the joiners that emoji and some
// scripts need.
func harmless(text string) string {
	keep := func(r rune) bool {
		return r == '\n' || r == '\t' || r == '\u200d' || r == '\u200c' || strconv.IsPrint(r)
	}
	if strings.IndexFunc(text, func(r rune) bool { return !keep(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case keep(r):
			b.WriteRune(r)
		case r == '\r':
		default:
			b.WriteString(terminal.Printable(string(r)))
		}
	}
	return b.String()
}
