-- Whole results of tools that no event has whole. They are deleted with their session. Two sessions never share a row.

CREATE TABLE tool_result_blobs (
	key        INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so no open result can become another one
	session    INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
	id         TEXT NOT NULL,                     -- the reference, such as r-3f9a0c11d2e47b58
	tool_name  TEXT NOT NULL,
	content    BLOB,                              -- NULL above 65,536 bytes: the content is in tool_result_chunks
	byte_size  INTEGER NOT NULL,
	created_at TEXT NOT NULL                      -- UTC, nine digits of a second, fixed width
);

CREATE UNIQUE INDEX idx_blobs_session ON tool_result_blobs (session, id);

-- Large results in rows of 65,536 bytes, because SQLite reads a row from its beginning to reach any part of it.
CREATE TABLE tool_result_chunks (
	blob    INTEGER NOT NULL REFERENCES tool_result_blobs (key) ON DELETE CASCADE,
	number  INTEGER NOT NULL,                     -- 0, 1, 2...
	content BLOB NOT NULL,                        -- 65,536 bytes, fewer in the last one
	UNIQUE (blob, number)
);
