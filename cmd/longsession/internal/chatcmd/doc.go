// Package chatcmd is longsession chat: flags, model, tools and session of a chat.
package chatcmd
