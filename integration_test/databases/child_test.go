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
	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// childVariable turns this test binary into a process of an app. Its value is a childSpec as JSON.
const childVariable = "LONGSESSION_TEST_CHILD"

// childSpec describes a child process.
type childSpec struct {
	Engine, DSN string
	Bare        bool
}

// order is a command from the parent to a child, as one line of JSON.
type order struct {
	// Do is "turn", "flush", "compact", "install" or "close".
	Do      string
	Session string
	Turn    int
	// Announce makes the child reply when the model is called. Hang makes the model never answer.
	Announce, Hang bool
}

// reply is the result of an order, as one line of JSON.
type reply struct {
	// Asked is true while the turn is running and the model has been called. Another reply follows.
	Asked bool
	Err   string
	// Facts are the facts in the newest request to the model.
	Facts []string
	// Calls is the number of calls to the summarizer so far, and Failures the compaction failures
	// since the last reply.
	Calls    int
	Failures []string
}

// childTimeout limits an order that hangs. The parent waits longer.
const childTimeout = 60 * time.Second

// runChild obeys orders until its input ends.
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
	a.install = func(ctx context.Context) error { return adkdb.Install(ctx, db) }
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
	case "install":
		return a.install(ctx)
	case "close":
		if a.compacting == nil {
			return nil
		}
		return a.compacting.Close(ctx)
	default:
		return fmt.Errorf("unknown order %q", o.Do)
	}
}
