package main

import (
	"fmt"
	"io"
)

// notes are printed below the tables.
var notes = []string{
	"Every message of the user and every tool result contains its number at its start, in its middle and at its end. This lengthens the prompts of all ways equally. " +
		"The model that writes summaries is the same for all ways. It answers with one sentence that is always the same, one fact for each text that it reads uncut, the first three words of each text, and each fact and reference to a whole result that it reads. " +
		"So a text is missing from a request only if the writer of its summary never read it, read it cut, or was not called. Real writers forget more than that, and write more text; on the other hand, a real agent's comments about a result can outlive the result.",
	"Unless stated otherwise, the writer has the same window as the agent's model. If the writer's input does not fit, longsession cuts the longest values in the middle and notes how much it cut. A writer of 1,000,000 tokens reads everything uncut. " +
		"contextguard shows its writer that a tool returned a result, but not the result.",
	"At the hard limit, if no other step makes a prompt fit, longsession writes or shortens a summary without the model (rough), which may lose any fact.",
	"longsession writes summaries in the background, and here has unlimited time between two model calls. With a slow writer, prompts stay longer for a call or two, unless the window is nearly full: then the turn waits. " +
		"contextguard writes summaries while the turn waits. A background summary may begin an event earlier or later, so longsession's figures differ by a few tenths of a percent between runs. Times differ by a third or more on a busy machine.",
	"The command checks longsession's guarantees and exits with code 1 if one is broken: no request lacks a message, and no last request a result, unless it is cut or rough; no result is summarized before the model has read it; " +
		"no orphans; no avoidable request over the window; no state key besides the one that holds the guard's totals.",
}

func printNotes(out io.Writer) {
	for _, note := range notes {
		fmt.Fprintf(out, "* %s\n", note)
	}
}
