package chat

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/cmd/longsession/chat/internal/slash"
)

// Work that was left may go on for a while. It must not write into the shell that follows.
func TestWorkThatWasLeftIsNotShown(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	press, begun, free, written := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	c := &Chat{screen: newScreen(&out, &errs), interrupt: listen(press)}
	ended := make(chan error)
	go func() {
		ended <- c.work(context.Background(), func(context.Context) error {
			close(begun)
			<-free
			c.screen.print("late")
			c.screen.note("late")
			c.screen.fail(errors.New("late"))
			close(written)
			return nil
		})
	}()
	<-begun
	press <- struct{}{}
	press <- struct{}{}
	if err := <-ended; !errors.Is(err, ErrInterrupted) {
		t.Errorf("the work ended with %v", err)
	}
	shown := out.String() + errs.String()
	close(free)
	<-written
	if late := out.String() + errs.String(); late != shown {
		t.Errorf("%q became %q", shown, late)
	}
}

// A process that is told to end does not wait for a tool that does not listen.
func TestTheEndOfTheContextDoesNotWaitForDeafWork(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	defer close(free)
	ctx, cancel := context.WithCancel(context.Background())
	i := listen(make(chan struct{}))
	i.grace = 1
	err := i.during(ctx, func(context.Context) error {
		cancel()
		<-free
		return nil
	}, func() {})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the work ended with %v", err)
	}
}

// told closes a channel once a text is written.
type told struct {
	all  bytes.Buffer
	text string
	once sync.Once
	was  chan struct{}
}

func (w *told) Write(b []byte) (int, error) {
	n, err := w.all.Write(b)
	if strings.Contains(w.all.String(), w.text) {
		w.once.Do(func() { close(w.was) })
	}
	return n, err
}

// A command that takes long, such as the first search of a long session, shows that it works.
func TestACommandThatTakesLongShowsThatItWorks(t *testing.T) {
	t.Setenv("TERM", "xterm")
	errs := &told{text: " /dig", was: make(chan struct{})}
	var out bytes.Buffer
	c := &Chat{screen: newScreen(&out, errs)}
	c.screen.shown.Columns = 80
	c.commands = []command{{slash.Command{Name: "dig"}, func(_ context.Context, _ *Chat, _ string, w io.Writer) error {
		select {
		case <-errs.was:
		case <-time.After(time.Minute):
			t.Error("nothing moves")
		}
		_, err := io.WriteString(w, "gold\n")
		return err
	}}}
	if err := c.execute(t.Context(), "dig", ""); err != nil {
		t.Fatal(err)
	}
	c.screen.mu.Lock()
	defer c.screen.mu.Unlock()
	if out.String() != "gold\n" || !strings.HasSuffix(errs.all.String(), "\r\x1b[K") || c.screen.spin != nil {
		t.Errorf("the command wrote %q, and the spinner %q", out.String(), errs.all.String())
	}
}
