package audit

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/persistence"
)

const (
	sealFormat  = "longsession seal"
	sealVersion = 1
)

// Seal describes what a session file held at one moment. It contains no content of events, but the
// names of sessions.
type Seal struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Made is the time at which the seal was made, by the clock of that machine: UTC, RFC 3339.
	Made string `json:"made"`
	// Database is the identity of the session file.
	Database string          `json:"database"`
	Sessions []SealedSession `json:"sessions"`
}

// SealedSession is one session of a seal.
type SealedSession struct {
	App     string `json:"app"`
	User    string `json:"user"`
	Session string `json:"session"`
	// Created is the column created_at.
	Created string `json:"created"`
	Events  int64  `json:"events"`
	// Digest is the digest of the newest event, in hexadecimal. For a session without events, it is
	// the digest that the first one will follow.
	Digest string `json:"digest"`
	// Rows has the first 8 bytes of the digest of each event's content, in order. Digest proves
	// that no event was changed; Rows only helps to find the events that were.
	Rows []byte `json:"rows"`
}

// fingerprint is the beginning of the digest of a row's content.
type fingerprint uint64

const fingerprintSize = 8

func fingerprintOf(d sessionfile.Digest) fingerprint {
	return fingerprint(binary.BigEndian.Uint64(d[:fingerprintSize]))
}

// fingerprints returns the fingerprints in Rows.
func (s *SealedSession) fingerprints() []fingerprint {
	prints := make([]fingerprint, len(s.Rows)/fingerprintSize)
	for i := range prints {
		prints[i] = fingerprint(binary.BigEndian.Uint64(s.Rows[i*fingerprintSize:]))
	}
	return prints
}

// check returns an error for a seal that no program could have written.
func (s *Seal) check() error {
	switch {
	case s.Format != sealFormat:
		return fmt.Errorf("the format is %q, not %q: this is not a seal", s.Format, sealFormat)
	case s.Version != sealVersion:
		return fmt.Errorf("the version is %d, but this program reads %d: use the version of the program that made the seal", s.Version, sealVersion)
	}
	for _, one := range s.Sessions {
		digest, err := hex.DecodeString(one.Digest)
		if err != nil || len(digest) != len(sessionfile.Digest{}) || int64(len(one.Rows)) != one.Events*fingerprintSize {
			return fmt.Errorf("session %s/%s/%s: the digest or the rows are damaged", one.App, one.User, one.Session)
		}
	}
	return nil
}

// Seal makes the seal of the selected sessions, all of them at one moment. It calls report for each
// event that does not fit the chain, and seals that event as it is. It calls sealed for each
// session.
func (f *File) Seal(ctx context.Context, which Which, report func(Finding) error, sealed func(events int64)) (*Seal, error) {
	seal := &Seal{Format: sealFormat, Version: sealVersion, Made: time.Now().UTC().Format(time.RFC3339), Sessions: []SealedSession{}}
	err := f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) (err error) {
		switch seal.Database, err = sessionfile.Identity(ctx, snap); {
		case err != nil:
			return err
		case seal.Database == "":
			return errors.New("the file has lost its identity, so no seal could be compared with it: see 'longsession audit verify'")
		}
		chains, err := sessionfile.Chains(ctx, snap)
		if err != nil {
			return err
		}
		for _, chain := range chains {
			if !which.has(chain.App, chain.User, chain.Session) {
				continue
			}
			one, err := sealSession(ctx, snap, chain, report)
			if err != nil {
				return err
			}
			seal.Sessions = append(seal.Sessions, one)
			sealed(one.Events)
		}
		return nil
	})
	return seal, err
}

// sealSession reads the digests of a session in order and keeps the last one, with a fingerprint of
// each row.
func sealSession(ctx context.Context, snap *persistence.Snapshot, chain sessionfile.Chain, report func(Finding) error) (SealedSession, error) {
	one := SealedSession{App: chain.App, User: chain.User, Session: chain.Session, Created: chain.Created, Rows: []byte{}}
	digest, b := chain.Genesis(), &breaks{chain: chain}
	for link, err := range chain.Links(ctx, snap) {
		if err != nil {
			return one, err
		}
		one.Events++
		one.Rows = append(one.Rows, link.Content[:fingerprintSize]...)
		digest = link.Digest
		b.take(link)
	}
	for _, found := range b.found {
		if err := report(found); err != nil {
			return one, err
		}
	}
	one.Digest = digest.String()
	return one, nil
}

// Which selects the sessions of a seal or a comparison. The zero value selects all.
type Which struct {
	Narrow
	// Session is the ID of a session, or its app, user and ID joined by slashes; "" for all.
	Session string
}

// Has reports whether a session is selected.
func (w Which) Has(s *Session) bool {
	return w.Narrow.Has(s) && (w.Session == "" || w.Session == s.ID || w.Session == s.Name())
}

func (w Which) has(app, user, id string) bool { return w.Has(&Session{App: app, User: user, ID: id}) }
