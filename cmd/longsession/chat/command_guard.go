package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

var errNoGuard = errors.New("this session has no limits: the guard is turned off")

// showGuard shows limits and what is spent. With "reset", it does the same as resumeAfterCeiling.
func showGuard(ctx context.Context, c *Chat, args string, w io.Writer) error {
	if first, rest, _ := strings.Cut(args, " "); strings.EqualFold(first, "reset") {
		return resumeAfterCeiling(ctx, c, strings.TrimSpace(rest), w)
	} else if first != "" {
		return fmt.Errorf("/guard does not know %q: write /guard, or /guard reset +2.50", terminal.Printable(first))
	}
	if c.cfg.Stack.Guard == nil {
		return errNoGuard
	}
	used, err := c.cfg.Stack.Guard.Usage(ctx, c.cfg.sessions(), c.ref)
	if err != nil {
		return err
	}
	var b strings.Builder
	turn, session := c.cfg.Stack.Guard.Limits()
	fmt.Fprintf(&b, "Session: %s\n", amounts(used.USD, used.ModelCalls, used.Tokens.Total(), sum(session, used.Granted)))
	fmt.Fprintf(&b, "Turn:    %s\n", amounts(used.Turn.USD, used.Turn.ModelCalls, used.Turn.Tokens.Total(), turn))
	if used.Granted.Any() {
		fmt.Fprintf(&b, "Granted: %v; it is part of the limits above\n", guard.ResetOptions{AddUSD: used.Granted.USD, AddModelCalls: used.Granted.ModelCalls, AddTokens: used.Granted.Tokens, AddWall: used.Granted.Wall})
	}
	if len(used.Unpriced) > 0 {
		fmt.Fprintf(&b, "The amounts leave out %s: the price is not known.\n", terminal.Printable(strings.Join(used.Unpriced, ", ")))
	}
	if used.Stopped != nil {
		fmt.Fprintf(&b, "Stopped: %s. %s\n", strings.TrimPrefix(used.Stopped.Error(), guard.ErrStopped.Error()+": "), howToGoOn(ctx, c, used.Stopped))
	} else {
		b.WriteString("No limit is reached.\n")
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// sum is a limit with what was granted. A limit that is off stays off.
func sum(limit, granted guard.Limits) guard.Limits {
	if limit.USD > 0 {
		limit.USD += granted.USD
	}
	if limit.ModelCalls > 0 {
		limit.ModelCalls += granted.ModelCalls
	}
	if limit.Tokens > 0 {
		limit.Tokens += granted.Tokens
	}
	if limit.Wall > 0 {
		limit.Wall += granted.Wall
	}
	return limit
}

// amounts says what is spent, and of how much where there is a limit.
func amounts(usd tokens.Nano, calls, used int, limit guard.Limits) string {
	parts := []string{usd.String(), terminal.Plural(calls, "model call"), terminal.Plural(used, "token")}
	if limit.USD > 0 {
		parts[0] += " of " + limit.USD.String()
	}
	if limit.ModelCalls > 0 {
		parts[1] = terminal.Commas(calls) + " of " + terminal.Plural(limit.ModelCalls, "model call")
	}
	if limit.Tokens > 0 {
		parts[2] = terminal.Commas(used) + " of " + terminal.Plural(limit.Tokens, "token")
	}
	if limit.Wall > 0 {
		parts = append(parts, fmt.Sprintf("at most %v", limit.Wall))
	}
	text := strings.Join(parts, ", ")
	if !limit.Any() {
		text += "; no limit is set"
	}
	return text
}

// howToGoOn says what lets a stopped session go on.
func howToGoOn(ctx context.Context, c *Chat, stop *guard.StopError) string {
	if stop.Scope == guard.ScopeSession {
		// A reset that adds nothing changes nothing in such a session. Its error says what is missing.
		var short *guard.ResetError
		if errors.As(c.cfg.Stack.Guard.Reset(ctx, c.cfg.sessions(), c.ref, guard.ResetOptions{}), &short) {
			return missing(short)
		}
	}
	return "/resume-after-cost-ceiling lets it go on."
}

// missing says what to type.
func missing(short *guard.ResetError) string {
	m, add := short.Missing, []string{"/resume-after-cost-ceiling"}
	if m.AddUSD > 0 {
		cents := (m.AddUSD + tokens.Cent - 1) / tokens.Cent // rounded up, to be enough
		add = append(add, fmt.Sprintf("+%d.%02d", cents/100, cents%100))
	}
	if m.AddModelCalls > 0 {
		add = append(add, fmt.Sprintf("+%d calls", m.AddModelCalls))
	}
	if m.AddTokens > 0 {
		add = append(add, fmt.Sprintf("+%d tokens", m.AddTokens))
	}
	if m.AddWall > 0 {
		add = append(add, fmt.Sprintf("+%v", m.AddWall+time.Second))
	}
	return "To go on, add at least this: " + strings.Join(add, " ")
}

// resumeAfterCeiling lets a stopped session go on, with more to spend if need be.
func resumeAfterCeiling(ctx context.Context, c *Chat, args string, w io.Writer) error {
	if c.cfg.Stack.Guard == nil {
		return errNoGuard
	}
	add, err := parseGrant(args)
	if err != nil {
		return err
	}
	used, err := c.cfg.Stack.Guard.Usage(ctx, c.cfg.sessions(), c.ref)
	if err != nil {
		return err
	}
	if used.Stopped == nil && add == (guard.ResetOptions{}) {
		_, err = fmt.Fprintln(w, "The session is not stopped. An amount, such as +2.50, raises its ceiling.")
		return err
	}
	var short *guard.ResetError
	switch err := c.cfg.Stack.Guard.Reset(ctx, c.cfg.sessions(), c.ref, add); {
	case errors.As(err, &short):
		return fmt.Errorf("the session stays stopped: %s of %s are used. %s", short.Stopped.Spent, short.Stopped.Bound, missing(short))
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(w, "The session goes on: %s.\n", add)
	return err
}

// parseGrant reads amounts: "+2.50" or "+$2.50" of money, "+100 calls", "+50,000 tokens" and "+10m" of time. No text is
// no amount.
func parseGrant(text string) (guard.ResetOptions, error) {
	var add guard.ResetOptions
	words := strings.Fields(strings.ToLower(text))
	for i := 0; i < len(words); i++ {
		number, unit := strings.TrimPrefix(words[i], "+"), ""
		if i+1 < len(words) {
			unit = strings.TrimSuffix(words[i+1], "s")
		}
		var err error
		switch unit {
		case "call":
			add.AddModelCalls, err = count(number)
			i++
		case "token":
			add.AddTokens, err = count(number)
			i++
		case "usd", "dollar":
			add.AddUSD, err = dollars(number)
			i++
		default:
			if wall, failed := time.ParseDuration(number); failed == nil && wall > 0 {
				add.AddWall = wall
			} else {
				add.AddUSD, err = dollars(number)
			}
		}
		if err != nil {
			return guard.ResetOptions{}, fmt.Errorf("%q is no amount to add: write dollars as in /resume-after-cost-ceiling +2.50, or +100 calls, +50000 tokens, +10m", terminal.Printable(text))
		}
	}
	return add, nil
}

var errAmount = errors.New("no amount")

func count(text string) (int, error) {
	n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	if err != nil || n <= 0 {
		return 0, errAmount
	}
	return n, nil
}

func dollars(text string) (tokens.Nano, error) {
	usd, err := tokens.ParseUSD(text)
	if err != nil || usd <= 0 {
		return 0, errAmount
	}
	return usd, nil
}
