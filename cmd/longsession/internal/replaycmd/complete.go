package replaycmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
)

// completeGrid completes the last key or value of a grid. It offers keys that are not used yet and, of
// all values, only summarizers, since others are numbers: after "threshold=3,5 su" it offers
// "threshold=3,5 summarizer=", because a shell replaces the whole word.
func completeGrid(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	begin := typed[:strings.LastIndex(typed, " ")+1]
	word := typed[len(begin):]
	var offered []string
	if key, list, found := strings.Cut(word, "="); found {
		if key != "summarizer" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		given := list[:strings.LastIndex(list, ",")+1]
		for _, value := range suggest.Starting(setting.Names(summarizers), list[len(given):]) {
			if !slices.Contains(strings.Split(given, ","), value) {
				offered = append(offered, begin+key+"="+given+value)
			}
		}
	} else {
		for _, key := range suggest.Starting(gridKeys(), word) {
			if !strings.Contains(" "+begin, " "+key+"=") {
				offered = append(offered, begin+key+"=")
			}
		}
	}
	return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// Bounds of the search for conversations to offer: their number, and the bytes of input that are
// read.
const (
	maxOffered  = 200
	maxOffering = 64 << 20
)

// completeConversations offers the IDs of the conversations in the files given so far.
func completeConversations(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx := c.Context()
	var offered []string
	var read int64
	for _, name := range args {
		in, err := lookInto(name)
		if err != nil || name == stdinArg || in.bytes == 0 { // reading from a pipe would consume its data
			continue
		}
		in.each(ctx, nil, func(it item) bool {
			read += it.bytes
			if it.err == nil && suggest.Fits(it.conversation.ID, typed) {
				offered = append(offered, it.conversation.ID)
			}
			return len(offered) < maxOffered && read < maxOffering && ctx.Err() == nil
		})
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}
