//go:build !race

package databases_test

const raced = false
