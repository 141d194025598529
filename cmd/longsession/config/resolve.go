package config

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/tokens"
)

// In is what settings are resolved from. It has the fields of [preset.In].
type In struct {
	// Flag, Environment, File and App are what these sources set. The flags are those that were given, not those that
	// have a default.
	Flag, Environment, File, App Values
	// OneShot, Piped, Yolo, Today and Registry are as in [preset.In].
	OneShot, Piped, Yolo bool
	Today                time.Time
	Registry             *tokens.Registry
}

// Settings are resolved values, each with its origin. [Resolve] makes them; the zero value is of no use.
type Settings struct {
	preset.Settings
	own      map[string]origin
	registry *tokens.Registry
	places   *strings.Replacer
}

// origin is a value of a key of this package, and where it comes from.
type origin struct {
	value  any
	text   string
	source preset.Source
	name   string
	rank   int // 0 is the nearest source
}

func (o origin) String() string { return string(o.source) + " " + o.name }

// Resolve resolves settings. Of files it reads only the one that compaction.prompt_template names. The error joins a
// [*preset.SettingError] for each value that is refused, and a [*preset.SmallTierError] if the small-tier guard refuses
// the model.
func Resolve(in In) (Settings, error) {
	r := &resolver{in: in, layers: []layer{{preset.FromFlag, &in.Flag}, {preset.FromEnvironment, &in.Environment}, {preset.FromFile, &in.File}, {preset.FromApp, &in.App}}}
	s, err := preset.Resolve(preset.In{
		Flag: in.Flag.Preset, Environment: in.Environment.Preset, File: in.File.Preset, App: in.App.Preset,
		OneShot: in.OneShot, Piped: in.Piped, Yolo: in.Yolo, Today: in.Today, Registry: in.Registry,
	})
	places := in.File.replacer()
	r.problems = located(err, places)
	r.settings = Settings{Settings: s, own: map[string]origin{}, registry: in.Registry, places: places}
	r.own()
	r.names()
	r.tokenThreshold()
	r.template()
	r.pack()
	r.callsAlone()
	r.window(err == nil)
	r.limits()
	if len(r.problems) > 0 {
		return Settings{}, fmt.Errorf("settings: %w", errors.Join(r.problems...))
	}
	for i := range r.settings.Notes {
		r.settings.Notes[i] = places.Replace(r.settings.Notes[i])
	}
	return r.settings, nil
}

// replacer replaces the names of keys, as package preset has them behind "file", by their places in the file.
func (v *Values) replacer() *strings.Replacer {
	var pairs []string
	for key := range v.set {
		pairs = append(pairs, "(file "+key+")", "(file "+v.name(key)+")")
	}
	return strings.NewReplacer(pairs...)
}

// located returns the problems that an error of package preset joins, with their places in the file.
func located(err error, places *strings.Replacer) []error {
	all := Problems(err)
	for i, one := range all {
		refused, is := one.(*preset.SettingError)
		if !is {
			continue
		}
		at := *refused
		if at.Source == preset.FromFile {
			at.Name = strings.TrimSuffix(strings.TrimPrefix(places.Replace("(file "+at.Name+")"), "(file "), ")")
		}
		at.Reason = places.Replace(at.Reason)
		all[i] = &at
	}
	return all
}

// layer is what one source sets.
type layer struct {
	source preset.Source
	values *Values
}

// called returns what the source calls the value of a key.
func (l layer) called(key string) string {
	if o, known := find(key); known && l.source == preset.FromFlag {
		return "--" + o.Flag
	}
	return l.values.name(key)
}

// resolver makes settings.
type resolver struct {
	in       In
	layers   []layer // nearest first
	settings Settings
	problems []error
}

// own takes the nearest value of each key of this package.
func (r *resolver) own() {
	for _, o := range own {
		for rank, l := range r.layers {
			value, set := l.values.own[o.Name]
			if !set {
				continue
			}
			r.settings.own[o.Name] = origin{value, fmt.Sprint(value), l.source, l.called(o.Name), rank}
			break
		}
	}
}

// names compares the names that one value has. If a source sets two of them, the stricter one counts, and names notes
// that the other has no effect.
func (r *resolver) names() {
	for _, l := range r.layers {
		for _, o := range options {
			text, set := l.values.texts[o.Name]
			first := l.values.set[o.stored()]
			if !set || strictness(text) == strictness(l.values.texts[first]) {
				continue
			}
			r.note("%s is %s (%s %s), without effect: %s is %s (%s %s), which means the same and is stricter.",
				o.Name, text, l.source, l.values.place(o.Name), first, l.values.texts[first], l.source, l.values.place(first))
		}
	}
}

// refuse adds a problem with a value of this package.
func (r *resolver) refuse(key string, o origin, format string, args ...any) {
	r.problems = append(r.problems, &preset.SettingError{Key: key, Value: o.value, Source: o.source, Name: o.name, Reason: fmt.Sprintf(format, args...)})
}

// tokenThreshold lets a number of tokens give way if a source as near has turned compaction off, as package preset does
// with the other thresholds.
func (r *resolver) tokenThreshold() {
	at, set := r.settings.own[tokenThreshold]
	if !set || at.value == 0 {
		return
	}
	for rank, l := range r.layers {
		enabled := l.values.Preset.Compaction
		if enabled == nil {
			continue
		}
		because := fmt.Sprintf("compaction.enabled is false (%s %s)", l.source, l.called("compaction.enabled"))
		switch {
		case *enabled:
			return
		case at.rank < rank || at.rank == rank && l.source == preset.FromFlag:
			r.refuse(tokenThreshold, at, "%s, so it would have no effect: remove one of them", because)
		case at.rank == rank:
			r.note("%s is %v (%s), without effect: %s.", tokenThreshold, at.value, at, because)
		}
		delete(r.settings.own, tokenThreshold)
		return
	}
}

// template replaces the name of a file by its text.
func (r *resolver) template() {
	o, set := r.settings.own[promptTemplate]
	if !set {
		return
	}
	text, reason := readText(o.value.(string))
	switch {
	case reason != "":
	case strings.Count(text, "{{history}}") != 1:
		reason = "it must contain {{history}} once, where the messages are put in"
	default:
		o.value = text
		r.settings.own[promptTemplate] = o
		return
	}
	r.refuse(promptTemplate, o, "%s", reason)
}

// pack refuses a built-in wording beside a template, which takes its place.
func (r *resolver) pack() {
	o, set := r.settings.own[promptPack]
	if template, both := r.settings.own[promptTemplate]; set && both {
		r.refuse(promptPack, o, "%s (%s) is the whole prompt: remove one of them", promptTemplate, template)
	}
}

// callsAlone refuses what package watchdog does, and says where each value comes from. A mode that nobody has chosen
// does not count: a file may be for runs with and without a person.
func (r *resolver) callsAlone() {
	o, set := r.settings.own[callsAlone]
	mode := r.settings.Watchdog
	if !set || o.value == false || mode.Value == watchdog.Warn || mode.Value == "" {
		return
	}
	switch mode.Source {
	case preset.FromDefault, preset.FromTask, preset.FromPreset:
		r.note("%s is true (%s), without effect: safety.watchdog is %s (%s).", callsAlone, o, mode.Value, mode.Origin())
		delete(r.settings.own, callsAlone)
	default:
		origin := r.settings.places.Replace(fmt.Sprintf("(%s)", mode.Origin()))
		r.refuse(callsAlone, o, "safety.watchdog is %s %s, which counts calls only if their results are alike: remove it, or use warn", mode.Value, origin)
	}
}

// window refuses a reserve that leaves too little room, and notes what is never reached.
func (r *resolver) window(resolved bool) {
	reply, hasReply := r.settings.own[maxOutput]
	budget, hasBudget := r.settings.own[contextBudget]
	if !resolved && !hasBudget {
		return
	}
	window, known := r.in.Registry.Window(r.settings.Model.Value) // of an unknown model the one that package compaction assumes
	if hasBudget {
		if n := budget.value.(int); known && n > window {
			r.note("%s is %d (%s), and the window of %s has %d tokens: longer requests are refused by the provider.", contextBudget, n, budget, r.settings.Model.Value, window)
		}
		window = budget.value.(int)
	}
	if hasReply && reply.value.(int) > window/2 {
		r.refuse(maxOutput, reply, "it is more than half of the window of %d tokens, and too little would be left for the prompt: lower it", window)
	}
	r.dead(window)
}

// dead notes a number of tokens at which compaction would begin later than it does anyway, and leaves it out: package
// compaction refuses one, but files of other programs have it beside a share.
func (r *resolver) dead(window int) {
	at, set := r.settings.own[tokenThreshold]
	if !set {
		return
	}
	share, key := r.settings.Threshold, "compaction.threshold"
	if share.Value == 0 {
		share, key = r.settings.BlockThreshold, "compaction.block_threshold"
	}
	reached := int(share.Value * float64(window-r.reply(window)))
	if at.value.(int) <= reached {
		return
	}
	r.note("%s is %d (%s), which is never reached: %s is %v (%s), which is %d tokens here.", tokenThreshold, at.value, at, key, share.Value, share.Origin(), reached)
	delete(r.settings.own, tokenThreshold)
}

// reply returns how many tokens of a window are kept free for the answer, as package compaction does.
func (r *resolver) reply(window int) int {
	const usual, divisor = 8192, 10
	if o, set := r.settings.own[maxOutput]; set {
		return o.value.(int)
	}
	row, _ := r.in.Registry.Lookup(r.settings.Model.Value)
	return min(cmp.Or(row.MaxOutputTokens, usual), window/divisor)
}

func (r *resolver) note(format string, args ...any) {
	r.settings.Notes = append(r.settings.Notes, fmt.Sprintf(format, args...))
}

// limits refuses limits of tool results that contradict one another.
func (r *resolver) limits() {
	stub, hasStub := r.settings.own[offload]
	if most, set := r.settings.own[resultBytes]; set && hasStub && stub.value.(int) > most.value.(int) {
		r.refuse(offload, stub, "%s is %d (%s), so no result would be large enough: lower it, or raise the other", resultBytes, most.value, most)
	}
	most := 256 // the default of package toolresult
	if o, set := r.settings.own[resultLines]; set {
		most = o.value.(int)
	}
	ends := 0
	var last origin
	key := ""
	for _, k := range []string{headLines, tailLines} {
		if o, set := r.settings.own[k]; set {
			ends += o.value.(int)
			last, key = o, k
		}
	}
	if key != "" && ends > most {
		r.refuse(key, last, "%s and %s are more than the %d lines that may be seen: lower them, or raise %s", headLines, tailLines, most, resultLines)
	}
}

// BaseURL is the address of a server with the API of OpenAI, "" if none is set.
func (s *Settings) BaseURL() string {
	at, _ := s.own["agent.base_url"].value.(string)
	return at
}

// ServerTimeout is how long a server with the API of OpenAI may send nothing, 0 if that is not set.
func (s *Settings) ServerTimeout() time.Duration {
	seconds, _ := s.own[serverTimeout].value.(int)
	return time.Duration(seconds) * time.Second
}

// Lines returns every resolved value, in the order of [Keys]. Of the keys of this package it has those that are set.
func (s *Settings) Lines() []preset.Line {
	lines := s.Settings.Lines()
	for i := range lines {
		placed := s.places.Replace("(" + lines[i].Origin + ")")
		lines[i].Origin = placed[1 : len(placed)-1]
	}
	for _, o := range own {
		if at, set := s.own[o.Name]; set {
			lines = append(lines, preset.Line{Key: o.Name, Value: at.text, Origin: at.String()})
		}
	}
	return lines
}

// Config returns a config in which the settings take effect, see [longsession.FromSettings]. All other fields may be set
// as usual.
func (s *Settings) Config(llm model.LLM) (longsession.Config, error) {
	cfg, err := longsession.FromSettings(s.Settings, llm)
	if err != nil {
		return longsession.Config{}, err
	}
	cfg.Registry = s.registry
	for _, o := range own {
		if at, set := s.own[o.Name]; set {
			o.apply(&cfg, at.value)
		}
	}
	s.results(&cfg)
	return cfg, nil
}

// results makes room for what was set: the limits in bytes and lines and the stubs come before a limit in tokens, so
// those that nobody has set give way to it. If neither end is kept, no result is masked for its age.
func (s *Settings) results(cfg *longsession.Config) {
	_, capped := s.own[resultTokens]
	_, cut := s.own[truncation]
	_, stubs := s.own[offload]
	if (capped || cut) && !stubs {
		cfg.ToolResults.StubAbove = compaction.Off
	}
	if _, set := s.own[resultBytes]; capped && !set {
		cfg.ToolResults.MaxBytes = compaction.Off
	}
	if _, set := s.own[resultLines]; capped && !set {
		cfg.ToolResults.MaxLines = compaction.Off
	}
	if cfg.Masking.KeepFirst == compaction.Off && cfg.Masking.KeepLast == compaction.Off {
		cfg.Masking.KeepLast = math.MaxInt32
	}
}

// Load reads a file and the environment, and returns a config in which both take effect: the environment wins. llm is
// the model of the app's agent: settings that name another one are refused, but never the model itself, whatever is known
// of it. An empty path is a file that sets nothing.
//
// What an operator should know before the first turn ([preset.Settings].Notes), such as a model that its provider will
// turn off, goes to slog.Default() as warnings. An app that shows it elsewhere calls [Resolve] instead.
func Load(path string, llm model.LLM) (longsession.Config, error) {
	if adk.IsNil(llm) {
		return longsession.Config{}, errors.New("settings: the model is nil: give the model of the agent")
	}
	in := In{Today: time.Now()}
	name, vertex := llm.Name(), preset.Vertex
	if name == "" {
		return longsession.Config{}, errors.New("settings: the model has no name: its Name must return that of the model, such as \"gemini-2.5-flash\"")
	}
	in.App.Preset.Model = &name
	if m, google := llm.(interface{ GetGoogleLLMVariant() genai.Backend }); google && m.GetGoogleLLMVariant() == genai.BackendVertexAI {
		in.App.Preset.Provider = &vertex // which has its own days on which models are turned off
	}
	var err error
	if path != "" {
		if in.File, err = Read(path); err != nil {
			return longsession.Config{}, err
		}
	}
	if in.Environment, err = Environment(os.LookupEnv); err != nil {
		return longsession.Config{}, err
	}
	s, err := Resolve(in)
	if err != nil {
		return longsession.Config{}, err
	}
	cfg, err := s.Config(llm)
	if err != nil {
		return longsession.Config{}, err
	}
	for _, n := range s.Notes {
		slog.Warn("longsession: settings", "note", strings.Join(strings.Fields(n), " "))
	}
	return cfg, nil
}
