// Package servecmd is longsession serve: a session file in the browser.
package servecmd
