//go:build unix

package databases_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// asUser runs a command under another system account, because database servers refuse root, and
// gives the folder to the account. It changes nothing unless the caller is root.
func asUser(cmd *exec.Cmd, dir string, names []string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range names {
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
		return os.Chown(dir, int(uid), int(gid))
	}
	return fmt.Errorf("none of the accounts %q exists to run a server as", names)
}
