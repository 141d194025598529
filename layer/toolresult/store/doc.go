// Package store keeps and opens whole tool results, so that the part of a result that a model does not
// see can always be read back.
//
// A [Source] opens a result by its reference. A [Store] also takes results in, for apps in which
// the session's own storage does not have them whole. Both are bound to the session that owns a
// result: no other session can read it.
//
// A reference is computed from the result alone ([ResultOf]), so it is the same in every process, on
// every backend, and for every repetition of the same result.
package store
