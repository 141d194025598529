package compaction_test

import (
	"testing"

	"google.golang.org/adk/session"
)

// idleHistory stores turns through a service that compacts nothing.
func idleHistory(t *testing.T, inner session.Service, events []*session.Event) {
	t.Helper()
	cfg, _ := manualOnly()
	svc := newService(t, inner, cfg)
	appendAll(t, svc, create(t, svc), events...)
}
