package databases_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/adk-go-ext/longsession/compaction"
)

// childVariable makes this test binary a process of an app: its value is a childSpec in JSON.
const childVariable = "LONGSESSION_TEST_CHILD"

// childSpec says what a child process is.
type childSpec struct {
	Engine, DSN string
	Bare        bool
}

// order is what the parent tells a child to do, one line of JSON each.
type order struct {
	// Do is "turn", "flush", "compact" or "close".
	Do      string
	Session string
	Turn    int
	// Announce has the child reply when the model is asked, and Hang has the model never answer.
	Announce, Hang bool
}

// reply is what came of an order, one line of JSON each.
type reply struct {
	// Asked says that the turn is under way and the model has been asked; another reply follows.
	Asked bool
	Err   string
	// Facts are those of the newest request to the model.
	Facts []string
	// Calls is how often the summarizer was asked so far, and Failures what failed in compactions
	// since the last reply.
	Calls    int
	Failures []string
}

// childTimeout ends an order that hangs. The parent waits longer.
const childTimeout = 60 * time.Second

// runChild takes turns as it is told until its input ends.
func runChild(spec string, in io.Reader, out io.Writer) error {
	var what childSpec
	if err := json.Unmarshal([]byte(spec), &what); err != nil {
		return err
	}
	e, err := engineNamed(what.Engine)
	if err != nil {
		return err
	}
	db, err := sql.Open(e.driver, what.DSN)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	inner, err := overDatabase(e.dialector(db))
	if err != nil {
		return err
	}
	a, err := newApp(inner, what.Bare, nil)
	if err != nil {
		return err
	}
	orders, replies := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		a.asked = nil
		if o.Announce {
			a.asked = func() {
				_ = replies.Encode(reply{Asked: true})
				if o.Hang {
					select {} // until the process is killed
				}
			}
		}
		r := reply{}
		if err := a.obey(o); err != nil {
			r.Err = err.Error()
		}
		r.Facts, r.Calls, r.Failures = a.facts, int(a.writer.calls.Load()), a.seen.failures()
		if err := replies.Encode(r); err != nil {
			return err
		}
	}
}

func (a *app) obey(o order) error {
	ctx, cancel := context.WithTimeout(context.Background(), childTimeout)
	defer cancel()
	switch o.Do {
	case "turn":
		return a.take(ctx, o.Session, o.Turn)
	case "flush":
		if a.compacting == nil {
			return nil
		}
		return a.compacting.Flush(ctx, refTo(o.Session))
	case "compact":
		_, err := a.compacting.Compact(ctx, refTo(o.Session), compaction.CompactOptions{})
		return err
	case "close":
		if a.compacting == nil {
			return nil
		}
		return a.compacting.Close(ctx)
	default:
		return fmt.Errorf("unknown order %q", o.Do)
	}
}
