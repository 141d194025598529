package databases_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/adk/session/database"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// TestTablesOfAnotherSchemaAreLeftAlone. Where each customer has a schema before the common one in the search_path, the tables
// of Install that are found first may be those of the common one. Here its sessions have the names and events of the
// customer's, as after a copy of ADK's tables, and nothing that the customer's app adds is in them.
func TestTablesOfAnotherSchemaAreLeftAlone(t *testing.T) {
	s, common, _ := installed(t)
	talked(t, around(t, s.sessions, common), 12, "one")
	s.exec(t, "CREATE SCHEMA customer")
	const path = " search_path='customer,public'"
	alone, err := overDatabase(postgreSQL.dialector(s.with(t, " search_path=customer")))
	if err != nil {
		t.Fatal(err)
	}
	if err := database.AutoMigrate(alone); err != nil {
		t.Fatal(err)
	}
	s.exec(t, "INSERT INTO customer.sessions SELECT * FROM public.sessions", "INSERT INTO customer.events SELECT * FROM public.events")

	db := s.with(t, path)
	inner, err := overDatabase(postgreSQL.dialector(db))
	if err != nil {
		t.Fatal(err)
	}
	service := around(t, inner, db)
	a, err := newApp(service, false, func(cfg *compaction.Config) { cfg.Synchronous = true })
	if err != nil {
		t.Fatal(err)
	}
	take := func(from, to int) {
		t.Helper()
		for turn := from; turn < to; turn++ {
			if err := a.take(t.Context(), "one", turn); err != nil {
				t.Fatal(err)
			}
		}
	}
	take(12, 18)
	if sameView(t, service, "one") {
		t.Error("a session is loaded in part by the tables of another schema")
	}
	if number(t, common, "SELECT count(*) FROM public.longsession_leases") != 0 {
		t.Error("a lease is left")
	}
	release, ok, err := service.Lease(t.Context(), getWhole(t, service, "one"), time.Hour)
	if err != nil || !ok || number(t, common, "SELECT count(*) FROM public.longsession_leases") != 0 {
		t.Errorf("the lease on a session is in the other schema, or refused: %v, %v", ok, err)
	}
	if _, ok, err := around(t, s.sessions, common).Lease(t.Context(), getWhole(t, service, "one"), time.Hour); err != nil || !ok {
		t.Errorf("the lease on a session of one schema is one on that of the other: %v, %v", ok, err)
	}
	release()
	if _, err := adkdb.Verify(t.Context(), db); err == nil {
		t.Error("Verify compares events with the tables of another schema")
	}
	if err := adkdb.Install(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, db)
	take(18, 20)
	if service := around(t, inner, db); !sameView(t, service, "one") {
		t.Error("after Install the session is loaded whole")
	}
	if err := a.compacting.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, common)
}
