// Package chart writes the reports of replays as one HTML page: the totals, an index of the
// conversations and, for each of them, the size of every prompt with and without compaction, and
// each compaction with its summary.
//
// The page is self-contained. It loads nothing, and its Content-Security-Policy forbids it to, so
// the text of a conversation can neither run nor fetch anything. Without scripts it shows tables.
package chart
