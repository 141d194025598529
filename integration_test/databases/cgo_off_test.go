//go:build !cgo

package databases_test

const hasCgo = false
