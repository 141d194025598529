package databases_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// BenchmarkMovingASession copies sessions of different lengths by the command: from a database to a new file, and from that to
// new databases, one of them with the tables of Install. Each copy is compared at its end. Run it with -benchtime 1x.
func BenchmarkMovingASession(b *testing.B) {
	exe, err := build()
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{10_000, 100_000} {
		from := newStore(b, &postgreSQL)
		stored := fillSession(b, from, from.open(b, from.engine.adminUser), "s", n)
		path := filepath.Join(b.TempDir(), "sessions.db")
		plain, installed := newStore(b, &postgreSQL), newStore(b, &postgreSQL)
		if err := adkdb.Install(b.Context(), installed.open(b, installed.engine.adminUser)); err != nil {
			b.Fatal(err)
		}
		for _, move := range []struct {
			name, verb string
			database   *store
		}{
			{"import", "import", from},
			{"export", "export", plain},
			{"export after Install", "export", installed},
			{"export again", "export", plain},
		} {
			b.Run(fmt.Sprintf("%d/%s", n, move.name), func(b *testing.B) {
				if b.N > 1 {
					b.Fatal("a session can be moved to a place once: run this with -benchtime 1x")
				}
				cmd := exec.CommandContext(b.Context(), exe, move.verb, path, "s", "--dsn", move.database.dsn())
				began := time.Now()
				out, err := cmd.CombinedOutput()
				took := time.Since(began)
				if err != nil || !strings.Contains(string(out), "are the same") {
					b.Fatalf("%v: %s", err, out)
				}
				b.ReportMetric(float64(stored)/took.Seconds(), "events/s")
				b.ReportMetric((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), "CPU-s")
				b.ReportMetric(peakMemory(cmd.ProcessState)/1e6, "MB-peak")
			})
		}
	}
}
