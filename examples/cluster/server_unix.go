//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// asUser runs a command as an ordinary account if we are root, because PostgreSQL refuses root, and gives that account
// the folder.
func asUser(cmd *exec.Cmd, folder string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(account.Uid, 10, 32)
		if err != nil {
			return err
		}
		gid, err := strconv.ParseUint(account.Gid, 10, 32)
		if err != nil {
			return err
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		return os.Chown(folder, int(uid), int(gid))
	}
	return errors.New("PostgreSQL does not run as root, and there is neither an account postgres nor nobody: run this as another user")
}
