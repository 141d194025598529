package replay

import "github.com/adk-go-ext/longsession/compaction"

// Report is the result of playing one conversation under one policy. Its JSON is the documented
// output of the command: later versions may add fields, and keep the meaning of these.
//
// All sizes are tokens of the agent's model, and all counts and sizes are 0 if there was none.
// Turns count from 1, calls from 0.
type Report struct {
	// File, Line and ID name the conversation. File is "" and Line is 0 if it was not read from a
	// file.
	File string `json:"file"`
	Line int    `json:"line"`
	ID   string `json:"id"`
	// Policy is the name of the policy.
	Policy string `json:"policy"`
	// Turns and Messages count those of the recording. Events counts the events that were stored
	// under the policy, compaction records included.
	Turns    int `json:"turns"`
	Messages int `json:"messages"`
	Events   int `json:"events"`
	// Without is what the model gets with the whole history in every prompt. With is what it gets
	// under the policy.
	Without Sent `json:"without"`
	With    Sent `json:"with"`
	// SavedPercent is the share of Without.PromptTokens that the policy saved, from 0 to 100. It is
	// negative if summaries made the prompts longer.
	SavedPercent float64 `json:"saved_percent"`
	// Counts is how prompts were counted.
	Counts Counts `json:"counts"`
	// Compactions are in the order in which they were stored.
	Compactions []Compaction `json:"compactions"`
	// Summarizer is the cost of writing the summaries. It is estimated if no model wrote them.
	Summarizer Summaries `json:"summarizer"`
	// Orphans counts function calls without a response, and responses without a call, over all
	// requests.
	Orphans int `json:"orphans"`
	// Hidden counts violations of the invariants of a view, such as an event that is hidden and in
	// no summary. Problems describes the first 20.
	Hidden   int      `json:"hidden"`
	Problems []string `json:"problems,omitempty"`
	// Limit is the context window, less MaxOutputTokens if the policy sets it. Over has the prompts
	// that exceed it, by the counts that the library got.
	Limit int        `json:"limit"`
	Over  []Overlong `json:"over,omitempty"`
	// Layers is what the policy's other layers did, nil without them.
	Layers *Layers `json:"layers,omitempty"`
	// Recorded compares prompts after each compaction of the recorded application.
	Recorded []AtRecorded `json:"recorded_compactions,omitempty"`
	// Facts is nil for a conversation without questions.
	Facts *Facts `json:"facts,omitempty"`
	// Alerts are the patterns that Options.Watchdog found, and WouldStop is where it or Options.Ceiling
	// would have ended a turn or the conversation, which was played to its end.
	Alerts    []Alert     `json:"alerts,omitempty"`
	WouldStop []WouldStop `json:"would_stop,omitempty"`
	// Checkpoints are the recorded calls by which the model reported a finished task.
	Checkpoints []Marked `json:"checkpoints,omitempty"`
	// Notes describe what was made up, left out, or played differently from the recording.
	Notes []string `json:"notes,omitempty"`

	// The fields below are not part of the JSON.

	// Calls are the model calls in order, for charts.
	Calls []Call `json:"-"`
	// Lost has each of Options.Facts that neither the instruction nor the view at the end of the
	// conversation mentions.
	Lost []string `json:"-"`
	// Unanswered has the questions that the last prompt of the whole history answers and the last
	// prompt under the policy does not. There are Facts.Questions - Facts.Kept of them.
	Unanswered []string `json:"-"`
}

// Sent adds up the requests to the agent's model.
type Sent struct {
	// ModelCalls is the number of requests.
	ModelCalls int `json:"model_calls"`
	// PromptTokens is the sum over all requests. CachedTokens is the part that a provider's cache
	// could serve: the start of each prompt that is the same as in the request before.
	PromptTokens int `json:"prompt_tokens"`
	CachedTokens int `json:"cached_tokens"`
	// OutputTokens is the sum over all answers.
	OutputTokens int `json:"output_tokens"`
	// LargestPrompt is the size of the largest request.
	LargestPrompt int `json:"largest_prompt"`
	// Dollars is the price of all requests at Options.Model, 0 if it has no prices. The cost of
	// writing summaries is in [Summaries].
	Dollars float64 `json:"dollars"`
	// Said counts the messages of people before each request from the first compaction on, and SaidWhole those that stand
	// in the request word for word. Messages that no person wrote, by their form, and those that say nothing are left out.
	// Instructions and InstructionsWhole are those of them that instruct or correct, by their words.
	Said              int `json:"said,omitempty"`
	SaidWhole         int `json:"said_whole,omitempty"`
	Instructions      int `json:"instructions,omitempty"`
	InstructionsWhole int `json:"instructions_whole,omitempty"`
}

// Counts is where the sizes of prompts come from.
type Counts struct {
	// Recorded is how many prompts without compaction the recording's provider counted. All other
	// sizes are estimates times Ratio, plus Fixed.
	Recorded int `json:"recorded"`
	// Ratio is the number of recorded tokens for each estimated token, from 0.5 to 2. It is 1 if
	// nothing was recorded.
	Ratio float64 `json:"ratio"`
	// Fixed is the part of every prompt that the recording does not contain: instructions and tool
	// declarations of the recorded application. Every size includes it, unless Left is true.
	Fixed int  `json:"fixed"`
	Left  bool `json:"fixed_left_out"`
	// Pauses is how many calls came more than five minutes after the one before, by the times of the recording. None of
	// their prompts is taken to be in the provider's cache.
	Pauses int `json:"pauses"`
}

// Compaction is one stored compaction record.
type Compaction struct {
	// Call is the index in Calls of the first model call after it. Turn is the turn in which it
	// happened, or after which it happened.
	Call int `json:"call"`
	Turn int `json:"turn"`
	// Kind, Trigger and Level are those of the record.
	Kind    string `json:"kind"`
	Trigger string `json:"trigger"`
	Level   int    `json:"level"`
	// Events is how many events it covers. OriginalTokens is their size, and CompactedTokens the
	// size of the summary, both in estimated tokens.
	Events          int `json:"events"`
	OriginalTokens  int `json:"original_tokens"`
	CompactedTokens int `json:"compacted_tokens"`
	// Kept is the share of exact values of these events that the view has with the record, nil where it was not measured, and
	// Invented how many values were cut out of the summary because the events do not have them.
	Kept     *float64 `json:"kept,omitempty"`
	Invented int      `json:"invented,omitempty"`
	// Summary is the text of the summary.
	Summary string `json:"summary"`
	// ByPrice is the arithmetic of the prompt that set it off, nil if it was not compacted because that pays. See
	// [compaction.Economy].
	ByPrice *ByPrice `json:"by_price,omitempty"`
}

// ByPrice is why a session was compacted when it was: reading what the summary replaces had cost Held, which had to
// reach Threshold, and was expected to cost Saving more, which had to reach Price. Amounts are in USD.
type ByPrice struct {
	// Calls is how many calls the session had had.
	Calls     int     `json:"calls"`
	Held      float64 `json:"held_dollars"`
	Threshold float64 `json:"threshold_dollars"`
	Saving    float64 `json:"saving_dollars"`
	Price     float64 `json:"price_dollars"`
}

// byPrice returns nil unless a compaction was due because it pays.
func byPrice(e compaction.Economy) *ByPrice {
	if !e.Due() {
		return nil
	}
	return &ByPrice{Calls: e.Calls, Held: e.Held, Threshold: e.Threshold, Saving: e.Saving, Price: e.Price}
}

// Summaries is the cost of writing summaries.
type Summaries struct {
	// Calls counts calls of the summary model that it answered. Estimated is how many of them were not
	// made, because the summarizer calls no model. Their tokens are those of the prompt that a model would have
	// read and of the summary that was written, at the recording's scale.
	Calls     int `json:"calls"`
	Estimated int `json:"estimated_calls"`
	// PromptTokens and OutputTokens are sums over Calls. They are estimates for calls whose usage the model does not report.
	PromptTokens int `json:"prompt_tokens"`
	OutputTokens int `json:"output_tokens"`
	// Dollars is at the prices of Options.SummaryModel. If it has none, it is the cost that the
	// compaction service reports, and estimated calls are at the prices of Options.Model.
	Dollars float64 `json:"dollars"`
	// Failed counts compactions that failed. Report.Notes has the reason of the first.
	Failed int `json:"failed"`
	// Written counts the stored summaries that a model wrote. If Policy.Config has a Model, WithoutModel counts those that were
	// stored without it, after a failure or to make them shorter, and Seconds is how long all compactions took, which is
	// how long that model took but for milliseconds. They are 0 otherwise.
	Written      int     `json:"written,omitempty"`
	WithoutModel int     `json:"without_model,omitempty"`
	Seconds      float64 `json:"seconds,omitempty"`
	// Measured is of how many summaries that a model wrote the share of kept values was measured, Kept the mean of these
	// shares, from 0 to 1, and Invented how many values were cut out of summaries because their windows do not have them.
	Measured int     `json:"measured,omitempty"`
	Kept     float64 `json:"kept,omitempty"`
	Invented int     `json:"invented,omitempty"`
}

// Overlong is a prompt over the limit.
type Overlong struct {
	// Call is the index in Calls, Turn the turn, and Tokens the size of the prompt.
	Call   int `json:"call"`
	Turn   int `json:"turn"`
	Tokens int `json:"tokens"`
	// Event names the largest part that must stay raw, such as "result of weather". Those parts are
	// the instruction, the newest message of the user, and the newest event of the agent, a result
	// together with its calls. EventTokens is its size. KeptTokens is the size of all of them, with
	// Counts.Fixed and the declarations that layers add.
	Event       string `json:"event"`
	EventTokens int    `json:"event_tokens"`
	KeptTokens  int    `json:"kept_tokens"`
	// Alone reports whether that one part exceeds the limit by itself. Unavoidable reports whether
	// all of them do, or leave no room for the shortest summary of the rest, to a fiftieth of the limit.
	Alone       bool `json:"alone"`
	Unavoidable bool `json:"unavoidable"`
	// Expected is the size that the library expected before the prompt was sent, from the counts
	// that it had by then. It is 0 if Unavoidable, or without compaction. Unforeseen reports
	// whether Expected was within the limit: early in a conversation there are too few counts to
	// know the provider's scale.
	Expected   int  `json:"expected_tokens,omitempty"`
	Unforeseen bool `json:"unforeseen,omitempty"`
}

// Needless reports whether the prompt could have been kept under the limit, and the library could
// have known.
func (o Overlong) Needless() bool { return !o.Unavoidable && !o.Unforeseen }

// AtRecorded compares the first prompt after a compaction of the recorded application with the same
// prompt under the policy.
type AtRecorded struct {
	Call int `json:"call"`
	Turn int `json:"turn"`
	// Trigger is the recorded reason, such as "auto".
	Trigger string `json:"trigger"`
	// Before is the recorded prompt before the compaction, and Theirs the recorded one after it, 0
	// if not recorded. Ours is the prompt under the policy at the same call.
	Before int `json:"before"`
	Theirs int `json:"theirs"`
	Ours   int `json:"ours"`
}

// Facts is how many of the recording's questions the last prompt can answer.
type Facts struct {
	// Questions counts the questions with an accepted answer in the last prompt of the whole
	// history.
	Questions int `json:"questions"`
	// Kept is how many of them have an answer in the last prompt under the policy. Raw is how many
	// of those have it in an original message, and not only in a summary. KeepLast is how many have
	// it in the newest messages that take up as many tokens as that prompt.
	Kept     int `json:"kept"`
	Raw      int `json:"raw"`
	KeepLast int `json:"keep_last"`
	// Recalled is how many have an answer in the last prompt under the policy, or in what one call of the tool
	// recall finds with the question as its query. Without compaction it is Kept.
	Recalled int `json:"recalled"`
	// Tokens is the size of the last prompt under the policy.
	Tokens int `json:"tokens"`
	// These questions are not scored: Unanswerable by the recording's own account, Empty without a
	// question or an answer, and Unsaid without an accepted answer in the conversation, word for
	// word.
	Unanswerable int `json:"unanswerable"`
	Empty        int `json:"empty"`
	Unsaid       int `json:"unsaid"`
}

// Call is one model call.
type Call struct {
	// Turn counts from 1. It is 0 if there is no such call without compaction.
	Turn int
	// Without and With are the size of the prompt without compaction and under the policy. Without
	// is 0 if there is no such call.
	Without, With int
	// WithoutUSD and WithUSD are what the conversation has cost by the end of the call, with the summaries that came
	// before it. They are 0 without prices.
	WithoutUSD, WithUSD float64
}
