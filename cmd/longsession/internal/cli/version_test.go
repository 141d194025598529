package cli

import (
	"runtime/debug"
	"testing"
)

func TestVersionSaysWhatWasBuilt(t *testing.T) {
	t.Parallel()
	for want, info := range map[string]*debug.BuildInfo{
		"longsession (devel) (go1.25.0)": {GoVersion: "go1.25.0"},
		"longsession v1.2.0 (revision 0123456789ab, modified, adk v1.7.0, go1.25.0)": {
			GoVersion: "go1.25.0",
			Main:      debug.Module{Version: "v1.2.0"},
			Deps:      []*debug.Module{{Path: "google.golang.org/adk", Version: "v1.7.0"}},
			Settings:  []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}},
		},
		"longsession v1.2.0 (revision 01, go1.25.0)": {
			GoVersion: "go1.25.0",
			Main:      debug.Module{Version: "v1.2.0"},
			Settings:  []debug.BuildSetting{{Key: "vcs.revision", Value: "01"}, {Key: "vcs.modified", Value: "false"}},
		},
	} {
		if got := describe(info); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
