-- The words of an event in their order, as parts of the same numbers, so that a search need not analyze its text again.
CREATE TABLE search_terms (
	event INTEGER PRIMARY KEY,    -- key of the event
	terms BLOB NOT NULL           -- a byte of flags, 4 bytes for each part of its date, then 4 bytes for each word
);

DROP TRIGGER IF EXISTS events_unindexed;
CREATE TRIGGER events_unindexed AFTER DELETE ON events BEGIN
	DELETE FROM search WHERE rowid = old.key;
	DELETE FROM search_terms WHERE event = old.key;
END;

-- Searches make the indexes of the version before anew.
UPDATE search_sessions SET version = 0;
