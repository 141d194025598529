package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Owner is the session that a result belongs to, as in ADK's [session.GetRequest].
type Owner struct {
	AppName, UserID, SessionID string
}

// whole reports whether an owner names a session.
func (o Owner) whole() bool { return o.AppName != "" && o.UserID != "" && o.SessionID != "" }

// hash returns 32 hexadecimal digits for a session, or a result of it. The lengths of the names are hashed
// along, so that no two sessions have the same.
func (o Owner) hash(ref string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %s%s%s%s", len(o.AppName), len(o.UserID), len(o.SessionID), o.AppName, o.UserID, o.SessionID, ref))
	return hex.EncodeToString(sum[:16])
}
