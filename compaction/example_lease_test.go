package compaction_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"sync"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// A lock server has two commands that a lease needs. In Redis they are SET key value NX PX, and a script that deletes a
// key only while it has this value. In etcd and Consul they are a key under a lease or a session, and its end.
func ExampleConfig_lease() {
	server := &lockServer{}
	cfg := compaction.DefaultConfig()
	cfg.Summarizer = &compactiontest.Oracle{}
	cfg.Lease = func(ctx context.Context, of compaction.SessionRef, ttl time.Duration) (release func(), ok bool, err error) {
		key, value := fmt.Sprintf("compaction:%q:%q:%q", of.AppName, of.UserID, of.SessionID), rand.Text()
		ok, err = server.setIfAbsent(ctx, key, value, ttl)
		if err != nil || !ok {
			return nil, false, err
		}
		return func() {
			// The job's context may have ended. A lease that cannot be given back ends after ttl.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = server.deleteIfEqual(ctx, key, value)
		}, true, nil
	}
	sessions, err := compaction.NewCompactionService(session.InMemoryService(), cfg)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sessions.Close(context.Background()))
	// Output: <nil>
}

// lockServer stands for Redis.
type lockServer struct {
	mu   sync.Mutex
	keys map[string]lock
}

type lock struct {
	value string
	until time.Time
}

func (s *lockServer) setIfAbsent(_ context.Context, key, value string, ttl time.Duration) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.keys[key].until) {
		return false, nil
	}
	if s.keys == nil {
		s.keys = map[string]lock{}
	}
	s.keys[key] = lock{value, time.Now().Add(ttl)}
	return true, nil
}

func (s *lockServer) deleteIfEqual(_ context.Context, key, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys[key].value == value {
		delete(s.keys, key)
	}
	return nil
}
