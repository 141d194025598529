// Package chat is a conversation with an ADK agent in a terminal, in which people see how the context of the
// session is managed.
package chat
