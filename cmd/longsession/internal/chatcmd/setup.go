package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/internal/secrets"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/tokens"
)

// Request says for what kind of chat settings are resolved.
type Request struct {
	Flags config.Values
	// File is the file of settings that was named, "" for the one at the default place, if there is one.
	File string
	// OneShot, Piped and Yolo are as in [config.In].
	OneShot, Piped, Yolo bool
	// Today decides which models are retired. Zero is the present day.
	Today time.Time
	// Window and Price are what the person says about the model. Zero is what is known of it.
	Window int
	Price  tokens.Model
	// Flag is the flag that names the model, "" for --model. Errors have it.
	Flag string
}

// Setup is what a chat is made from.
type Setup struct {
	Settings config.Settings
	// Model is the agent's. It was opened, and not called.
	Model model.LLM
	// File is the file of settings that was read, "" for none.
	File   string
	source source
	free   bool // nothing that the model does costs anything
}

// Open returns a model by its name, from where the settings say.
func (s *Setup) Open(ctx context.Context, name string) (model.LLM, error) {
	return s.source.open(ctx, name)
}

// Resolve resolves the settings as a chat has them: it opens the model, and calls none. The error says what was refused.
func Resolve(ctx context.Context, r Request) (*Setup, error) {
	s := &Setup{source: source{env: os.Getenv, flag: r.Flag}}
	in := config.In{Flag: r.Flags, OneShot: r.OneShot, Piped: r.Piped, Yolo: r.Yolo, Today: r.Today}
	if in.Today.IsZero() {
		in.Today = time.Now()
	}
	var err error
	if in.Environment, err = config.Environment(os.LookupEnv); err != nil {
		return nil, err
	}
	if in.File, s.File, err = readFile(r.File); err != nil {
		return nil, err
	}
	for _, v := range []*config.Values{&in.Flag, &in.Environment, &in.File} {
		if v.Preset.Model != nil && *v.Preset.Model == scriptedPrefix {
			demo := demoModel
			v.Preset.Model = &demo
		}
	}
	chatDefaults(&in.App)
	if s.source.vertex() { // it has its own days on which models are turned off
		vertex := preset.Vertex
		in.App.Preset.Provider = &vertex
	}
	name := nearestModel(in)
	if in.Registry, err = registry(name, "", r.Window, r.Price); err != nil {
		return nil, err
	}
	first, err := settingsWithoutCeiling(in)
	if err != nil {
		return nil, err
	}
	s.source.baseURL, s.source.patience = first.BaseURL(), first.ServerTimeout()
	s.source.useOpenAIsAddress(name)
	used := first.Model.Value // which a task class may have chosen, or the table for a model that is turned off
	if name == "" {
		if name, err = s.source.nameless(in); err != nil {
			return nil, err
		}
		if name != "" {
			in.App.Preset.Model, used = &name, name
		}
	}
	if in.Registry, err = registry(used, first.SmallModel.Value, r.Window, r.Price); err != nil {
		return nil, err
	}
	if name != "" { // before problems of settings that depend on it
		if _, err := s.source.open(ctx, name); err != nil {
			return nil, err
		}
	}
	s.free = s.source.free(used, in.Registry)
	if s.free {
		on, unpriced := true, string(guard.UnpricedWarn)
		in.App.Preset.NoCeiling, in.App.Preset.Unpriced = &on, &unpriced
	}
	if s.Settings, err = config.Resolve(in); err != nil {
		return nil, err
	}
	if s.free { // preset's note on a small model is about money, and there is none to be saved
		s.Settings.Notes = slices.DeleteFunc(s.Settings.Notes, func(n string) bool { return strings.HasSuffix(n, "to save money.") })
	}
	s.Model, err = s.source.open(ctx, s.Settings.Model.Value)
	return s, err
}

// chatDefaults sets what a chat has from the start, besides the layers: checkpoints, and tools with a context of their
// own.
func chatDefaults(app *config.Values) {
	on, checkpoint := true, contexttool.ByModel
	app.Preset.AgenticTools, app.Preset.Checkpoint = &on, &checkpoint
}

// readFile reads the file of settings that was named, or the one that [config.Locate] finds.
func readFile(named string) (v config.Values, read string, err error) {
	path := config.Locate(named, os.LookupEnv)
	if path == "" {
		return v, "", nil
	}
	v, err = config.Read(path)
	if about := (*config.FileError)(nil); err != nil && !errors.As(err, &about) {
		by := "--config"
		if named == "" {
			by = config.PathVariable
		}
		err = fmt.Errorf("%s: %w, or leave it out", by, err)
	}
	return v, path, err
}

// settingsWithoutCeiling resolves settings as if nobody had to hold a ceiling: to know the address of the server and the
// model, which decide whether one is needed and can hold.
func settingsWithoutCeiling(in config.In) (config.Settings, error) {
	on, warn := true, string(guard.UnpricedWarn)
	in.App.Preset.NoCeiling, in.Flag.Preset.Unpriced = &on, &warn
	return config.Resolve(in)
}

// nameless is the model of settings that name none: "" if they choose one, and the demo where there is no key.
func (s source) nameless(in config.In) (string, error) {
	if s.baseURL != "" {
		return "", fmt.Errorf("the server %s needs the name of a model: give it by --model", terminal.Printable(secrets.Shown(s.baseURL)))
	}
	for _, v := range []config.Values{in.Flag, in.Environment, in.File} {
		if v.Preset.Provider != nil {
			return "", nil
		}
	}
	return s.fallback(), nil
}

// nearestModel is the name that the nearest source gives, "" if none does.
func nearestModel(in config.In) string {
	for _, v := range []config.Values{in.Flag, in.Environment, in.File, in.App} {
		if v.Preset.Model != nil {
			return *v.Preset.Model
		}
	}
	return ""
}

// Explain returns the settings with their origins, and the notes.
func (s *Setup) Explain() string {
	var out strings.Builder
	for _, line := range s.Settings.Lines() {
		fmt.Fprintln(&out, line)
	}
	for _, note := range s.Settings.Notes {
		fmt.Fprintf(&out, "\n%s\n", strings.Join(terminal.WrapText(note, explainWidth), "\n"))
	}
	return out.String()
}

// explainWidth is the most columns of a note.
const explainWidth = 78
