// Package live is the web page of a live session: what people see, what the model sees, and what it costs.
package live
