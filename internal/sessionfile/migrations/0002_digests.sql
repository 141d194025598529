-- A digest for each event, over its content and the digest of the event before: a chain for each session.
-- Rows that are stored already keep NULL. The next event of their session carries on from them.

ALTER TABLE events ADD COLUMN digest BLOB;           -- SHA-256, see docs/schema.md

ALTER TABLE sessions ADD COLUMN undigested INTEGER NOT NULL DEFAULT 0; -- events stored before there were digests
UPDATE sessions SET undigested = last_seq;

-- One row, made with the file.
CREATE TABLE identity (
	id  TEXT NOT NULL,              -- tells the file from others; copies have the same
	wal INTEGER NOT NULL DEFAULT 0  -- 1: what is newer is in the file that ends in -wal
);
INSERT INTO identity (id) SELECT lower(hex(randomblob(16)));
