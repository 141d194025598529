//go:build !race

package replay_test

const raced = false
