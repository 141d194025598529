-- Sessions, their events in order, what ties these together and what hides them, and the state of
-- sessions, users and apps.

CREATE TABLE sessions (
	key        INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so no handle can outlive its session
	app        TEXT NOT NULL,
	user       TEXT NOT NULL,
	id         TEXT NOT NULL,
	created_at TEXT NOT NULL,
	updated_at TEXT NOT NULL,                     -- time of the event appended last
	last_seq   INTEGER NOT NULL DEFAULT 0,        -- also the number of events: none is ever removed
	last_user  INTEGER,                           -- seq of the newest event with content of the user
	last_agent INTEGER,                           -- seq of the newest event of an agent
	contested  INTEGER NOT NULL DEFAULT 0,        -- 1: covered_by does not tell all that the records tell
	UNIQUE (app, user, id)
);

CREATE TABLE events (
	key                   INTEGER PRIMARY KEY,
	session               INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
	seq                   INTEGER NOT NULL,       -- 1, 2, 3... in the order of commits
	id                    TEXT NOT NULL,
	time                  TEXT NOT NULL,          -- UTC, nine digits of a second, fixed width
	invocation_id         TEXT NOT NULL,
	author                TEXT NOT NULL,
	branch                TEXT NOT NULL,
	record_id             TEXT,                   -- set if the event is a compaction record; '' if that cannot be read
	covered_by            TEXT,                   -- record_id of the record that stands for the event
	unit                  INTEGER,                -- seq of the first event of those that a call and its answers tie together
	anchor                INTEGER,                -- of a record: seq of the event that its summary stands behind
	content               TEXT,                   -- JSON, as are all that follow
	actions               TEXT,
	usage_metadata        TEXT,
	custom_metadata       TEXT,
	long_running_tool_ids TEXT,
	extra                 TEXT,                   -- every field of an event that has no column
	UNIQUE (session, seq),
	UNIQUE (session, id)
);

CREATE INDEX events_visible ON events (session, seq, unit, anchor) WHERE covered_by IS NULL;
CREATE INDEX events_units ON events (session, unit) WHERE unit IS NOT NULL;
CREATE INDEX events_records ON events (session, record_id) WHERE record_id IS NOT NULL;
CREATE INDEX events_covered ON events (session, covered_by) WHERE covered_by IS NOT NULL;

-- The calls that events make, to find the one that an answer belongs to.
CREATE TABLE calls (
	session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
	id      TEXT NOT NULL,                        -- of the call, '' if it has none
	orphan  INTEGER NOT NULL,                     -- 1: no call, but an answer to none that came before
	branch  TEXT NOT NULL,
	seq     INTEGER NOT NULL,                     -- of the event
	PRIMARY KEY (session, id, orphan, branch, seq)
) WITHOUT ROWID;

-- Where each invocation that says anything began.
CREATE TABLE invocations (
	session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
	id      TEXT NOT NULL,
	began   INTEGER NOT NULL,                     -- seq of its first event that says something
	PRIMARY KEY (session, id),
	UNIQUE (session, began)
) WITHOUT ROWID;

CREATE TABLE session_state (
	session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
	key     TEXT NOT NULL,
	value   TEXT NOT NULL,                        -- JSON
	PRIMARY KEY (session, key)
) WITHOUT ROWID;

CREATE TABLE user_state (
	app   TEXT NOT NULL,
	user  TEXT NOT NULL,
	key   TEXT NOT NULL,                          -- without "user:"
	value TEXT NOT NULL,
	PRIMARY KEY (app, user, key)
) WITHOUT ROWID;

CREATE TABLE app_state (
	app   TEXT NOT NULL,
	key   TEXT NOT NULL,                          -- without "app:"
	value TEXT NOT NULL,
	PRIMARY KEY (app, key)
) WITHOUT ROWID;

-- Everything, in order, readable.
CREATE VIEW history AS
SELECT s.app, s.user, s.id AS session, e.seq, e.time, e.invocation_id, e.author, e.branch,
	(SELECT group_concat(json_extract(p.value, '$.text'), char(10)) FROM json_each(e.content, '$.parts') p
		WHERE json_extract(p.value, '$.thought') IS NULL) AS text,
	(SELECT group_concat(json_extract(p.value, '$.functionCall.name') || coalesce(json_extract(p.value, '$.functionCall.args'), '{}'), char(10))
		FROM json_each(e.content, '$.parts') p) AS calls,
	(SELECT group_concat(json_extract(p.value, '$.functionResponse.name') || coalesce(json_extract(p.value, '$.functionResponse.response'), '{}'), char(10))
		FROM json_each(e.content, '$.parts') p) AS responses,
	json_extract(e.extra, '$.error_code') AS error_code,
	json_extract(e.usage_metadata, '$.promptTokenCount') AS prompt_tokens,
	json_extract(e.usage_metadata, '$.candidatesTokenCount') AS output_tokens,
	e.id AS event_id, e.record_id, e.covered_by
FROM events e JOIN sessions s ON s.key = e.session
ORDER BY s.app, s.user, s.id, e.seq;

-- Each compaction record with its numbers.
CREATE VIEW compactions AS
SELECT s.app, s.user, s.id AS session, e.seq, e.record_id,
	json_extract(m.record, '$.kind') AS kind,
	json_extract(m.record, '$.trigger') AS trigger,
	json_extract(m.record, '$.level') AS level,
	json_extract(m.record, '$.created_at') AS created_at,
	json_extract(m.record, '$.branch') AS branch,
	json_extract(m.record, '$.start_timestamp') AS start_timestamp,
	json_extract(m.record, '$.end_timestamp') AS end_timestamp,
	json_array_length(m.record, '$.covered') AS covers,
	(SELECT count(*) FROM events c WHERE c.session = e.session AND c.covered_by = e.record_id AND c.record_id IS NULL) AS covered,
	json_array_length(m.record, '$.absorbed') AS absorbs,
	json_extract(m.record, '$.event_count') AS event_count,
	json_extract(m.record, '$.original_tokens') AS original_tokens,
	json_extract(m.record, '$.compacted_tokens') AS compacted_tokens,
	json_extract(m.record, '$.compression_ratio') AS compression_ratio,
	json_extract(m.record, '$.model') AS model,
	json_extract(m.record, '$.usage.prompt_tokens') AS summarizer_prompt_tokens,
	json_extract(m.record, '$.usage.output_tokens') AS summarizer_output_tokens,
	(SELECT group_concat(json_extract(p.value, '$.text'), char(10))
		FROM json_each(json_extract(m.record, '$.compacted_content_json'), '$.parts') p
		WHERE json_extract(p.value, '$.thought') IS NULL) AS summary,
	e.covered_by IS NOT NULL AS absorbed
FROM events e JOIN sessions s ON s.key = e.session
	JOIN (SELECT key, json_extract(custom_metadata, '$._adk_compaction') AS record FROM events WHERE record_id > '') m ON m.key = e.key
WHERE e.record_id > ''
ORDER BY s.app, s.user, s.id, e.seq;

-- What the model sees: the summaries that no other absorbs, then all that no summary stands for. The
-- wrapper also keeps both sides of a call together, so it may show a call that is missing here.
CREATE VIEW context AS
SELECT app, user, session, seq, time, author, branch, text, calls, responses, record_id
FROM (
	SELECT app, user, session, 0 AS seq, created_at AS time, 'summary' AS author, branch, summary AS text,
		NULL AS calls, NULL AS responses, record_id, start_timestamp
	FROM compactions WHERE NOT absorbed
	UNION ALL
	SELECT app, user, session, seq, time, author, branch, text, calls, responses, NULL, NULL
	FROM history WHERE record_id IS NULL AND covered_by IS NULL
)
ORDER BY app, user, session, seq, start_timestamp, time, record_id;
