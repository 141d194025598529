package toolresult

import (
	"errors"
	"math"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// Room is the size of a request apart from its contents, in estimated tokens. Both numbers must be
// estimates (package tokens) and not counts by a provider, so that every process masks the same results.
type Room struct {
	// Effective is the effective context window. If 0, Masking.From does not apply.
	Effective int
	// Fixed is the size of the system instruction and the tool declarations.
	Fixed int
}

// Masked reports what a [Masker] did to a request.
type Masked struct {
	// Results is how many results are masked in the request, including those that were masked in
	// earlier requests or before the call. Refs has their references, oldest first.
	Results int
	Refs    []string
	// Tokens is the estimated number of tokens that the masks of Results save.
	Tokens int
	// Batch reports whether results are masked that an earlier request still showed. At is the index
	// of the first content with such a result: up to there the request begins like the one before.
	Batch bool
	At    int
	// Failed is how many results stay visible because put returned an error or panicked, and Err is the
	// first of these errors.
	Failed int
	Err    error
}

// A Masker replaces each old tool result in a request by a short text with its size in tokens. Calls,
// their arguments and thought signatures, and the number and order of all parts stay as they are, and so
// do the notes that other layers wrote into a result. The mask of a result has its reference under
// the key "ref_id", so the model can read the result with read_result.
//
// Which results are masked depends only on the contents, the [Room] and the [Masking]: every process
// masks the same ones, and a request whose contents extend those of an earlier one shows no result that
// was masked there.
//
// The zero value and a nil Masker leave every request as it is. A Masker is safe for concurrent use. It never
// panics.
type Masker struct {
	keepFirst, keepLast, batch int
	batchFollows               bool // a small window makes the batch smaller
	from                       float64
	exempt                     []string
	sizes                      *sizeCache // nil: masks nothing
}

// NewMasker returns a masker. Its error joins one [*ConfigError] for each value that is refused.
func NewMasker(cfg Masking) (*Masker, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.KeepFirst == Off && cfg.KeepLast == Off {
		return &Masker{}, nil
	}
	m := &Masker{
		keepFirst: orDefault(cfg.KeepFirst, defaultKeepFirst),
		keepLast:  orDefault(cfg.KeepLast, defaultKeepLast),
		batch:     orDefault(cfg.BatchTokens, defaultBatchTokens),
		from:      orDefault(cfg.From, defaultFrom),
		exempt:    append([]string(nil), cfg.Exempt...),

		batchFollows: cfg.BatchTokens == 0,
		sizes:        newSizeCache(),
	}
	return m, nil
}

// Apply masks the results in the middle of req.Contents, in batches: the oldest Masking.KeepFirst and the
// newest Masking.KeepLast stay visible, and so do results that a mask would not make smaller, results of
// exempt tools, and all results of the newest round. It replaces the Response maps of these results
// and changes nothing else.
//
// put stores the whole result before it is masked; if it returns an error, the result stays visible. It
// receives the result in every request, and only results without a reference of their own. If nil,
// results can be read without being stored again, for example because the session service keeps them.
//
// Apply on a request that it has masked changes nothing.
func (m *Masker) Apply(req *model.LLMRequest, room Room, put func(tool string, r store.Result) error) Masked {
	least := 0
	if room.Effective > 0 {
		least = int(math.Ceil(m.share() * float64(room.Effective)))
	}
	return m.mask(req, put, func(p *maskPlan) { p.chooseBatches(req.Contents, room.Fixed, least, m.batchIn(room)) })
}

// ApplyAll masks every result that is larger than its mask, except those of the newest round and of exempt
// tools: the last resort for a request that does not fit otherwise. It pays no attention to
// Masking.KeepFirst, KeepLast, BatchTokens and From. See [Masker.Apply] for put.
func (m *Masker) ApplyAll(req *model.LLMRequest, put func(tool string, r store.Result) error) Masked {
	return m.mask(req, put, func(p *maskPlan) { p.chooseAll(req.Contents) })
}

// batchIn is how many tokens of results a batch has at least.
func (m *Masker) batchIn(room Room) int {
	batch := m.batch
	if m.batchFollows && room.Effective > 0 {
		batch = min(batch, int(batchShare*float64(room.Effective)))
	}
	return max(batch, 1)
}

func (m *Masker) share() float64 {
	if m == nil {
		return 0
	}
	return m.from
}

// mask decides with choose which results of req are masked, and masks them.
func (m *Masker) mask(req *model.LLMRequest, put func(string, store.Result) error, choose func(*maskPlan)) (masked Masked) {
	if m == nil || m.sizes == nil || req == nil || len(req.Contents) == 0 {
		return Masked{}
	}
	defer func() {
		// Values of an app's own types may panic when they are measured. Results that are not masked
		// by then stay visible.
		if p := recover(); p != nil {
			masked.Failed++
			masked.Err = errors.Join(masked.Err, panicked(p))
		}
	}()
	p := newMaskPlan(m)
	defer p.release()
	choose(p)
	p.write(put, &masked)
	return masked
}
