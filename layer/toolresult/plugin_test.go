package toolresult_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

func TestPluginConfigsAreChecked(t *testing.T) {
	t.Parallel()
	cutter := func(cfg toolresult.Config) *toolresult.Cutter {
		c, err := toolresult.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	masker, err := toolresult.NewMasker(toolresult.Masking{})
	if err != nil {
		t.Fatal(err)
	}
	readable, memory := cutter(toolresult.Config{Readable: true}), store.NewMemory(0)
	for name, r := range map[string]struct {
		cfg    toolresult.PluginConfig
		fields []string
	}{
		"a cutter without a store":   {toolresult.PluginConfig{Cutter: readable}, []string{"PluginConfig.Store"}},
		"a cutter and a nil store":   {toolresult.PluginConfig{Cutter: readable, Store: (*store.Memory)(nil)}, []string{"PluginConfig.Store"}},
		"a masker without a store":   {toolresult.PluginConfig{Masker: masker}, []string{"PluginConfig.Store"}},
		"a cutter without refs":      {toolresult.PluginConfig{Cutter: cutter(toolresult.Config{}), Store: memory}, []string{"PluginConfig.Cutter"}},
		"a negative timeout":         {toolresult.PluginConfig{PutTimeout: -2}, []string{"PluginConfig.PutTimeout"}},
		"a negative size":            {toolresult.PluginConfig{InlineMax: -2}, []string{"PluginConfig.InlineMax"}},
		"options of read_result":     {toolresult.PluginConfig{Store: memory, Read: toolresult.ReadOptions{Limit: -3}}, []string{"ReadOptions.Limit"}},
		"everything wrong at a time": {toolresult.PluginConfig{Cutter: cutter(toolresult.Config{}), PutTimeout: -2, InlineMax: -2}, []string{"Store", "Cutter", "PutTimeout", "InlineMax"}},
	} {
		_, err := toolresult.Plugin(r.cfg)
		var config *toolresult.ConfigError
		if !errors.As(err, &config) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, field := range r.fields {
			if !strings.Contains(err.Error(), field+" is ") {
				t.Errorf("%s: %v does not name %s", name, err, field)
			}
		}
	}
	for name, cfg := range map[string]toolresult.PluginConfig{
		"nothing":    {},
		"a store":    {Store: memory},
		"everything": {Cutter: readable, Store: memory, Masker: masker, PutTimeout: toolresult.Off, InlineMax: toolresult.Off},
	} {
		p, err := toolresult.Plugin(cfg)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.Name() != toolresult.PluginName || p.OnToolErrorCallback() != nil || p.BeforeToolCallback() != nil {
			t.Errorf("%s: %q has hooks that it does not need", name, p.Name())
		}
		if (p.BeforeModelCallback() != nil) != (cfg.Store != nil) || (p.AfterToolCallback() != nil) != (cfg.Cutter != nil) {
			t.Errorf("%s: hooks: BeforeModel %v, AfterTool %v", name, p.BeforeModelCallback() != nil, p.AfterToolCallback() != nil)
		}
	}
	if _, err := toolresult.RequestPlugin(toolresult.RequestConfig{Masker: masker}); err == nil {
		t.Error("a request plugin without read_result was accepted")
	}
}
