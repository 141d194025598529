// Package chart writes what replays gave as one HTML page: the totals, an index of the
// conversations, and for each of them the size of every prompt, with and without compaction, and
// each compaction with its summary.
//
// The page needs nothing but itself. It loads nothing, also not from beside it, and its policy
// (Content-Security-Policy) forbids it to: text of a conversation can neither run nor fetch
// anything. With scripts off it is tables.
package chart
