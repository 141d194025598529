package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// Owner is the session that a result belongs to, by its AppName, UserID and SessionID. It is the type of
// compaction.SessionRef.
type Owner = adk.SessionRef

// hashOf returns 32 hexadecimal digits for a session, or a result of it. The lengths of the names are hashed
// along, so that no two sessions have the same.
func hashOf(o Owner, ref string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %s%s%s%s", len(o.AppName), len(o.UserID), len(o.SessionID), o.AppName, o.UserID, o.SessionID, ref))
	return hex.EncodeToString(sum[:16])
}
