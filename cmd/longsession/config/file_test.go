package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
)

func TestEachMistakeIsNamedWithItsPlace(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "[compaction]\nthresold = 0.5", "s.toml:2:1: compaction.thresold: there is no such key (did you mean compaction.threshold?)"},
		{"unknown key, nothing near", "[compaction]\nbananas = 0.5", "s.toml:2:1: compaction.bananas: there is no such key"},
		{"the right key in the wrong table", "[session]\nthreshold = 0.5", "did you mean compaction.threshold?"},
		{"unknown table", "\n[sesion]\ntask_class = 'debug'", "s.toml:2:2: sesion: there is no such table (did you mean [session]?)"},
		{"key without a table", "threshold = 0.5", "s.toml:1:1: threshold: there is no such key (did you mean compaction.threshold?)"},
		{"doubled key", "[compaction]\nthreshold = 0.5\nthreshold = 0.6", "s.toml:3:1: "},
		{"doubled table", "[agent]\nmodel = 'm'\n[agent]\n", "s.toml:3:"},
		{"doubled in an inline table", "[agent]\nmodel = 'a'\nmodel.x = 1", "s.toml:3:1: "},
		{"a share that rounds to 0", "[compaction]\nthreshold = 1e-4_00", "s.toml:2:1: compaction.threshold: it is 1e-400: it rounds to 0, which is off: write 0, or more"},
		{"text for a number", "[compaction]\nthreshold = '0.5'", "compaction.threshold: it is a text: write a number such as 0.5, without quotation marks"},
		{"number for a text", "[agent]\nmodel = 3", "agent.model: it is a whole number, and must be a text: write it in quotation marks"},
		{"text for a switch", "[compaction]\nenabled = 'yes'", "write true or false"},
		{"number for a switch", "[compaction]\nenabled = 1", "write true or false"},
		{"point in a whole number", "[compaction]\noverlap_size = 2.0", "write a whole number"},
		{"list", "[agent]\nmodel = ['a', 'b']", "it is a list"},
		{"date", "[agent]\nmodel = 2026-03-01", "it is a date or a time"},
		{"table for a value", "[agent]\nmodel = {a = 1}", "agent.model: it is a table"},
		{"value for a table", "compaction = true", "s.toml:1:1: compaction: this is a table: write its keys below [compaction]"},
		{"table of a value", "[agent.model]\nx = 1", "agent.model: this is a value, not a table: write it below [agent]"},
		{"list of tables", "[[agent]]\nmodel = 'a'", "agent: this is a list of tables: use one pair of brackets, [agent]"},
		{"out of range", "[compaction]\nthreshold = 1.5", "compaction.threshold: it is 1.5: use a share of the effective window, from 0 to 1"},
		{"not a number", "[compaction]\nthreshold = nan", "from 0 to 1"},
		{"infinite", "[compaction]\nthreshold = inf", "from 0 to 1"},
		{"negative", "[compaction]\noverlap_size = -1", "compaction.overlap_size: it is -1: use a whole number from 1 to 2147483647"},
		{"too large", "[agent]\ncontext_budget = 99999999999", "use a whole number from 1 to 2147483647"},
		{"larger than any", "[agent]\ncontext_budget = 99999999999999999999", "s.toml:2:18: "},
		{"negative amount", "[agent]\nmax_turn_cost_usd = -1", "use an amount in USD of 0 or more"},
		{"not one of the choices", "[session.context]\ntool_result_truncation = 'middle'", "use head, tail, both or lines"},
		{"another end of a session", "[session]\non_disconnect = 'stop'", "session.on_disconnect: it is \"stop\": use pause"},
		{"key in an address", "[agent]\nbase_url = 'http://me:key@localhost/v1'", "it is \"http://[redacted]@localhost/v1\": it has a user or a password in it"},
		{"no address", "[agent]\nbase_url = 'localhost'", "use an address such as"},
		{"newer version", "version = 2\n[future]\nx = 1", "s.toml: version: the file is of version 2, and this program reads version 1: update the program"},
		{"odd version", "version = 'new'", "s.toml: version: use 1"},
		{"syntax", "[compaction]\nthreshold 0.5", "s.toml:2:"},
		{"JSON", "{\"compaction\":{}}", "s.toml:1:1"},
		{"not UTF-8", "[agent]\n# \xff\n", "s.toml:2:3: this is not UTF-8"},
		{"UTF-16", "\xff\xfe[\x00", "s.toml:1:1: this is not UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := config.Parse("s.toml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is\n%v\nwant\n%s", err, c.want)
			}
			var at *config.FileError
			if !errors.As(err, &at) {
				t.Errorf("error is a %T, not a *FileError", err)
			}
		})
	}
}

func TestAllMistakesAreNamedAtOnce(t *testing.T) {
	_, err := config.Parse("s.toml", []byte("[compaction]\nthresold = 0.5\nenabled = 3\n[sesion]\na = 1\nb = 2\n[agent]\nmodle = 'x'\n"))
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 4 {
		t.Errorf("%d problems, want 4 (one for the table sesion):\n%v", len(lines), err)
	}
	for i, place := range []string{"s.toml:2:1", "s.toml:3:1", "s.toml:4:2", "s.toml:8:1"} {
		if !strings.HasPrefix(lines[i], place) {
			t.Errorf("problem %d is %q, want one at %s", i, lines[i], place)
		}
	}
}

func TestEverySpellingOfAKeyIsRead(t *testing.T) {
	for _, text := range []string{
		"compaction.threshold_by_tier.small = 0.3",
		"[compaction]\nthreshold_by_tier.small = 0.3",
		"[compaction]\nthreshold_by_tier = {small = 0.3}",
		"[compaction.threshold_by_tier]\nsmall = 0.3",
		"compaction = {threshold_by_tier = {small = 0.3}}",
		"[\"compaction\".'threshold_by_tier']\n\"small\" = 3e-1 # a comment",
		"\xef\xbb\xbf[compaction.threshold_by_tier]\r\nsmall = 0.3\r\n",
		"version = 1\n[compaction]\n[compaction.threshold_by_tier]\nsmall = +0.30",
	} {
		v, err := config.Parse("s.toml", []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := v.Preset.ThresholdByTier.Small; got == nil || *got != 0.3 {
			t.Errorf("%q: the threshold is %v, want 0.3", text, got)
		}
	}
}

func TestAnAmountIsExact(t *testing.T) {
	v, err := config.Parse("s.toml", []byte("[agent]\nmax_turn_cost_usd = 0.1\nmax_session_cost_usd = 20\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Preset.MaxTurnCost.String(); got != "$0.1000" {
		t.Errorf("0.1 is %s", got)
	}
	if got := v.Preset.MaxSessionCost.String(); got != "$20.0000" {
		t.Errorf("20 is %s", got)
	}
}

func TestAFileThatIsNoneIsRefused(t *testing.T) {
	folder := t.TempDir()
	large := filepath.Join(folder, "large.toml")
	if err := os.WriteFile(large, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		folder:              "it is a folder: name a file of settings in TOML",
		os.DevNull:          "it is not a regular file",
		large:               "it has 2097152 bytes, and a file of settings has at most 1048576",
		folder + "/no.toml": "no such file",
	} {
		_, err := config.Read(path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %q", path, err, want)
		}
	}
	if _, err := config.Read(folder + "/no.toml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v is not os.ErrNotExist", err)
	}
}

func TestNoTextMakesTheReaderPanic(t *testing.T) {
	base := "version = 1\n[compaction]\nthreshold = 0.5\nthreshold_by_tier = {small = 0.3, mid = 0.4}\n[session.context]\nmax_history_tokens = 5\n"
	for i := range base {
		for _, with := range []string{"", "[", "]", "=", "{", "}", "\"", "'", ".", "\n", "\x00", "1"} {
			_, _ = config.Parse("s.toml", []byte(base[:i]+with+base[i:]))
			_, _ = config.Parse("s.toml", []byte(base[:i]+with))
		}
	}
	if _, err := config.Parse("s.toml", []byte(base)); err != nil {
		t.Errorf("the text itself: %v", err)
	}
}
