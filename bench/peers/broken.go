package main

import "fmt"

// broken returns the guarantees of this module that the figures violate. Text that was cut, or that
// a summary written without a model lost, is exempt, and so is a result that no request could hold.
func broken(f figures) []string {
	var all []string
	check := func(what string, n int) {
		if n != 0 {
			all = append(all, fmt.Sprintf("%s: %d", what, n))
		}
	}
	check("requests that lack a user message without a reason", f.missing-f.missingCut)
	check("tool results unknown at the end without a reason", f.results-f.kept-f.readable-f.cut-f.roughly)
	check("tool results never read that a request could hold", f.unread-f.trimmed)
	check("orphans", f.orphans)
	check("texts of another branch", f.leaked)
	check("requests over the window that need not be", f.avoidable)
	check("state keys besides the guard's", f.strayKeys)
	return all
}
