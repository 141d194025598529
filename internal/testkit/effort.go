package testkit

import (
	"os"
	"strconv"
	"testing"
)

// Brief reports whether a test should do less than usual: with -short, or with the race detector.
// Even a shortened test must still prove something.
func Brief() bool { return testing.Short() || Race }

// SkipBrief skips a test that takes seconds without any concurrency, where [Brief] reports true.
func SkipBrief(t testing.TB, why string) {
	t.Helper()
	if Brief() {
		t.Skip("left out with -short and with the race detector: " + why)
	}
}

// Whole reports whether every case is to be played: LONGSESSION_SOAK is set in the environment. Otherwise a
// test may leave out slow cases that hardly differ from others. CI leaves them out too, because with
// them it took more than an hour: "make soak" has them, before a release.
func Whole() bool {
	return !Brief() && os.Getenv("LONGSESSION_SOAK") != ""
}

// Rounds returns how many times a test with random input repeats itself: usually the given number,
// multiplied by LONGSESSION_SOAK if that is set, or a quarter, but at least one, if [Brief] reports
// true. A value of LONGSESSION_SOAK that is not a positive number ends the test.
func Rounds(t testing.TB, usually int) int {
	t.Helper()
	rounds := usually * Soak(t)
	if Brief() {
		rounds = max(1, rounds/4)
	}
	return rounds
}

// Soak returns the number in LONGSESSION_SOAK, by which long tests multiply their work; 1 if it is not set.
func Soak(t testing.TB) int {
	t.Helper()
	value := os.Getenv("LONGSESSION_SOAK")
	if value == "" {
		return 1
	}
	times, err := strconv.Atoi(value)
	if err != nil || times < 1 {
		t.Fatalf("LONGSESSION_SOAK is %q: want by how much to multiply the work of long tests", value)
	}
	return times
}
