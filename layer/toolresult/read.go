package toolresult

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// ReadOptions configure [ReadResult]. The zero value is the defaults.
type ReadOptions struct {
	// Limit is how many bytes of a result one call returns if the model names no limit. 0 means
	// 4,096, or MaxLimit if that is less.
	Limit int
	// MaxLimit is the most bytes that one call returns, whatever limit the model asks for. The
	// returned piece is also at most this long as JSON, where a control character takes six bytes.
	// 0 means 16,384.
	MaxLimit int
	// Timeout bounds one call. When it is over the model is told that the result cannot be read at
	// the moment. 0 means 10 s. Off leaves the call to its context.
	Timeout time.Duration
	// Logger gets a warning when the source fails or panics, without content. If nil, slog.Default()
	// at that time is used.
	Logger *slog.Logger
}

// Defaults and bounds of ReadOptions. A piece of minReadLimit bytes has room for one match of grep with
// every byte escaped.
const (
	defaultReadLimit   = 4_096
	defaultReadMax     = 16_384
	defaultReadTimeout = 10 * time.Second
	minReadLimit       = 1_024
)

// ReadResult returns the tool read_result, by which a model reads whole results from src: piece by
// piece, by lines, or only the lines that match a pattern. The session that calls the tool can read its
// own results and no others; all other references get one and the same answer.
//
// [RequestPlugin] puts the tool into requests; without it, offer it as one of the agent's own tools. A call
// never fails: wrong arguments, unknown references and failures of the source are answered with a
// text under the key "error" that suggests the next step. The pieces of a result, joined, are the result
// byte for byte. The tool may be used by any number of agents and goroutines.
//
// The error names every option that is wrong, each as a [*ConfigError].
func ReadResult(src store.Source, opts ReadOptions) (tool.Tool, error) {
	var p configerr.Problems
	if adk.IsNil(src) {
		p.Refuse("Source", src, "set a source, such as store.Events(sessions)")
	}
	for _, number := range []struct {
		field string
		n     int
	}{{"Limit", opts.Limit}, {"MaxLimit", opts.MaxLimit}} {
		if number.n != 0 && number.n < minReadLimit {
			p.Refuse("ReadOptions."+number.field, number.n, "use at least %d bytes, or 0 for the default", minReadLimit)
		}
	}
	r := &readTool{src: src, limit: opts.Limit, most: opts.MaxLimit, timeout: orDefault(opts.Timeout, defaultReadTimeout), logger: opts.Logger}
	r.most = cmp.Or(r.most, defaultReadMax)
	r.limit = cmp.Or(r.limit, min(defaultReadLimit, r.most))
	if len(p) == 0 && r.limit > r.most {
		p.Refuse("ReadOptions.Limit", r.limit, "use at most MaxLimit, which is %d", r.most)
	}
	if opts.Timeout < Off {
		p.Refuse("ReadOptions.Timeout", opts.Timeout, "use a positive duration, 0 for 10 s, or Off")
	}
	err := p.Join("read_result")
	if err != nil {
		return nil, err
	}
	if r.repeats, err = newRepeats(); err != nil {
		return nil, fmt.Errorf("read_result: %w", err)
	}
	if r.texts, err = newTextCache(); err != nil {
		return nil, fmt.Errorf("read_result: %w", err)
	}
	r.parameters = readParameters(r.limit, r.most)
	return r, nil
}
