package persistence_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/persistence"
)

// A session outlives the service that wrote it.
func ExampleNewSQLiteSessionService() {
	folder, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	ctx, path := context.Background(), filepath.Join(folder, "sessions.db")

	sessions, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		log.Fatal(err)
	}
	created, err := sessions.Create(ctx, &session.CreateRequest{AppName: "shop", UserID: "ada", SessionID: "order-1"})
	if err != nil {
		log.Fatal(err)
	}
	said := session.NewEventWithContext(ctx, "turn-1")
	said.Author, said.Content = "user", genai.NewContentFromText("A table for four, please.", genai.RoleUser)
	if err := sessions.AppendEvent(ctx, created.Session, said); err != nil {
		log.Fatal(err)
	}
	if err := sessions.Close(); err != nil {
		log.Fatal(err)
	}

	reopened, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		log.Fatal(err)
	}
	defer reopened.Close()
	found, err := reopened.Get(ctx, &session.GetRequest{AppName: "shop", UserID: "ada", SessionID: "order-1"})
	if err != nil {
		log.Fatal(err)
	}
	for ev := range found.Session.Events().All() {
		fmt.Println(ev.Author, ev.Content.Parts[0].Text)
	}
	// Output: user A table for four, please.
}
