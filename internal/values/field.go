package values

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// A number in an object means something by the name of its field: {"order_id": 4172, "total": 48.5} has "order id
// 4172" and "total 48.5". The same holds for a text that is only a number, an amount, a date or an identifier.

const (
	maxFields    = 12 // values that are named by their fields, of one call or response
	maxRows      = 3  // objects in a list whose fields are read; a longer list is a listing
	leastNumber  = 10 // whole numbers below it are counts and switches
	maxExact     = 1 << 53
	maxFieldName = 24 // bytes of each of its words
	maxFieldText = 40 // bytes
)

// unimportant are words of fields whose values say nothing later: places in a text, sizes, times of a machine and
// bounds of a request.
var unimportant = set("line lines column col row index offset position pos start end begin page pages size bytes length len chars tokens limit max min top depth width height " +
	"time timestamp ts created updated modified accessed mtime ctime expires expiry duration elapsed took latency ms ns seconds secs timeout retry retries ttl interval " +
	"exit status returncode errno pid ppid uid gid mode inode code score confidence probability progress percentage level indent checksum hash etag nonce seed")

// identifying are words of fields whose number is a name.
var identifying = set("id no nr num number ref reference ticket order invoice account customer sku isbn zip postcode plz")

// field returns the words of a field's name, at most two, "" if its value is not worth keeping.
func field(name string) string {
	words := fieldWords(name)
	for _, w := range words {
		if unimportant[w] {
			return ""
		}
	}
	return strings.Join(words[max(0, len(words)-2):], " ")
}

// fieldPath is a field and the one that it is in, in words.
func fieldPath(parent, name string) string {
	return strings.Join(append(fieldWords(parent), fieldWords(name)...), " ")
}

// fieldWords splits a name: order_id, orderId and order-id have the words order and id.
func fieldWords(name string) (words []string) {
	if len(name) > 4*maxFieldName {
		return nil
	}
	begin, last := 0, rune(0)
	end := func(to int) {
		w := strings.ToLower(name[begin:to])
		if w != "" && len(w) <= maxFieldName && !stop[w] {
			words = append(words, w)
		}
	}
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r):
			end(i)
			begin = i + len(string(r))
		case unicode.IsUpper(r) && unicode.IsLower(last):
			end(i)
			begin = i
		}
		last = r
	}
	end(len(name))
	return words
}

// fieldKind returns the kind of a text that is only a value which needs the name of its field, "" if it is not one.
func fieldKind(text, name string) string {
	if text == "" || len(text) > maxFieldText {
		return ""
	}
	tokens := appendTokens(nil, text)
	if len(tokens) != 1 || tokens[0].text != text {
		return ""
	}
	switch tokens[0].class {
	case classMoney:
		return kindMoney
	case classDate, classTime:
		return kindDate
	case classNumber:
		for word := range strings.FieldsSeq(name) {
			if identifying[word] {
				return kindID
			}
		}
		if n, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(n) < leastNumber && n == math.Trunc(n) {
			return ""
		}
		return kindNumber
	case classID:
		return kindID
	}
	return ""
}

// numberText returns a number as JSON has it, the same from every backend: a stored number is read back as float64.
func numberText(value any) (text string, ok bool) {
	switch v := value.(type) {
	case float64:
		if math.IsNaN(v) || math.Abs(v) >= maxExact {
			return "", false
		}
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case json.Number:
		n, err := v.Float64()
		if err != nil {
			return "", false
		}
		return numberText(n)
	}
	switch v := reflect.ValueOf(value); {
	case v.CanInt():
		return numberText(float64(v.Int()))
	case v.CanUint():
		return numberText(float64(v.Uint()))
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'f', -1, v.Type().Bits()), !math.IsNaN(v.Float()) && math.Abs(v.Float()) < maxExact
	}
	return "", false
}
