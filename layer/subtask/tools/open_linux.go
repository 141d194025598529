package tools

import (
	"os"
	"syscall"
)

// The types of Linux filesystems whose regular files are no data: some block, some have no end.
const (
	procMagic    = 0x9fa0
	sysfsMagic   = 0x62656572
	debugfsMagic = 0x64626720
	tracefsMagic = 0x74726163
	cgroupMagic  = 0x27e0eb
	cgroup2Magic = 0x63677270
)

func onSystemFS(file *os.File) bool {
	raw, err := file.SyscallConn()
	if err != nil {
		return false
	}
	var stat syscall.Statfs_t
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = syscall.Fstatfs(int(fd), &stat) }); err != nil || failed != nil {
		return false
	}
	switch uint32(stat.Type) {
	case procMagic, sysfsMagic, debugfsMagic, tracefsMagic, cgroupMagic, cgroup2Magic:
		return true
	}
	return false
}
