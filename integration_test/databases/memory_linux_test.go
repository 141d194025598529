package databases_test

import (
	"os"
	"syscall"
)

// peakMemory returns the bytes of memory that an ended process had at most.
func peakMemory(p *os.ProcessState) float64 {
	return float64(p.SysUsage().(*syscall.Rusage).Maxrss) * 1024 // Linux counts in KiB
}
