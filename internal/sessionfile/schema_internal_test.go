package sessionfile

import "testing"

// The number of a migration is the schema version that it creates.
func TestMigrationsHaveConsecutiveNumbers(t *testing.T) {
	t.Parallel()
	texts, err := Migrations()
	if err != nil || len(texts) == 0 {
		t.Fatalf("%d migrations: %v", len(texts), err)
	}
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		if want := string([]byte{'0', '0', '0', byte('1' + i)}); file.Name()[:4] != want {
			t.Errorf("found %s, want %s", file.Name(), want)
		}
	}
}
