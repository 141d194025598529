//go:build !linux

package databases_test

import "os"

// peakMemory knows nothing about other systems.
func peakMemory(*os.ProcessState) float64 { return 0 }
