package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// stdinArg stands for standard input among the files.
const stdinArg = "-"

// stdinName is what standard input is called in reports.
const stdinName = "<stdin>"

// input is a file of conversations that is there and was looked into, but not read yet.
type input struct {
	name     string
	bytes    int64 // 0 if unknown
	stdin    bool
	database bool
}

// item is what an input holds: a conversation, or what is wrong with it.
type item struct {
	conversation *conversation.Conversation
	err          error
	// fatal reports that err ends the run also under --keep-going.
	fatal bool
	// bytes is how much of the input was read for it.
	bytes int64
}

// checkInputs looks at all files before any work is done, so that a typing error costs no time.
func checkInputs(args []string) ([]input, error) {
	var inputs []input
	stdin := false
	for _, name := range args {
		if name == stdinArg {
			if stdin {
				return nil, badInput("- stands among the files twice: standard input can be read once")
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
			if !other.stdin && sameFile(other.name, name) {
				return nil, badInput("%s and %s are the same file: its conversations would count twice; name it once", other.name, name)
			}
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

func lookInto(name string) (input, error) {
	in := input{name: name}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return in, badInput("%s: no such file; name a file of recorded conversations, or - for standard input", name)
	case err != nil:
		return in, badInput("cannot read a file: %w", err)
	case info.IsDir():
		return in, badInput("%s is a folder: name the files in it", name)
	case !info.Mode().IsRegular():
		return in, nil // a pipe, which can be opened once
	}
	in.bytes = info.Size()
	f, err := os.Open(name)
	if err != nil {
		return in, badInput("cannot read a file: %w", err)
	}
	in.database = isDatabase(name)
	return in, f.Close()
}

// each yields what the input holds, one conversation in memory at a time, until yield returns false.
func (in input) each(ctx context.Context, stdin io.Reader, yield func(item) bool) bool {
	switch {
	case in.database:
		return in.eachSession(ctx, yield)
	case in.stdin:
		return in.eachLine(stdin, yield)
	}
	f, err := os.Open(in.name)
	if err != nil {
		return yield(item{err: badInput("cannot read a file: %w", err)})
	}
	defer f.Close()
	return in.eachLine(f, yield)
}

func (in input) eachLine(from io.Reader, yield func(item) bool) bool {
	counted := &counter{r: from}
	peek := bufio.NewReaderSize(counted, len(sqliteMagic)) // longer reads pass by its buffer
	if first, _ := peek.Peek(1); bytes.Equal(first, sqliteMagic[:1]) {
		if head, _ := peek.Peek(len(sqliteMagic)); bytes.Equal(head, sqliteMagic) {
			return yield(item{err: &conversation.Error{File: in.name, Message: -1,
				Problem: "a session file, which cannot be read as it comes: save it and name it as FILE"}})
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
			return true // nothing behind it can be read
		}
	}
}

// counter counts what is read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
