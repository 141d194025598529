package values

import "strings"

// The kinds of values.
const (
	kindDate    = "date" // and times
	kindQuote   = "quote"
	kindID      = "identifier"
	kindPath    = "path" // of a file
	kindLink    = "link" // URLs and mail addresses
	kindNumber  = "number"
	kindMoney   = "money"
	kindName    = "name"
	kindThing   = "thing"   // in Chinese, what follows words such as "is called"
	kindCount   = "count"   // a number in words: "ten years"
	kindOwn     = "own"     // "my X is Y"
	kindFailure = "failure" // an error that a tool reported
)

// Marks behind a kind.
const (
	markIs   = "+is"   // a word such as "is" connects the value with the words before it
	markCue  = "+cue"  // the message says that it corrects something
	markTool = "+tool" // from a call or its response
)

// weights is how much the values of a kind are worth for each token, before anything else. The order follows the
// answers per token that each kind gave for questions about long chats, but dates count no more than numbers,
// because some sets of questions ask for little else.
var weights = map[string]float64{
	kindDate: 1, kindQuote: 1.2, kindID: 1.2, kindPath: 1, kindLink: 1, kindNumber: 1.1, kindMoney: 1.1, kindName: 1.2,
	kindThing: .8, kindCount: .6, kindOwn: .5, kindFailure: .5,
}

const (
	weightUser = 1.5 // of what the user said
	weightCall = .5  // of the arguments of a call
	weightTool = .3  // of a response
)

// plain is a kind without marks.
func plain(kind string) string {
	kind, _, _ = strings.Cut(kind, "+")
	return kind
}

func has(kind, mark string) bool { return strings.Contains(kind, mark) }

// inContext reports whether the values of a kind mean something only with the words before them.
func inContext(kind string) bool {
	switch plain(kind) {
	case kindDate, kindNumber, kindMoney, kindCount:
		return true
	}
	return false
}
