//go:build !linux && !darwin

package doctorcmd

// freeOn does not know.
func freeOn(string) (free uint64, known bool) { return 0, false }
