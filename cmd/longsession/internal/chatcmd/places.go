package chatcmd

import (
	"os"
	"os/user"
	"path/filepath"
)

// defaultUser is the name of the person on this machine.
func defaultUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "user"
}

// place is a file of a person, in the folder that a variable names, or in one below their home: data in
// ~/.local/share, settings in ~/.config, and the state of the program in ~/.local/state. It is "" without a home.
func place(variable, below, name string) string {
	folder := os.Getenv(variable)
	if !filepath.IsAbs(folder) { // as the specification of these variables says
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		folder = filepath.Join(home, below)
	}
	return filepath.Join(folder, "longsession", name)
}

// defaultFile is the session file of a person.
func defaultFile() string {
	if file := place("XDG_DATA_HOME", ".local/share", "chat.db"); file != "" {
		return file
	}
	return "chat.db"
}

// historyFile has what a person typed.
func historyFile() string { return place("XDG_STATE_HOME", ".local/state", "history") }

// trustFile has the folders about which a person was asked.
func trustFile() string { return place("XDG_CONFIG_HOME", ".config", "trusted") }
