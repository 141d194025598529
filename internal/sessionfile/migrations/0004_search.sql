-- An index of the words of events, to find events by them. It is written only for sessions that somebody searches.
-- Instead of a word, it has a number made from the word and a random key of the session, so without the key it tells
-- nothing. The key is deleted with the session.

CREATE VIRTUAL TABLE search USING fts5(words, content = '', contentless_delete = 1, detail = column, tokenize = "ascii tokenchars ':'");

-- How many events have a word.
CREATE VIRTUAL TABLE search_words USING fts5vocab(search, row);

-- How far each session is indexed.
CREATE TABLE search_sessions (
	session    INTEGER PRIMARY KEY REFERENCES sessions (key) ON DELETE CASCADE,
	version    INTEGER NOT NULL,  -- of the analysis of text; an index of another version is made anew
	salt       BLOB NOT NULL,     -- the random key
	indexed_to INTEGER NOT NULL,  -- seq of the newest event that was taken in
	newest     INTEGER,           -- key of the newest event with words
	ended      TEXT,              -- its time
	documents  INTEGER NOT NULL,  -- events with words
	length     INTEGER NOT NULL,  -- their words
	turns      INTEGER NOT NULL   -- messages of the user
);

-- Stretches of events without a long pause.
CREATE TABLE search_episodes (
	session INTEGER NOT NULL REFERENCES search_sessions (session) ON DELETE CASCADE,
	first   INTEGER NOT NULL,     -- seq
	last    INTEGER NOT NULL,     -- seq
	length  INTEGER NOT NULL,     -- words
	PRIMARY KEY (session, first)
) WITHOUT ROWID;

CREATE TABLE search_authors (
	session INTEGER NOT NULL REFERENCES search_sessions (session) ON DELETE CASCADE,
	author  TEXT NOT NULL,
	PRIMARY KEY (session, author)
) WITHOUT ROWID;

-- Where each turn of the user begins.
CREATE TABLE search_turns (
	session INTEGER NOT NULL REFERENCES search_sessions (session) ON DELETE CASCADE,
	seq     INTEGER NOT NULL,
	turn    INTEGER NOT NULL,     -- 1, 2, 3...
	PRIMARY KEY (session, seq)
) WITHOUT ROWID;

CREATE TRIGGER events_unindexed AFTER DELETE ON events BEGIN
	DELETE FROM search WHERE rowid = old.key;
END;

-- Sessions that were deleted, and whose rows are being deleted in portions.
CREATE TABLE erasing (
	session INTEGER PRIMARY KEY   -- key of the former session
);
