package exit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

func TestTheCodeOfAnError(t *testing.T) {
	t.Parallel()
	ended, stop := context.WithCancel(t.Context())
	stop()
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want int
	}{
		"none":                         {t.Context(), nil, exit.CodeOK},
		"none, but a signal came":      {ended, nil, exit.CodeOK},
		"findings":                     {t.Context(), exit.Findings(2), exit.CodeFindings},
		"usage":                        {t.Context(), exit.Usage("bad"), exit.CodeUsage},
		"usage, wrapped":               {t.Context(), fmt.Errorf("file: %w", exit.Usage("bad")), exit.CodeUsage},
		"usage, joined":                {t.Context(), errors.Join(errors.New("x"), exit.Usage("bad")), exit.CodeUsage},
		"failed":                       {t.Context(), exit.Failed("half done"), exit.CodeFailed},
		"any other":                    {t.Context(), errors.New("x"), exit.CodeFailed},
		"the signal":                   {ended, fmt.Errorf("read: %w", context.Canceled), exit.CodeInterrupted},
		"canceled without a signal":    {t.Context(), context.Canceled, exit.CodeFailed},
		"another error after a signal": {ended, errors.New("x"), exit.CodeFailed},
		"interrupted":                  {t.Context(), exit.Interrupted("3 of 5 done"), exit.CodeInterrupted},
		"a code of its own wins":       {ended, exit.Usage("%w", context.Canceled), exit.CodeUsage},
	} {
		if got := exit.CodeOf(c.ctx, c.err); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

func TestTheTextOfAnError(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	for want, err := range map[string]error{
		"1 finding":                exit.Findings(1),
		"1,234 findings":           exit.Findings(1234),
		"interrupted: 1 of 2 done": exit.Interrupted("1 of 2 done"),
		"x: cause":                 exit.Usage("x: %w", cause),
		"y: cause; z":              errors.Join(exit.Failed("y: %w", cause), errors.New("z")),
	} {
		if got := exit.Line(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if !errors.Is(exit.Usage("x: %w", cause), cause) {
		t.Error("the cause is lost")
	}
}
