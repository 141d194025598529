package gemini_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"
)

// object is a JSON object.
type object = map[string]any

// reply is one answer of the server. The zero value is a model that stops without any text.
type reply struct {
	parts  []object
	finish string // why the model stopped, "" for STOP
	// feedback is why the prompt itself was blocked. Such an answer has no candidates.
	feedback string
	// empty leaves the candidates out.
	empty bool
	// status is the status of a rejected request, with an error in the format of Google's APIs.
	status  int
	refusal string
	// cut closes the connection in the middle of the answer. In a stream, it does so between two
	// chunks or within one.
	cut cut
	// hang never answers, and waits until the caller gives up.
	hang bool
	// until delays the answer until it is closed, if not nil.
	until <-chan struct{}
	// noUsage omits the token counts. thoughts is the number of tokens spent on thinking.
	noUsage  bool
	thoughts int
}

type cut int

const (
	whole cut = iota
	betweenChunks
	withinChunk
)

func say(text string) reply { return reply{parts: []object{{"text": text}}} }

// answer is the model's text at the end of a turn.
func answer() reply {
	return say("I have written that down with all the usual care – naïve as it may be –, and will remember it 🙂.")
}

// calling is a model turn that calls a tool once per number. Calls have no IDs in the Gemini API,
// and have IDs in Vertex AI and with newer models.
func calling(tool string, ids bool, numbers ...int) reply {
	var r reply
	for _, n := range numbers {
		call := object{"name": tool, "args": object{"n": n}}
		if ids {
			call["id"] = fmt.Sprintf("call-%d", n)
		}
		r.parts = append(r.parts, object{"functionCall": call, "thoughtSignature": signature(n)})
	}
	return r
}

// signature is what newer models attach to their calls and require in later requests.
func signature(n int) string { return fmt.Sprintf("c2ln%08d", n) } // valid base64

func transfer(to string) reply {
	return reply{parts: []object{{"functionCall": object{"name": "transfer_to_agent", "args": object{"agent_name": to}}}}}
}

func refuse(status int, name, message string) reply {
	return reply{status: status, refusal: name, parts: []object{{"text": message}}}
}

func (r reply) text() string {
	text, _ := r.parts[0]["text"].(string)
	return text
}

// chunks returns the answer in the form of the API: in one piece, or as a stream of several pieces,
// each with the token counts, and the last with the finish reason.
func (r reply) chunks(usage object, stream bool) []object {
	if r.feedback != "" {
		return []object{{"promptFeedback": object{"blockReason": r.feedback}, "usageMetadata": usage}}
	}
	if r.empty {
		return []object{{"usageMetadata": usage}}
	}
	pieces := [][]object{r.parts}
	if stream {
		pieces = pieces[:0]
		for _, part := range r.parts {
			pieces = append(pieces, split(part)...)
		}
		if len(pieces) == 0 {
			pieces = [][]object{nil}
		}
	}
	var out []object
	for i, parts := range pieces {
		candidate := object{"index": 0}
		if parts != nil {
			candidate["content"] = object{"role": "model", "parts": parts}
		}
		if i == len(pieces)-1 {
			candidate["finishReason"] = r.finish
			if r.finish == "" {
				candidate["finishReason"] = "STOP"
			}
		}
		chunk := object{"candidates": []object{candidate}, "modelVersion": "fake-001"}
		if usage != nil {
			chunk["usageMetadata"] = usage
		}
		out = append(out, chunk)
	}
	return out
}

// split splits a long text into three pieces. Other parts are sent whole.
func split(part object) [][]object {
	text, _ := part["text"].(string)
	runes := []rune(text)
	if len(runes) < 9 {
		return [][]object{{part}}
	}
	third := len(runes) / 3
	var out [][]object
	for _, piece := range []string{string(runes[:third]), string(runes[third : 2*third]), string(runes[2*third:])} {
		again := object{}
		for key, value := range part {
			again[key] = value
		}
		again["text"] = piece
		out = append(out, []object{again})
	}
	return out
}

// write sends the answer.
func (r reply) write(w http.ResponseWriter, usage object, stream bool) {
	if r.status != 0 {
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.WriteHeader(r.status)
		_ = json.NewEncoder(w).Encode(object{"error": object{"code": r.status, "message": r.text(), "status": r.refusal}})
		return
	}
	if stream {
		w.Header().Set("Content-Type", "text/event-stream")
	} else {
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	}
	for i, chunk := range r.chunks(usage, stream) {
		data, err := json.Marshal(chunk)
		if err != nil || !utf8.Valid(data) {
			panic(fmt.Sprintf("the script has a reply that no server sends: %v", err))
		}
		if stream {
			data = fmt.Appendf(nil, "data: %s\r\n\r\n", data)
		}
		if r.cut == withinChunk && (i == 1 || !stream) {
			_, _ = w.Write(data[:len(data)/2])
			abort(w)
		}
		_, _ = w.Write(data)
		_ = http.NewResponseController(w).Flush()
		if r.cut == betweenChunks {
			abort(w)
		}
	}
}

// abort closes the connection in the middle of a response.
func abort(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
