package transfer_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/transfer"
	"github.com/adk-go-ext/longsession/persistence"
)

// Copies every session of a file into another one. OpenDatabase in place of CreateFile copies to PostgreSQL.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "transfer")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "sessions.db")
	stored, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		log.Fatal(err)
	}
	resp, err := stored.Create(ctx, &session.CreateRequest{AppName: "shop", UserID: "ada", SessionID: "order-1"})
	if err != nil {
		log.Fatal(err)
	}
	if err := stored.AppendEvent(ctx, resp.Session, session.NewEventWithContext(ctx, "i1")); err != nil {
		log.Fatal(err)
	}
	if err := stored.Close(); err != nil {
		log.Fatal(err)
	}

	from, err := transfer.OpenFile(path)
	if err != nil {
		log.Fatal(err)
	}
	defer from.Close()
	to, err := transfer.CreateFile(filepath.Join(dir, "copy.db"), false)
	if err != nil {
		log.Fatal(err)
	}
	defer to.Close()
	names, err := from.Choose(ctx, transfer.Which{})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range names {
		result, err := transfer.Copy(ctx, from, to, name, transfer.Options{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(name, result.Events, result.Copied, len(result.Findings))
	}
	// Output: shop/ada/order-1 1 1 0
}
