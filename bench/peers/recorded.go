package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// dataFolder names the environment variable with the folder of recorded conversations.
const dataFolder = "LONGSESSION_DATA"

// long reads a file of recorded conversations and returns those of at least that many messages.
func long(dir, file string, messages int) (found []*conversation.Conversation, err error) {
	f, err := os.Open(filepath.Join(dir, file))
	if err != nil {
		return nil, fmt.Errorf("%w: -data, or %s, must name a folder with recorded conversations, or nothing", err, dataFolder)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for reader := conversation.NewReader(f, file); ; {
		c, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if c.Messages() >= messages {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no conversation of %d messages: is it another file?", f.Name(), messages)
	}
	return found, nil
}
