package servecmd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/persistence"
)

// made returns a file with one empty session.
func made(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	stored, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stored.Create(t.Context(), &session.CreateRequest{AppName: "shop", UserID: "ada", SessionID: "order-1"}); err != nil {
		t.Fatal(err)
	}
	if err := stored.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// started runs the command until stop is called, which returns its error.
func started(t *testing.T, args ...string) (line string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, to := io.Pipe()
	c := Command()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	c.SetOut(to)
	c.SetErr(io.Discard)
	ended := make(chan error, 1)
	go func() {
		err := c.ExecuteContext(ctx)
		to.Close()
		ended <- err
	}()
	t.Cleanup(cancel)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v; the command: %v", err, <-ended)
	}
	return line, func() error { cancel(); return <-ended }
}

func TestServesUntilItIsInterruptedWhichIsNoError(t *testing.T) {
	t.Parallel()
	path := made(t)
	line, stop := started(t, path, "--port", "0")
	_, rest, found := strings.Cut(line, " is shown at ")
	address, _, _ := strings.Cut(rest, " ")
	if !found || !strings.HasPrefix(line, path) || !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Fatalf("the command says %q", line)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.Body.Close() != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "order-1") {
		t.Errorf("%s answers %d, %v: %s", address, resp.StatusCode, err, body)
	}
	if err := stop(); err != nil {
		t.Errorf("after an interrupt: %v", err)
	}
}

func TestAPortInUseIsRefusedWithARemedy(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	c := Command()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs([]string{made(t), "--port", port})
	c.SetOut(io.Discard)
	err = c.ExecuteContext(t.Context())
	var usage *exit.Error
	if want := "--port is " + port + ": another program uses it; choose another, or --port 0 for any free one"; !errors.As(err, &usage) || usage.Code != exit.CodeUsage || err.Error() != want {
		t.Errorf("the error is %v, want %q", err, want)
	}
}
