package replay

// Report is what came of one conversation under one policy. Its JSON is the command's documented output:
// a field may be added, none changes its meaning.
type Report struct {
	// File, Line and ID name the conversation.
	File string `json:"file"`
	Line int    `json:"line"`
	ID   string `json:"id"`
	// Policy names the policy.
	Policy string `json:"policy"`
	// Turns and Messages are the recording's; Events is how many were stored with compaction, records
	// among them.
	Turns    int `json:"turns"`
	Messages int `json:"messages"`
	Events   int `json:"events"`
	// Without is what was sent with the whole history in every prompt, With under the policy.
	Without Sent `json:"without"`
	With    Sent `json:"with"`
	// SavedPercent is the share of Without.PromptTokens that the policy saved, 0 to 100. It is negative
	// where summaries made the prompts longer.
	SavedPercent float64 `json:"saved_percent"`
	// Counts says how prompts were counted.
	Counts Counts `json:"counts"`
	// Compactions in the order in which they were stored.
	Compactions []Compaction `json:"compactions"`
	// Summarizer is what the summaries themselves took, estimated where no model wrote them.
	Summarizer Summaries `json:"summarizer"`
	// Orphans is how many function calls without their response, and the other way round, stood in
	// requests. Hidden is how many violations of what a view must keep were found, each in Problems.
	Orphans  int      `json:"orphans"`
	Hidden   int      `json:"hidden"`
	Problems []string `json:"problems,omitempty"`
	// Limit is the context window in tokens, less MaxOutputTokens if the policy sets it; Over are the prompts that exceed it by the counts that the
	// library was given.
	Limit int        `json:"limit"`
	Over  []Overlong `json:"over,omitempty"`
	// Recorded are the recording's own compactions beside ours at the same point.
	Recorded []AtRecorded `json:"recorded_compactions,omitempty"`
	// Facts is nil for a conversation without questions.
	Facts *Facts `json:"facts,omitempty"`
	// Notes say what was made up, left out, or not played as recorded.
	Notes []string `json:"notes,omitempty"`
	// Calls are the model calls in order, for charts; not part of the JSON.
	Calls []Call `json:"-"`
}

// Sent is what one way of playing a conversation sent to the model.
type Sent struct {
	// ModelCalls is the number of requests.
	ModelCalls int `json:"model_calls"`
	// PromptTokens is the sum over all requests. CachedTokens of these were the same, from the start of
	// the prompt, as in the request before.
	PromptTokens int `json:"prompt_tokens"`
	CachedTokens int `json:"cached_tokens"`
	OutputTokens int `json:"output_tokens"`
	// LargestPrompt is the largest of all requests, in tokens.
	LargestPrompt int `json:"largest_prompt"`
	// Dollars at the prices of Options.Model, 0 if it has none. With compaction, what the summaries took
	// is not in it: see Summaries.
	Dollars float64 `json:"dollars"`
}

// Counts says where the sizes of prompts come from.
type Counts struct {
	// Recorded is how many calls without compaction were counted by the recording's provider; the
	// others, and all with compaction, are estimates times Ratio.
	Recorded int `json:"recorded"`
	// Ratio is how many recorded tokens one estimated token was, 1 where nothing was recorded.
	Ratio float64 `json:"ratio"`
	// Fixed is how many tokens of every prompt the recording does not hold (the recorded application's
	// instructions and tool declarations). Every count includes it, unless Left says that it was left out.
	Fixed int  `json:"fixed"`
	Left  bool `json:"fixed_left_out"`
}

// Compaction is one record.
type Compaction struct {
	// Call is the index in Calls of the first model call after it; Turn, from 1, the turn it happened in
	// or behind.
	Call int `json:"call"`
	Turn int `json:"turn"`
	// Kind, Trigger and Level are the record's.
	Kind    string `json:"kind"`
	Trigger string `json:"trigger"`
	Level   int    `json:"level"`
	// Events is how many events it stands for, OriginalTokens and CompactedTokens their size and the
	// summary's.
	Events          int    `json:"events"`
	OriginalTokens  int    `json:"original_tokens"`
	CompactedTokens int    `json:"compacted_tokens"`
	Summary         string `json:"summary"`
}

// Summaries is what writing summaries took.
type Summaries struct {
	// Calls of a model. Estimated of these were not made, because the summarizer asks none: tokens are those of
	// the prompt that a model would have been sent and of the summary that was written, at the recording's scale;
	// dollars are at the prices of Options.SummaryModel, or of Options.Model if it has none.
	Calls        int     `json:"calls"`
	Estimated    int     `json:"estimated_calls"`
	PromptTokens int     `json:"prompt_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Dollars      float64 `json:"dollars"`
	// Failed is how many attempts came to nothing.
	Failed int `json:"failed"`
}

// Overlong is a prompt over the limit.
type Overlong struct {
	// Call is the index in Calls, from 0; Turn counts from 1.
	Call   int `json:"call"`
	Turn   int `json:"turn"`
	Tokens int `json:"tokens"`
	// Event is the largest of what must stay raw (the instruction, what the user said last, and the newest
	// thing that the agent did, a result with its calls), and EventTokens its size. KeptTokens is the size of
	// all of it, with the fixed part.
	Event       string `json:"event"`
	EventTokens int    `json:"event_tokens"`
	KeptTokens  int    `json:"kept_tokens"`
	// Alone reports whether that one event exceeds the limit by itself, and Unavoidable whether all of
	// them do, or leave no room for even the shortest summary of the rest.
	Alone       bool `json:"alone"`
	Unavoidable bool `json:"unavoidable"`
	// Expected is what the library took the prompt to be before it was sent, by the counts it had been given
	// so far; 0 if Unavoidable, or without compaction. Unforeseen reports whether that was within the limit:
	// early in a conversation there are too few counts to tell how many tokens an estimated one is.
	Expected   int  `json:"expected_tokens,omitempty"`
	Unforeseen bool `json:"unforeseen,omitempty"`
}

// Needless reports whether the prompt could have been kept under the limit, and the library knew.
func (o Overlong) Needless() bool { return !o.Unavoidable && !o.Unforeseen }

// AtRecorded compares the first prompt after a compaction of the recorded application with ours.
type AtRecorded struct {
	Call    int    `json:"call"`
	Turn    int    `json:"turn"`
	Trigger string `json:"trigger"`
	// Before is the recorded prompt before it, Theirs the recorded one after it, 0 if not recorded; Ours
	// is the prompt under the policy at the same call.
	Before int `json:"before"`
	Theirs int `json:"theirs"`
	Ours   int `json:"ours"`
}

// Facts says how many questions could still be answered from the last prompt.
type Facts struct {
	// Questions is how many have an accepted answer that stands in the conversation.
	Questions int `json:"questions"`
	// Kept is how many of these have one in the last prompt under the policy: Raw of them in a message
	// as it was said, the others only in a summary. KeepLast is how many would be in the newest messages
	// that fit into as many tokens.
	Kept     int `json:"kept"`
	Raw      int `json:"raw"`
	KeepLast int `json:"keep_last"`
	// Tokens is the size of that prompt.
	Tokens int `json:"tokens"`
	// The other questions are not scored: Unanswerable by what the recording says, Empty without a question or an
	// answer, Unsaid if no accepted answer stands in the conversation word for word.
	Unanswerable int `json:"unanswerable"`
	Empty        int `json:"empty"`
	Unsaid       int `json:"unsaid"`
}

// Call is one model call.
type Call struct {
	// Turn counts from 1.
	Turn int
	// Without, With: size of the prompt in tokens.
	Without, With int
}
