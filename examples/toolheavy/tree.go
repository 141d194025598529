package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
)

// packages is the number of packages in the source tree, and of tasks: one task is about one package.
const packages = 25

// tree is a source tree in memory: file contents by path. It is the same in every run.
type tree map[string]string

// newTree makes packages of Go-like files between 1 and 24 KB. The middle of each package's server.go, where
// no excerpt shows it, has the line of [secret].
func newTree() tree {
	files := tree{}
	for i := range packages {
		dir, random := packageName(i), rand.New(rand.NewPCG(11, uint64(i)))
		files[dir+"/doc.go"] = fmt.Sprintf("// Package %s handles one kind of request.\npackage %[1]s\n", dir)
		files[dir+"/types.go"] = source(random, dir, 40)
		files[dir+"/store.go"] = source(random, dir, 160)
		server := strings.SplitAfter(source(random, dir, 440), "\n")
		middle := len(server)/2 + random.IntN(20)
		files[dir+"/server.go"] = strings.Join(slices.Insert(server, middle, secret(i)+"\n"), "")
	}
	return files
}

func packageName(i int) string { return fmt.Sprintf("handler%02d", i) }

// secret is the line that a task asks for.
func secret(i int) string {
	return fmt.Sprintf("// The retry budget of %s is %d per minute.", packageName(i), retryBudget(i))
}

func retryBudget(i int) int { return 1000 + 37*i }

var verbs = strings.Fields("load store merge split check parse render encode decode notify")
var nouns = strings.Fields("order parcel invoice basket customer address label route carrier receipt")

// source returns about n lines of Go.
func source(random *rand.Rand, dir string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\n", dir)
	for lines := 2; lines < n; lines += 8 {
		verb, noun := verbs[random.IntN(len(verbs))], nouns[random.IntN(len(nouns))]
		name := fmt.Sprintf("%s%s%d", verb, strings.ToUpper(noun[:1])+noun[1:], random.IntN(1000))
		fmt.Fprintf(&b, "// %s takes the %s of a request and returns its state.\n", name, noun)
		fmt.Fprintf(&b, "func %s(ctx context.Context, in *%s) (state, error) {\n", name, noun)
		fmt.Fprintf(&b, "\tif in == nil || in.id < %d {\n\t\treturn state{}, fmt.Errorf(\"%s %%q: %%w\", in.id, errMissing)\n\t}\n", random.IntN(9999), noun)
		fmt.Fprintf(&b, "\treturn state{kind: %d, at: in.at}, nil\n}\n\n", random.IntN(99))
	}
	return b.String()
}

// list returns the files of a folder with their sizes.
func (t tree) list(dir string) []any {
	var out []any
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if path.Dir(name) == dir {
			out = append(out, map[string]any{"path": name, "bytes": len(t[name])})
		}
	}
	return out
}

// test returns the output of a test run: one line for each function, and a failure at the end.
func (t tree) test(dir string) string {
	var b strings.Builder
	for _, file := range []string{"server.go", "store.go", "types.go"} {
		for line := range strings.Lines(t[dir+"/"+file]) {
			if name, found := strings.CutPrefix(line, "func "); found {
				name, _, _ = strings.Cut(name, "(")
				fmt.Fprintf(&b, "=== RUN   Test_%s\n--- PASS: Test_%[1]s (0.00s)\n", name)
			}
		}
	}
	fmt.Fprintf(&b, "--- FAIL: TestRetry (0.02s)\n    server_test.go:41: the budget is not kept\nFAIL\t%s\t0.31s\n", dir)
	return b.String()
}
