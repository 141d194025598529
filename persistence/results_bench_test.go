package persistence_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/adk-go-ext/longsession/persistence"
)

// 4 KiB at any offset of a result of 100 MB: from the rows of the store, and with substr from one row
// with all of it, as a comparison.
func BenchmarkPartOfALargeResult(b *testing.B) {
	path := b.TempDir() + "/bench.db"
	s := open(b, path)
	create(b, s, "s")
	const size = 100_000_000
	r := result("some output of a tool", size)
	put(b, s, owner, r)
	db, err := sql.Open("sqlite", path+".one")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE one (content BLOB)"); err != nil {
		b.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO one VALUES (?)", []byte(r.Content)); err != nil {
		b.Fatal(err)
	}
	for _, off := range []int{0, size / 2, size - 4096} {
		b.Run(fmt.Sprint("rows/", off), func(b *testing.B) {
			p := make([]byte, 4096)
			for b.Loop() {
				reader, _, err := persistence.Results(s).Open(b.Context(), owner, r.Ref)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := reader.ReadAt(p, int64(off)); n != len(p) {
					b.Fatal(n, err)
				}
			}
		})
		b.Run(fmt.Sprint("substr/", off), func(b *testing.B) {
			var p []byte
			for b.Loop() {
				if err := db.QueryRow("SELECT substr(content, ?, 4096) FROM one", off+1).Scan(&p); err != nil || len(p) != 4096 {
					b.Fatal(len(p), err)
				}
			}
		})
	}
}
