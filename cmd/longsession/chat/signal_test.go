//go:build unix

package chat

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// A chat that has no channel for Ctrl-C takes the signal of the process. The test runs itself in a process of its own,
// because the signal would reach every chat of this one.
func TestWithoutAChannelTheSignalOfTheProcessCounts(t *testing.T) {
	t.Parallel()
	if os.Getenv("LONGSESSION_TEST_SIGNAL") != "" {
		i := listen(nil)
		defer i.stop()
		for range 2 {
			err := i.during(context.Background(), func(ctx context.Context) error {
				_, _ = os.Stderr.WriteString("working\n")
				<-ctx.Done()
				return ctx.Err()
			}, func() {})
			if !errors.Is(err, errCanceled) {
				t.Fatalf("the work ended with %v", err)
			}
		}
		_, _ = os.Stderr.WriteString("stopped twice\n")
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^TestWithoutAChannelTheSignalOfTheProcessCounts$")
	child.Env = append(os.Environ(), "LONGSESSION_TEST_SIGNAL=1")
	pipe, err := child.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var shown []string
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		shown = append(shown, lines.Text())
		if lines.Text() == "working" {
			if err := child.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err != nil || !strings.HasSuffix(strings.Join(shown, " "), "working working stopped twice") {
		t.Errorf("the process ended with %v and showed %q", err, shown)
	}
}
