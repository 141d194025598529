-- A digest for each event, over its content and the digest of the event before: a chain for each session.
-- Rows that are stored already keep NULL. The next event of their session carries on from them.

ALTER TABLE events ADD COLUMN digest BLOB;           -- SHA-256, see docs/schema.md

ALTER TABLE sessions ADD COLUMN undigested INTEGER NOT NULL DEFAULT 0; -- events stored before there were digests
UPDATE sessions SET undigested = last_seq;

-- One row, made with the file, that tells it from other files. Copies have the same.
CREATE TABLE identity (id TEXT NOT NULL);
INSERT INTO identity SELECT lower(hex(randomblob(16)));
