package historyhttp_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/historyhttp"
	"github.com/adk-go-ext/longsession/summarizer"
)

// The handler goes below a prefix of its own, behind the app's authorization.
func ExampleNewHandler() {
	ctx := context.Background()
	sessions, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{Summarizer: summarizer.Extractive{}, ContextWindow: 128_000})
	if err != nil {
		log.Fatal(err)
	}
	defer sessions.Close(ctx)
	if _, err := sessions.Create(ctx, &session.CreateRequest{AppName: "app", UserID: "ada", SessionID: "chat"}); err != nil {
		log.Fatal(err)
	}

	authorized := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret" {
				http.Error(w, "not for you", http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	routes := http.NewServeMux()
	routes.Handle("/history/", authorized(http.StripPrefix("/history", historyhttp.NewHandler(sessions))))

	for _, token := range []string{"Bearer secret", "Bearer guess"} {
		request := httptest.NewRequest(http.MethodGet, "/history/apps/app/users/ada/sessions/chat?numRecentEvents=20", nil)
		request.Header.Set("Authorization", token)
		response := httptest.NewRecorder()
		routes.ServeHTTP(response, request)
		fmt.Println(response.Code)
	}
	// Output:
	// 200
	// 403
}
