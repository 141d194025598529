package audit

import (
	"context"
	"fmt"

	"github.com/adk-go-ext/longsession/persistence"
)

// checkChain recomputes the session's digests and compares them with those that are stored.
func (e *examination) checkChain(ctx context.Context, snap *persistence.Snapshot) error {
	chain, err := snap.Chain(ctx, e.key)
	if err != nil {
		return err
	}
	for link, err := range snap.Links(ctx, chain) {
		if err != nil {
			return err
		}
		if text := misfit(chain, link); text != "" {
			e.find(link.Seq, link.ID, RuleChain, "%s", text)
		}
	}
	return nil
}

// misfit says what is wrong with a link, "" if nothing is.
func misfit(chain persistence.Chain, link persistence.Link) string {
	switch {
	case link.Fits:
		return ""
	case link.Stored == nil && link.Seq <= chain.Undigested:
		return "" // older than digests are
	case link.Stored == nil:
		return fmt.Sprintf("has no digest, and only events up to %d are older than digests: it was put there, or its digest was taken away", chain.Undigested)
	case link.Seq == 1:
		return "the digest does not follow from the event and the session's name and creation time: one of these was changed, or the event was moved here"
	}
	return "the digest does not follow from the event and the digest before it: the event was changed or moved, or one before it was deleted or inserted"
}
