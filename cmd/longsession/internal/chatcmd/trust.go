package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/layer/prompt/agentsmd"
)

// The values of --trust.
const (
	trustAsk = "ask"
	trustYes = "yes"
	trustNo  = "no"
)

// trust knows which projects may give instructions to the agent.
type trust struct {
	mode string
	file string // the answers of the person; "" keeps none
	// ask asks the person about a folder. It is nil if nobody is there.
	ask func(folder string) (bool, error)
	// say shows a note.
	say func(text string)
}

// loader returns the files of the project that the agent is to follow. The person is asked here, and never in a turn.
func (t trust) loader(folder string) (*agentsmd.Loader, error) {
	l := agentsmd.NewLoader(folder)
	root := "" // of a project with files
	l.Trust = func(found string) bool { root = found; return false }
	if _, err := l.Load(); err != nil {
		return nil, err
	}
	trusted := false
	if root != "" {
		var err error
		if trusted, err = t.decide(root); err != nil {
			return nil, err
		}
	}
	// A file may appear in the middle of the chat. Nobody is asked then, so an answer of an earlier chat counts.
	l.Trust = func(found string) bool {
		if found == root {
			return trusted
		}
		known, yes := t.remembered(found)
		return t.mode == trustYes || t.mode == trustAsk && known && yes
	}
	return l, nil
}

// decide reports whether a project is trusted.
func (t trust) decide(root string) (bool, error) {
	if t.mode != trustAsk {
		return t.mode == trustYes, nil
	}
	if known, yes := t.remembered(root); known {
		return yes, nil
	}
	if t.ask == nil {
		t.say(fmt.Sprintf("The project files of %s are not read, because nobody has trusted them: chat there in a terminal once, or use --trust yes.", terminal.Printable(root)))
		return false, nil
	}
	yes, err := t.ask(root)
	if err != nil {
		return false, err
	}
	if err := t.remember(root, yes); err != nil {
		t.say("The answer could not be kept, so the next chat will ask again: " + terminal.Printable(err.Error()))
	}
	return yes, nil
}

// remembered returns the newest answer about a folder.
func (t trust) remembered(folder string) (known, yes bool) {
	if t.file == "" {
		return false, false
	}
	text, err := os.ReadFile(t.file)
	if err != nil {
		return false, false // the person is asked again
	}
	quoted := strconv.Quote(folder)
	for line := range strings.Lines(string(text)) {
		answer, of, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && of == quoted && (answer == trustYes || answer == trustNo) {
			known, yes = true, answer == trustYes
		}
	}
	return known, yes
}

// remember keeps an answer. Chats that end at the same time do not lose each other's.
func (t trust) remember(folder string, yes bool) error {
	if t.file == "" {
		return nil
	}
	answer := trustNo
	if yes {
		answer = trustYes
	}
	if err := os.MkdirAll(filepath.Dir(t.file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(t.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %s\n", answer, strconv.Quote(folder))
	return errors.Join(err, f.Close())
}

// askTrust asks at a terminal. It reads one line and no byte more, because the chat reads what follows. An empty line,
// and the end of the input, is no.
func askTrust(ctx context.Context, in io.Reader, out io.Writer) func(folder string) (bool, error) {
	return func(folder string) (bool, error) {
		fmt.Fprintf(out, "%s has project files (AGENTS.md) with instructions for the agent.\nFollow them in this folder from now on? [y/N] ", terminal.Printable(folder))
		var line []byte
		one := make([]byte, 1)
		for {
			if err := ctx.Err(); err != nil {
				return false, context.Cause(ctx)
			}
			n, err := in.Read(one)
			if n > 0 && one[0] != '\n' {
				line = append(line, one[0])
			}
			switch {
			case n > 0 && one[0] == '\n', errors.Is(err, io.EOF):
				answer := strings.ToLower(strings.TrimSpace(string(line)))
				return answer == "y" || answer == trustYes, nil
			case err != nil:
				return false, err
			}
		}
	}
}
