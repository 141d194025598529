package watchdog

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/internal/notes"
	"github.com/adk-go-ext/longsession/internal/survive"
)

// seed makes hashes unpredictable for a model or a tool that would like to make two results collide.
var seed = maphash.MakeSeed()

// Sizes beyond which values are told apart by their hashes, or not at all.
const (
	maxArgs   = 64 << 10 // bytes of arguments that are written out
	maxValues = 1 << 17  // values that are looked at
	maxWords  = 80       // bytes of a text that may be an acknowledgment
	minEcho   = 8        // bytes of an argument that is recognized in a result
	maxEcho   = 512
)

// Call returns a call with its result as the signals need it. Nil args are as empty ones, and a nil response is
// one that is not known. Notes that this module's layers have written into the response are left out, and so is
// everything that Config.Volatile takes out. Times, durations and request IDs do not tell results of the same call
// apart. Errors are alike if they have the same words, in whatever order. A
// response of more than 131,072 values counts as one that is not known. Call keeps nothing of args and response,
// and survives values that contain themselves, that are very deep, or that JSON cannot show.
func (w *Watchdog) Call(id, tool string, args, response map[string]any) Call {
	c := Call{ID: id, Tool: tool, Args: canonicalArgs(args), Polling: w.polls(tool)}
	if response == nil {
		return c
	}
	response = w.stable(tool, notes.Without(response))
	c.Result = Result{Known: true, Error: isError(response), NoOp: isNoOp(response)}
	d := digest{left: maxValues, onlyAcknowledges: true, anyOrder: c.Result.Error}
	hashes := d.value(response)
	if d.left < 0 {
		return Call{ID: id, Tool: tool, Args: c.Args, Polling: c.Polling}
	}
	c.Result.Hash, c.Result.whole, c.Result.shape, c.Result.numbers = hashes.stable, hashes.whole, hashes.shape, d.numbers
	c.Result.finds = d.finds
	c.Result.Acknowledges = d.onlyAcknowledges || d.text <= maxEcho && echoes(response, args)
	return c
}

func (w *Watchdog) polls(tool string) bool { return slices.Contains(w.cfg.Polling, tool) }

// stable returns a response without what changes each time.
func (w *Watchdog) stable(tool string, response map[string]any) (out map[string]any) {
	if w.cfg.Volatile == nil {
		return response
	}
	defer survive.Else("guard/watchdog: Config.Volatile", func() { out = response })
	return w.cfg.Volatile(tool, response)
}

// Files returns the files that a call changes, by Config.Files.
func (w *Watchdog) Files(tool string, args map[string]any) (files []string) {
	if w.cfg.Files == nil {
		return nil
	}
	defer survive.Else("guard/watchdog: Config.Files", func() { files = nil })
	return w.cfg.Files(tool, args)
}

// canonicalArgs returns arguments as canonical JSON, with sorted keys and numbers in one form. Texts are as they are:
// main.go and /workspace/main.go are two files. Arguments of more than 64 KB are replaced by a text with their
// hash, which is good for one process.
func canonicalArgs(args map[string]any) string {
	if len(args) == 0 {
		return "{}"
	}
	d := digest{left: maxValues}
	hash := d.value(args).whole
	if d.left < 0 {
		return fmt.Sprintf("[more than %d values]", maxValues)
	}
	if d.text > maxArgs || maxValues-d.left > maxArgs/8 {
		return fmt.Sprintf("[more than %d bytes, hash %016x]", maxArgs, hash)
	}
	return canonical.String(args)
}

// digest walks through a value.
type digest struct {
	path canonical.Path
	left int
	text int // bytes of texts seen, numbers included
	// onlyAcknowledges is true as long as all values say no more than that a call has worked.
	onlyAcknowledges bool
	// anyOrder makes texts of the same words equal. Errors list what Go keeps in a map, each time in another order:
	// ADK all tools where a model calls one that does not exist, and all arguments that a tool does not know.
	anyOrder bool
	numbers  int64 // the sum of the whole numbers that may be counters
	finds    bool  // a value says something else than that nothing was found, or that the call has worked
}

// value returns hashes; those of the whole are equal for values with the same canonical JSON.
func (d *digest) value(v any) sums {
	if d.left--; d.left < 0 {
		return like(1)
	}
	switch v := canonical.Level(v).(type) {
	case nil:
		return like(2)
	case bool:
		if v {
			return like(3)
		}
		d.onlyAcknowledges, d.finds = false, true
		return like(4)
	case float64:
		if v != 0 {
			d.onlyAcknowledges, d.finds = false, true
			d.text++
		}
		return like(mix(5, math.Float64bits(v)))
	case string:
		d.text += len(v)
		worked := acknowledges(v)
		d.onlyAcknowledges = d.onlyAcknowledges && worked
		d.finds = d.finds || !worked && !findsNothing(v)
		return like(6).mix(d.words(v))
	case map[string]any:
		return d.object(v)
	case []any:
		return d.list(v)
	}
	return like(7)
}

// words returns hashes of a text.
func (d *digest) words(text string) sums {
	stable, shape := d.volatileText(text)
	if d.anyOrder {
		return sums{wordsOf(text), wordsOf(stable), wordsOf(shape)}
	}
	whole := maphash.String(seed, text)
	if len(stable) == len(text) && stable == text && shape == text {
		return like(whole)
	}
	return sums{whole, maphash.String(seed, stable), maphash.String(seed, shape)}
}

func (d *digest) object(v map[string]any) sums {
	if d.path.EnterObject(v) != "" {
		return like(8)
	}
	defer d.path.Leave()
	sum := like(uint64(len(v))) // a sum, because maps have no order
	for key, element := range v {
		before, found := d.numbers, d.finds
		field := d.value(element)
		switch n, isNumber := canonical.Level(element).(float64); {
		case isTimeKey(key) && atom(element):
			field.stable, field.shape, d.numbers, d.finds = 13, 13, before, found
		case isNumber && isCounterKey(key) && n == math.Trunc(n) && math.Abs(n) < 1e15 && !bounded(v, n):
			field.shape = 14
			d.numbers += int64(n)
		}
		sum = sum.add(like(maphash.String(seed, key)).mix(field))
	}
	return like(9).mix(sum)
}

// atom reports whether a value is a text or a number.
func atom(v any) bool {
	switch canonical.Level(v).(type) {
	case string, float64:
		return true
	}
	return false
}

// bounded reports whether an object has a number that is greater than one of its numbers: 3 of 40 tests is progress, and
// not the counter of somebody who asks.
func bounded(v map[string]any, n float64) bool {
	for key, other := range v {
		if most, isNumber := canonical.Level(other).(float64); isNumber && most > n && !isTimeKey(key) {
			return true
		}
	}
	return false
}

func (d *digest) list(v []any) sums {
	d.onlyAcknowledges = false
	if d.path.EnterList(v) != "" {
		return like(10)
	}
	defer d.path.Leave()
	hash := like(uint64(len(v)))
	for _, element := range v {
		hash = hash.mix(d.value(element))
		if d.left < 0 {
			break
		}
	}
	return like(11).mix(hash)
}

// mix returns a hash of two numbers, in this order.
func mix(a, b uint64) uint64 {
	h := a*0x9e3779b97f4a7c15 + b
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// acknowledges reports whether a text says only that a call has worked. Such a text has few words: one of them says so,
// and none says that something is missing.
func acknowledges(text string) bool {
	if len(text) > maxWords {
		return false
	}
	switch strings.ToLower(strings.Trim(text, " .!()\n")) {
	case "", "true", "no errors", "no issues found", "no output", "bash completed with no output":
		return true
	}
	worked := false
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' }) {
		switch strings.Trim(word, ".") {
		case "ok", "okay", "done", "success", "successful", "successfully", "succeeded", "completed", "saved", "written", "created",
			"updated", "deleted", "added", "removed", "inserted", "sent", "noted", "accepted", "pass", "passed":
			worked = true
		case "no", "not", "none", "nothing", "never", "already", "fail", "failed", "failure", "error", "errors", "cannot", "0":
			return false
		}
	}
	return worked
}

// findsNothing reports whether a short text says that nothing was found.
func findsNothing(text string) bool {
	if len(text) > maxEcho {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, word := range words {
		switch word {
		case "no", "none", "nothing", "0", "zero", "empty", "without":
			return true
		case "not":
			if i+1 < len(words) && (words[i+1] == "found" || words[i+1] == "exist") {
				return true
			}
		}
	}
	return false
}

// echoes reports whether a short result contains an argument: "The file a/b.go has been updated.".
func echoes(response, args map[string]any) bool {
	for _, result := range response {
		text, ok := result.(string)
		if !ok {
			continue
		}
		for _, arg := range args {
			if arg, ok := arg.(string); ok && len(arg) >= minEcho && len(arg) <= maxEcho && strings.Contains(text, arg) {
				return true
			}
		}
	}
	return false
}

// isNoOp reports whether a tool says that it did nothing, at the top or in a result of its own.
func isNoOp(response map[string]any) bool {
	if response["no_op"] == true {
		return true
	}
	for _, key := range [...]string{"result", "output"} {
		if inner, ok := response[key].(map[string]any); ok && inner["no_op"] == true {
			return true
		}
	}
	return false
}

// isError reports whether a result is an error: of ADK, which has the key error, or of an MCP server.
func isError(response map[string]any) bool {
	if response["isError"] == true || response["is_error"] == true {
		return true
	}
	switch e := response["error"].(type) {
	case nil:
		return false
	case bool:
		return e
	case string:
		return e != ""
	}
	return true
}
