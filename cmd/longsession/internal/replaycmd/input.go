package replaycmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/replay/conversation"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/files"
	"github.com/adk-go-ext/longsession/persistence"
)

// stdinArg means standard input where a file is expected.
const stdinArg = "-"

// stdinName is the name of standard input in reports.
const stdinName = "<stdin>"

// input is a file of conversations that exists but was not read yet.
type input struct {
	name     string
	bytes    int64 // 0 if unknown
	stdin    bool
	database bool
}

// item is a conversation of an input, or the error in its place.
type item struct {
	conversation *conversation.Conversation
	err          error
	// fatal reports that err ends the run even with --keep-going.
	fatal bool
	// bytes is the size of the item in the input.
	bytes int64
}

// checkInputs looks at all files first, so that a typing error costs no time. A file that is named
// twice, perhaps through a link, would count twice and is refused.
func checkInputs(args []string) ([]input, error) {
	var inputs []input
	stdin := false
	for _, name := range args {
		if name == stdinArg {
			if stdin {
				return nil, exit.Usage("- appears twice among the files: standard input can be read only once")
			}
			stdin = true
			inputs = append(inputs, input{name: stdinName, stdin: true})
			continue
		}
		in, err := lookInto(name)
		if err != nil {
			return nil, err
		}
		for _, other := range inputs {
			if !other.stdin && files.Same(other.name, name) {
				return nil, exit.Usage("%s and %s are the same file: its conversations would count twice; name it once", other.name, name)
			}
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

// lookInto describes a file without reading more than its first bytes. It does not open a pipe: the
// data that a first reader takes would be lost to the second.
func lookInto(name string) (input, error) {
	in := input{name: name}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return in, exit.Usage("%s: no such file; name a file of recorded conversations, or - for standard input", name)
	case err != nil:
		return in, exit.Usage("cannot read a file: %w", err)
	case info.IsDir():
		return in, exit.Usage("%s is a folder: name the files in it", name)
	case !info.Mode().IsRegular():
		return in, nil // a pipe, which can be opened only once
	}
	in.bytes = info.Size()
	f, err := os.Open(name)
	if err != nil {
		return in, exit.Usage("cannot read a file: %w", err)
	}
	in.database = files.IsDatabase(name)
	return in, f.Close()
}

// each yields the items of the input, until yield returns false. It holds one conversation at a
// time.
func (in input) each(ctx context.Context, stdin io.Reader, yield func(item) bool) bool {
	switch {
	case in.database:
		return in.eachSession(ctx, yield)
	case in.stdin:
		return in.eachLine(stdin, yield)
	}
	f, err := os.Open(in.name)
	if err != nil {
		return yield(item{err: exit.Usage("cannot read a file: %w", err)})
	}
	defer f.Close()
	return in.eachLine(f, yield)
}

// eachLine yields the conversations of JSON Lines. An error about one line does not end it: the next
// lines can be read, and with --keep-going they are. It refuses a session file that comes through a
// pipe, which SQLite cannot read.
func (in input) eachLine(from io.Reader, yield func(item) bool) bool {
	counted := &counter{r: from}
	peek := bufio.NewReaderSize(counted, len(files.SQLiteMagic)) // it does not buffer longer reads
	if first, _ := peek.Peek(1); bytes.Equal(first, files.SQLiteMagic[:1]) {
		if head, _ := peek.Peek(len(files.SQLiteMagic)); bytes.Equal(head, files.SQLiteMagic) {
			return yield(item{err: &conversation.Error{File: in.name, Message: -1,
				Problem: "a session file, which cannot be read from a pipe: save it and name it as FILE"}})
		}
	}
	lines := conversation.NewReader(peek, in.name)
	told := int64(0)
	for {
		c, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return true
		}
		it := item{conversation: c, err: err, bytes: counted.n - told}
		told = counted.n
		if !yield(it) {
			return false
		}
		var broken *conversation.Error
		if err != nil && !errors.As(err, &broken) {
			return true // the rest cannot be read
		}
	}
}

// counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// eachSession yields the sessions of a session file, in the order of their names. It opens the file
// read-only. A session goes by its ID or, if another app or user has a session of the same ID, by its
// full name. Each counts as an equal share of the file's bytes, for the progress bar.
func (in input) eachSession(ctx context.Context, yield func(item) bool) bool {
	stored, err := persistence.NewSQLiteSessionService(in.name, persistence.WithReadOnly())
	if err != nil {
		return yield(item{err: exit.Usage("%w", err)})
	}
	defer stored.Close()
	names, err := texts(ctx, stored, "SELECT app, user, id FROM sessions ORDER BY app, user, id", 3)
	if err != nil {
		return yield(item{err: exit.Failed("%w", err)})
	}
	if len(names) == 0 {
		return yield(item{err: &conversation.Error{File: in.name, Message: -1, Problem: "the file has no sessions: name one that an app has written to"}})
	}
	ids := map[string]int{}
	for _, n := range names {
		ids[n[2]]++
	}
	for _, n := range names {
		id := n[2]
		if ids[id] > 1 {
			id = strings.Join(n, "/")
		}
		it := item{bytes: in.bytes / int64(len(names))}
		it.conversation, it.err = storedConversation(ctx, stored, n, id)
		var broken *conversation.Error
		if errors.As(it.err, &broken) {
			broken.File = in.name
		} else if it.err == nil {
			it.conversation.File = in.name
		}
		if !yield(it) {
			return false
		}
	}
	return true
}

// texts returns the rows of a query, whose columns are all text.
func texts(ctx context.Context, stored *persistence.SQLiteSessionService, question string, columns int) (all [][]string, err error) {
	err = stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		rows, err := snap.Query(ctx, question)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			row, to := make([]string, columns), make([]any, columns)
			for i := range row {
				to[i] = &row[i]
			}
			if err := rows.Scan(to...); err != nil {
				return err
			}
			all = append(all, row)
		}
		return rows.Err()
	})
	return all, err
}

// storedConversation reads all events of a session except its compaction records.
func storedConversation(ctx context.Context, stored *persistence.SQLiteSessionService, name []string, id string) (*conversation.Conversation, error) {
	resp, err := stored.Get(ctx, &session.GetRequest{AppName: name[0], UserID: name[1], SessionID: name[2]})
	if err != nil {
		return nil, exit.Failed("%w", err)
	}
	return conversation.FromEvents(id, slices.Collect(resp.Session.Events().All()))
}
