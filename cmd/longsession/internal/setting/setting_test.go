package setting_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
)

func TestEachValueRefusesWithARemedyAndKeepsItsOldValue(t *testing.T) {
	t.Parallel()
	number, share, on, file, one := 7, 0.5, true, "old.db", "a"
	atLeast := setting.Int(&number, 2, 9000, "is no limit")
	positive := setting.Int(&number, 0, setting.NoLimit, "turns it off")
	for _, c := range []struct {
		value       setting.Value
		text, error string
	}{
		{atLeast, "many", `is "many": it takes a whole number`},
		{atLeast, "", `is "": it takes a whole number`},
		{atLeast, "99999999999999999999", "is 99999999999999999999: the number is out of range"},
		{atLeast, "1", "is 1: it must be at least 2; 0 is no limit"},
		{atLeast, "9001", "is 9001: it must be at most 9,000; 0 is no limit"},
		{positive, "-3", "is -3: it must not be negative; 0 turns it off"},
		{setting.Share(&share, "the window", ""), "half", `is "half": it takes a share of the window, such as 0.7`},
		{setting.Share(&share, "the window", "turns it off"), "1.1", "is 1.1: it is a share of the window, from 0 to 1; 0 turns it off"},
		{setting.Share(&share, "the window", ""), "NaN", "is NaN: it is a share of the window, from 0 to 1"},
		{setting.Switch(&on), "perhaps", `is "perhaps": it takes true or false`},
		{setting.File(&file, "db"), "", "is empty: name a file"},
		{setting.Choice(&one, "a\tfirst", "b", "c"), "d", `is "d": use a, b or c`},
	} {
		before := c.value.String() // a refused value changes nothing
		err := c.value.Set(c.text)
		var refused *setting.Refused
		if !errors.As(err, &refused) || err.Error() != c.error {
			t.Errorf("%q: got %v, want %s", c.text, err, c.error)
		}
		if after := c.value.String(); after != before {
			t.Errorf("%q: %s became %s", c.text, before, after)
		}
	}
}

func TestADashIsStandardOutput(t *testing.T) {
	t.Parallel()
	name := "before.json"
	out := setting.Output(&name, "json")
	if err := out.Set("-"); err != nil || name != "" {
		t.Errorf("%q, %v", name, err)
	}
	if err := out.Set("./-"); err != nil || name != "./-" {
		t.Errorf("%q, %v", name, err)
	}
	if err := out.Set(""); err == nil || name != "./-" {
		t.Errorf("an empty name becomes %q", name)
	}
}

func TestAValueWritesItselfAsItReads(t *testing.T) {
	t.Parallel()
	var number int
	var share float64
	var on bool
	var text, file, one string
	var some, many []string
	for _, c := range []struct {
		value      setting.Value
		text, kind string
	}{
		{setting.Int(&number, 0, setting.NoLimit, ""), "12", "int"},
		{setting.Share(&share, "it", ""), "0.25", "float"},
		{setting.Switch(&on), "true", "bool"},
		{setting.Text(&text), "any, text", "string"},
		{setting.Texts(&many, func(string) error { return nil }), "a", "string"},
		{setting.File(&file), "x.db", "string"},
		{setting.Choice(&one, "a", "b"), "b", "string"},
		{setting.Choices(&some, "a", "b", "c"), "c,a", "string"},
	} {
		if err := c.value.Set(c.text); err != nil || c.value.String() != c.text || c.value.Type() != c.kind {
			t.Errorf("%s: %v, %q of type %s", c.text, err, c.value.String(), c.value.Type())
		}
	}
	if err := setting.Choices(&some, "a", "b", "c").Set("b,d"); err == nil || err.Error() != `is "d": use a, b or c` {
		t.Errorf("one bad choice of two: %v", err)
	}
	refuse := setting.Texts(&many, func(string) error { return errors.New("no") })
	if err := refuse.Set("b"); err == nil || !slices.Equal(many, []string{"a"}) || !slices.Equal(some, []string{"c", "a"}) {
		t.Errorf("a refused value was kept: %q, %q, %v", many, some, err)
	}
}

func TestFlagsComeInTheOrderOfTheSettings(t *testing.T) {
	t.Parallel()
	var z, a bool
	all := []setting.Setting{{Name: "zebra", Value: setting.Switch(&z)}, {Name: "apple", Short: "a", Value: setting.Switch(&a)}}
	c := &cobra.Command{Use: "x", Run: func(*cobra.Command, []string) {}}
	setting.Add(c, all...)
	c.SetArgs([]string{"-a", "--zebra=false"})
	if err := c.Execute(); err != nil || z || !a {
		t.Errorf("zebra %v, apple %v: %v", z, a, err)
	}
	usage := c.LocalFlags().FlagUsages()
	if first, second := strings.Index(usage, "--zebra"), strings.Index(usage, "--apple"); first < 0 || second < first {
		t.Errorf("the help has another order:\n%s", usage)
	}
	if _, found := setting.Find(all, "melon"); found {
		t.Error("found a setting that does not exist")
	}
	if s, found := setting.Find(all, "apple"); !found || s.Short != "a" {
		t.Errorf("found %v, %+v", found, s)
	}
}

func TestTwoSettingsOfOneNameAreABug(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("two flags share a name")
		}
	}()
	var text string
	setting.Add(&cobra.Command{Use: "x"}, setting.Setting{Name: "one", Value: setting.Text(&text)}, setting.Setting{Name: "one", Value: setting.Text(&text)})
}

func TestAShellIsOfferedWhatAValueTakes(t *testing.T) {
	t.Parallel()
	offered, directive := setting.OneOf("auto\tas recorded", "all", "none")(nil, nil, "a")
	if !slices.Equal(offered, []string{"auto\tas recorded", "all"}) || directive&cobra.ShellCompDirectiveNoFileComp == 0 {
		t.Errorf("%q, %v", offered, directive)
	}
	if names := setting.Names([]string{"auto\tas recorded", "all"}); !slices.Equal(names, []string{"auto", "all"}) {
		t.Errorf("%q", names)
	}
	if endings, directive := setting.Files("db", "sqlite")(nil, nil, ""); !slices.Equal(endings, []string{"db", "sqlite"}) || directive != cobra.ShellCompDirectiveFilterFileExt {
		t.Errorf("%q, %v", endings, directive)
	}
}
