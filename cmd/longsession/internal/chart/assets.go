package chart

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"strings"
)

//go:embed assets
var assets embed.FS

// Style is the look of the page: its colors, tables and curves.
func Style() string { return string(style) }

// Drawing is the part of the page's script that draws a curve with its marks. It defines the functions drawCurve, marksOn
// and element, and does nothing by itself.
func Drawing() string { return drawing }

// The page has one style and one script. The policy names both by their hashes, so that nothing
// else can run.
var (
	style   = template.CSS(joined("uPlot.min.css", "report.css", "curve.css"))
	drawing = "/*\n" + joined("uPlot.LICENSE") + "*/\n" + joined("uPlot.iife.min.js", "curve.js", "marks.js")
	script  = template.JS(drawing + joined("report.js"))

	securityPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'" +
		"; style-src " + sum(string(style)) + "; script-src " + sum(string(script))
)

// joined returns the concatenation of asset files.
func joined(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		data, err := assets.ReadFile("assets/" + name)
		if err != nil {
			panic(err) // the file is a part of the binary
		}
		b.Write(data)
		b.WriteByte('\n')
	}
	return b.String()
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(s[:]) + "'"
}
