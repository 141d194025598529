package toolresult

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/tokens"
)

// Shorten returns a content whose parts have at most about so many tokens each: c itself if all of them
// have, else a copy. Of texts, thoughts, results, arguments, code, what code printed, and attachments of text it keeps
// the beginning and the end, with a marker between them; other attachments give way to a line that names them. It is for
// what would otherwise fit no window, and changes nothing that c shares.
//
// ref keeps a whole text and returns the reference by which read_result finds it, "" if none does. The
// marker names it. If ref is nil, markers have no reference. The result follows from the content, most and
// the references alone.
func Shorten(c *genai.Content, most int, ref func(tool string, whole store.Result) string) *genai.Content {
	if c == nil {
		return nil
	}
	out := c
	for i, part := range c.Parts {
		if tokens.OfPart(part) <= most {
			continue
		}
		if out == c {
			clone := *c
			clone.Parts = slices.Clone(c.Parts)
			out = &clone
		}
		s := shortener{most: most, ref: ref}
		out.Parts[i] = s.part(part)
	}
	return out
}

// shortener shortens one part.
type shortener struct {
	most int
	ref  func(tool string, whole store.Result) string
}

func (s shortener) part(part *genai.Part) *genai.Part {
	out := *part
	switch {
	case part.FunctionResponse != nil:
		out.FunctionResponse = s.response(part.FunctionResponse)
	case part.FunctionCall != nil:
		call := *part.FunctionCall
		call.Args = s.object("arguments", call.Args)
		out.FunctionCall = &call
	case part.InlineData != nil && tokens.OfPart(&genai.Part{InlineData: part.InlineData}) > s.most:
		return s.attachment(part)
	case part.ExecutableCode != nil:
		code := *part.ExecutableCode
		code.Code = s.text(code.Code, s.refTo("", store.TextResult(code.Code)))
		out.ExecutableCode = &code
	case part.CodeExecutionResult != nil:
		result := *part.CodeExecutionResult
		result.Output = s.text(result.Output, s.refTo("", store.TextResult(result.Output)))
		out.CodeExecutionResult = &result
	case part.ToolCall != nil:
		call := *part.ToolCall
		call.Args = s.object("arguments", call.Args)
		out.ToolCall = &call
	case part.ToolResponse != nil:
		response := *part.ToolResponse
		response.Response = s.object("response", response.Response)
		out.ToolResponse = &response
	default:
		out.Text = s.text(part.Text, s.refTo("", store.TextResult(part.Text)))
	}
	return &out
}

// refTo asks for a reference.
func (s shortener) refTo(tool string, whole store.Result) string {
	if s.ref == nil {
		return ""
	}
	return s.ref(tool, whole)
}

// text returns the beginning and the end of a text, at most about as many tokens as may be.
func (s shortener) text(text, ref string) string {
	total := tokens.Estimate(text)
	if total <= s.most {
		return text
	}
	for kept := s.most - s.most/8; ; kept = kept * 3 / 4 {
		bytes := int(int64(len(text)) * int64(kept) / int64(total) / 2)
		head, tail := text[:boundary(text, bytes)], text[boundary(text, len(text)-bytes):]
		marker := truncated(tokens.Estimate(head)+tokens.Estimate(tail), total, s.most, Both)
		if ref != "" {
			marker = fmt.Sprintf("%s; %s reads it whole, with %s %s]", strings.TrimSuffix(marker, "]"), ReadResultName, refKey, ref)
		}
		out := head + "\n" + marker + "\n" + tail
		if kept <= 1 || tokens.Estimate(out) <= s.most {
			return out
		}
	}
}

// boundary returns the beginning of the character that byte i of a text belongs to.
func boundary(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// response shortens a result to one text. A reference that it has stays.
func (s shortener) response(from *genai.FunctionResponse) *genai.FunctionResponse {
	out := *from
	if tokens.OfPart(&genai.Part{FunctionResponse: &genai.FunctionResponse{Response: from.Response}}) > s.most {
		whole := store.ResultOf(from.Response)
		ref, shortened := IsShortened(from.Name, from.Response)
		if !shortened {
			ref = s.refTo(from.Name, whole)
		}
		out.Response = map[string]any{maskKey: s.text(whole.Content, ref)}
		if ref != "" {
			out.Response[refKey] = ref
		}
		copyNotes(out.Response, from.Response)
	}
	if tokens.OfPart(&genai.Part{FunctionResponse: &out}) > 2*s.most {
		out.Parts = nil
	}
	return &out
}

// object shortens the texts in an object, such as the arguments of a call, or all of them to one of that name if there are
// too many.
func (s shortener) object(name string, args map[string]any) map[string]any {
	each := shortener{most: max(1, s.most/4)}
	whole, ok := canonical.Value(args).(map[string]any)
	if !ok {
		return args
	}
	short, _ := each.value(whole).(map[string]any)
	if tokens.OfObject(short) > s.most {
		return map[string]any{name: s.text(canonical.String(args), "")}
	}
	return short
}

func (s shortener) value(v any) any {
	switch v := v.(type) {
	case string:
		return s.text(v, "")
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, element := range v {
			out[key] = s.value(element)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = s.value(element)
		}
		return out
	}
	return v
}

// attachment shortens an attachment of text, and replaces any other by a line.
func (s shortener) attachment(part *genai.Part) *genai.Part {
	out, data := *part, *part.InlineData
	if text := string(data.Data); utf8.ValidString(text) {
		data.Data = []byte(s.text(text, s.refTo("", store.TextResult(text))))
		if out.InlineData = &data; tokens.OfPart(&out) <= s.most {
			return &out
		}
	}
	return &genai.Part{Text: fmt.Sprintf("[attachment left out: %.80s, %s bytes]", data.MIMEType, grouped(len(part.InlineData.Data)))}
}
