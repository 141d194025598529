package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// dataFolder is the environment variable with the folder of recorded conversations.
const dataFolder = "LONGSESSION_DATA"

// long reads a file of recorded conversations and returns those with at least the given number of
// messages.
func long(dir, file string, messages int) ([]*conversation.Conversation, error) {
	all, err := conversation.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil, fmt.Errorf("-data, or %s, must name a folder with recorded conversations, or nothing: %w", dataFolder, err)
	}
	found := slices.DeleteFunc(all, func(c *conversation.Conversation) bool { return c.Messages() < messages })
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no conversation of %d messages: is it another file?", file, messages)
	}
	return found, nil
}
