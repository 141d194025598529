package main

import (
	"fmt"
	"io"
)

// notes are printed below the tables.
var notes = []string{
	"Every message of the user and every result of a tool has its number planted at its start, in its middle and at its end; prompts are longer by that, for all ways alike. " +
		"The model that writes summaries, the same for all ways, answers with one fact for each text that it is shown whole, and each fact that it is shown, and nothing else. " +
		"So what a request lacks was never shown to the writer of a summary in it, or was shown cut, or the writer was not asked. Real writers forget more than that, and write more text; and what a real agent said about a result can outlive the result.",
	"The writer has the window of the table, as the agent's model has, if nothing else is said. longsession cuts the longest values in what the writer reads, in their middle, where they do not fit into it otherwise; the writer is told how much was cut. A writer of 1,000,000 tokens reads everything whole. " +
		"contextguard tells its writer that a tool returned a result, and not what.",
	"At the hard limit, where nothing else makes a prompt fit, longsession has a summary written or shortened without the model (rough), which may lose any fact.",
	"longsession writes summaries in the background, and here has all the time it wants between two model calls. A slow writer leaves the prompts longer for a call or two, unless the window is nearly full: then the turn waits. " +
		"contextguard writes them while the turn waits. What is written in the background may begin an event sooner or later, so that figures of longsession differ by some parts in a thousand from run to run; times differ by a third and more on a machine that does other work.",
	"What of longsession is checked, and ends the command with exit code 1: no request lacks a message, and no last request a result, that is not cut or rough; no result is summarized before the model read it; " +
		"no orphans; no request over the window that could have been avoided; no state keys.",
}

func printNotes(out io.Writer) {
	for _, note := range notes {
		fmt.Fprintf(out, "* %s\n", note)
	}
}
