package databases_test

import (
	"database/sql"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// TestABinaryCollationKeepsUsersApart. With others MariaDB gives one user the sessions of another, as ADK's tables are
// compared by the collation of their database; docs/scaling.md says so.
func TestABinaryCollationKeepsUsersApart(t *testing.T) {
	s := serverOf(t, &mariaDB)
	for collation, apart := range map[string]bool{"utf8mb4_general_ci": false, "utf8mb4_bin": true} {
		t.Run(collation, func(t *testing.T) {
			name := "names_" + collation
			if _, err := s.admin.ExecContext(t.Context(), "CREATE DATABASE "+name+" CHARACTER SET utf8mb4 COLLATE "+collation); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open(s.engine.driver, s.engine.dsn(s.dir, name, s.engine.adminUser))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = db.Close()
				if _, err := s.admin.Exec("DROP DATABASE " + name); err != nil {
					t.Error(err)
				}
			})
			service := around(t, migrated(t, s.engine.dialector(db)), db)
			create := func(user string) {
				t.Helper()
				if _, err := service.Create(t.Context(), &session.CreateRequest{AppName: appName, UserID: user, SessionID: "home"}); err != nil {
					t.Fatal(err)
				}
			}
			create("Ann")
			_, err = service.Get(t.Context(), &session.GetRequest{AppName: appName, UserID: "ann", SessionID: "home"})
			if missing := adk.IsNotFound(err); missing != apart {
				t.Fatalf("the session of Ann, asked for by ann: %v", err)
			}
			if !apart {
				return
			}
			for _, user := range []string{"ann", "josé", "jose", "☂ \U0001F600"} {
				create(user)
			}
			talked(t, service, 6, "\U0001F600")
			inspect(t.Context(), t, service, "\U0001F600", []int{0, 1, 2, 3, 4, 5}).mustBeClean(t)
		})
	}
}
