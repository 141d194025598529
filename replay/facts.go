package replay

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/tokens"
)

// lastPrompt is the text of the last request, with one entry per message.
type lastPrompt struct {
	texts []string
	sizes []int // estimated tokens
}

// readPrompt returns the texts of a request.
func readPrompt(req *model.LLMRequest) lastPrompt {
	var p lastPrompt
	for _, c := range req.Contents {
		p.texts = append(p.texts, textOf(c))
		p.sizes = append(p.sizes, tokens.OfContent(c))
	}
	return p
}

func (p lastPrompt) size() (n int) {
	for _, s := range p.sizes {
		n += s
	}
	return n
}

// newest returns the texts at the end that take up at most budget tokens together. With sizes 5, 3
// and 2, a budget of 4 leaves the last text only.
func (p lastPrompt) newest(budget int) []string {
	i := len(p.texts)
	for i > 0 && p.sizes[i-1] <= budget {
		i--
		budget -= p.sizes[i]
	}
	return p.texts[i:]
}

// textOf is all text of a content: what was said, the arguments of calls, and responses.
func textOf(c *genai.Content) string {
	var b strings.Builder
	for _, p := range parts(c) {
		b.WriteString(p.Text)
		b.WriteByte('\n')
		if call := p.FunctionCall; call != nil {
			writeText(&b, call.Args)
		}
		if resp := p.FunctionResponse; resp != nil {
			writeText(&b, resp.Response)
		}
	}
	return b.String()
}

func writeText(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			writeText(b, v[key])
		}
	case []any:
		for _, item := range v {
			writeText(b, item)
		}
	case nil:
	case string:
		b.WriteString(v)
		b.WriteByte('\n')
	default: // numbers as JSON writes them, true and false
		text, _ := json.Marshal(v) // no prompt has a value that JSON cannot express
		b.Write(text)
		b.WriteByte('\n')
	}
}

// facts looks for the accepted answers in the last prompt. It scores only questions whose answer is
// in the last prompt of the whole history, because no policy could answer the others. For example,
// with
//
//	whole history  "a cat", "a dog", "an owl"
//	policy         "Summary: a cat", "an owl"
//
// "cat" and "owl" are kept, "owl" raw, "dog" is unanswered, and "hen" is unsaid. recalled reports whether one search
// finds an answer to a question that the last prompt does not have.
func (r *run) facts(recalled func(q conversation.Question) (bool, error)) (f *Facts, unanswered []string, err error) {
	all := r.whole.last
	said := map[string]bool{}
	for _, text := range all.texts {
		said[text] = true
	}
	raw := slices.DeleteFunc(slices.Clone(r.last.texts), func(text string) bool { return !said[text] })
	newest := all.newest(r.last.size())

	f = &Facts{Tokens: r.prompts[len(r.prompts)-1]}
	for _, q := range r.c.Questions {
		switch {
		case q.Unanswerable:
			f.Unanswerable++
			continue
		case normal(q.Text) == "" || !slices.ContainsFunc(q.Answers, func(a string) bool { return normal(a) != "" }):
			f.Empty++
			continue
		case !anyHolds(all.texts, q.Answers):
			f.Unsaid++
			continue
		}
		f.Questions++
		if anyHolds(r.last.texts, q.Answers) {
			f.Kept++
			f.Recalled++
		} else {
			unanswered = append(unanswered, q.Text)
			found, err := recalled(q)
			if err != nil {
				return nil, nil, err
			}
			if found {
				f.Recalled++
			}
		}
		if anyHolds(raw, q.Answers) {
			f.Raw++
		}
		if anyHolds(newest, q.Answers) {
			f.KeepLast++
		}
	}
	return f, unanswered, nil
}

// searcher returns a function that reports whether one search in the played session finds an answer to a question, as the
// tool recall would return it. Without compaction there is nothing that the prompt does not show.
func (r *run) searcher(ctx context.Context) (func(q conversation.Question) (bool, error), error) {
	if r.svc == nil {
		return func(conversation.Question) (bool, error) { return false, nil }, nil
	}
	search, err := recall.New(r.svc, recall.Config{})
	if err != nil {
		return nil, err
	}
	return func(q conversation.Question) (bool, error) {
		passages, err := search.Search(ctx, r.ref, recall.Query{Text: q.Text})
		if err != nil {
			return false, err
		}
		var texts []string
		for _, p := range passages {
			for _, line := range p.Lines {
				texts = append(texts, line.Text)
			}
		}
		return anyHolds(texts, q.Answers), nil
	}, nil
}

func anyHolds(texts, answers []string) bool {
	for _, text := range texts {
		for _, answer := range answers {
			if holds(text, answer) {
				return true
			}
		}
	}
	return false
}

// holds reports whether text contains answer as whole words, in any case: "35" is not in "1350".
func holds(text, answer string) bool {
	text, answer = normal(text), normal(answer)
	if answer == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], answer)
		if i < 0 {
			return false
		}
		i += from
		if isEdge(text[:i], answer) && isEdge(answer, text[i+len(answer):]) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		from = i + size
	}
}

// isEdge reports whether left and right meet between two words, and not within one.
func isEdge(left, right string) bool {
	l, _ := utf8.DecodeLastRuneInString(left)
	r, _ := utf8.DecodeRuneInString(right)
	return !isWord(l) || !isWord(r)
}

// isWord reports whether r is part of a word. Chinese and Japanese have no space between words, so
// each of their characters is a word.
func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// normal is text in lower case, with single spaces.
func normal(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(text)), " ")
}
