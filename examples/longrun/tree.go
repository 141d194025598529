package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// packages is the number of packages in the source tree. Each task is about one of them.
const packages = 40

// writeTree writes packages of Go-like files, the same in every run. The middle of each package's server.go has the
// line that a task asks for.
func writeTree(folder string) error {
	for i := range packages {
		name, random := packageName(i), rand.New(rand.NewPCG(13, uint64(i)))
		dir := filepath.Join(folder, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		server := slices.Insert(source(random, name, 440), 220+random.IntN(40), answerTo(i))
		for file, lines := range map[string][]string{
			"doc.go":    {"// Package " + name + " handles one kind of request.", "package " + name},
			"types.go":  source(random, name, 60),
			"store.go":  source(random, name, 160),
			"server.go": server,
		} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func packageName(i int) string { return fmt.Sprintf("handler%02d", i) }

// answerTo is the line that a task asks for.
func answerTo(i int) string {
	return fmt.Sprintf("// The retry budget of %s is %d per minute.", packageName(i), retryBudget(i))
}

func retryBudget(i int) int { return 1_000 + 37*i }

var (
	verbs = strings.Fields("load store merge split check parse render encode decode notify")
	nouns = strings.Fields("Order Parcel Invoice Basket Customer Address Label Route Carrier Receipt")
)

// source returns about n lines of Go.
func source(random *rand.Rand, name string, n int) []string {
	lines := []string{"package " + name, ""}
	for len(lines) < n {
		verb, noun := verbs[random.IntN(len(verbs))], nouns[random.IntN(len(nouns))]
		f := fmt.Sprintf("%s%s%d", verb, noun, random.IntN(1_000))
		lines = append(lines,
			fmt.Sprintf("// %s takes the %s of a request and returns its state.", f, strings.ToLower(noun)),
			fmt.Sprintf("func %s(ctx context.Context, in *%s) (state, error) {", f, noun),
			fmt.Sprintf("\tif in == nil || in.id < %d {", random.IntN(9_999)),
			"\t\treturn state{}, errMissing",
			"\t}",
			fmt.Sprintf("\treturn state{kind: %d, at: in.at}, nil", random.IntN(99)),
			"}", "")
	}
	return lines
}
