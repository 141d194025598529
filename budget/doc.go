// Package budget measures each request as it is sent, and keeps it within the model's context window.
package budget
