// Package toolresult keeps tool results from filling up a prompt. It shortens a result where the model
// sees it, keeps the whole result readable through a tool, and masks old results in batches.
package toolresult
