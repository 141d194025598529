-- What the views of ADK's sessions need, kept by triggers so that it is right whoever writes. {schema} is the
-- schema of ADK's tables, and {scope e} what an event's isolation scope adds to its branch, see adk.Lane. Everything
-- here can be thrown away and be made again from the events.

CREATE TABLE {schema}.longsession_schema (
	single  boolean PRIMARY KEY DEFAULT true CHECK (single), -- there is one row
	version integer NOT NULL
);

CREATE TABLE {schema}.longsession_sessions (
	key        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- never used again
	app_name   text NOT NULL,
	user_id    text NOT NULL,
	session_id text NOT NULL,
	-- exact: the other tables say what the records say. pending: they have to be filled first. conflicted: the
	-- records of the session contradict each other. A session that is not exact is always loaded whole.
	state      text NOT NULL CHECK (state IN ('exact', 'pending', 'conflicted')),
	UNIQUE (app_name, user_id, session_id),
	FOREIGN KEY (app_name, user_id, session_id) REFERENCES {schema}.sessions (app_name, user_id, id) ON DELETE CASCADE
);

-- The events that no record covers, and the records that no other record absorbs.
CREATE TABLE {schema}.longsession_visible (
	session    bigint NOT NULL REFERENCES {schema}.longsession_sessions ON DELETE CASCADE,
	event_id   text NOT NULL,
	branch     text NOT NULL,
	author     text NOT NULL,
	record_id  text,                     -- of a record, NULL for other events
	anchor     text,                     -- of a record: the event that its summary is shown behind
	events     bigint NOT NULL,          -- 1, and for a record all that it replaced: their sum is what is stored
	last_user  timestamptz,              -- time of the newest event of the user among these
	last_agent timestamptz,              -- time of the newest event of an agent among these
	PRIMARY KEY (session, event_id)
);

-- Every record, to find its event, and the second one of an ID.
CREATE TABLE {schema}.longsession_records (
	session   bigint NOT NULL REFERENCES {schema}.longsession_sessions ON DELETE CASCADE,
	record_id text NOT NULL,
	event_id  text NOT NULL,
	PRIMARY KEY (session, record_id)
);

-- Calls and answers. Those that belong together have one unit. The triggers keep the plans of their queries from when the
-- table was small, and then all indexes that fit look alike. Therefore each query has one index that begins with what it
-- looks for, and the index that only begins with the session, for deleting one, comes last.
CREATE TABLE {schema}.longsession_calls (
	session  bigint NOT NULL REFERENCES {schema}.longsession_sessions ON DELETE CASCADE,
	event_id text NOT NULL,
	call_id  text NOT NULL,              -- its MD5 if it is long, '' if the call has none
	answer   boolean NOT NULL,
	orphan   boolean NOT NULL,           -- an answer to no call that was stored before
	branch   text NOT NULL,
	time     timestamptz NOT NULL,
	unit     text NOT NULL,              -- ID of one event of the unit
	PRIMARY KEY (event_id, session, call_id, answer)
);
CREATE INDEX longsession_calls_by_id ON {schema}.longsession_calls (call_id, session, time);
CREATE INDEX longsession_calls_orphans ON {schema}.longsession_calls (call_id, session) WHERE orphan;
CREATE INDEX longsession_calls_by_unit ON {schema}.longsession_calls (unit, session);
CREATE INDEX longsession_calls_by_session ON {schema}.longsession_calls (session);

-- Leases, unless an app has created the table already. It is not removed with the rest, because apps may hold some.
CREATE TABLE IF NOT EXISTS {schema}.longsession_leases (session CHAR(64) PRIMARY KEY, token TEXT NOT NULL, until TIMESTAMPTZ NOT NULL);

-- longsession_add takes in one event and reports whether the session stays exact.
CREATE FUNCTION {schema}.longsession_add(p_session bigint, p_id text, p_time timestamptz, p_author text, p_branch text,
	p_content jsonb, p_custom jsonb) RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
	v_parts  jsonb := p_content -> 'parts';
	v_speaks boolean := CASE jsonb_typeof(v_parts) WHEN 'array' THEN jsonb_array_length(v_parts) > 0 ELSE false END;
	v_record jsonb := p_custom -> '_adk_compaction';
	v_links  boolean := false;
	v_clean  boolean := p_id <> '';
	v_units  text[] := '{}';
	v_unit   text;
	v_row    record;
BEGIN
	IF v_record IS NOT NULL AND NOT v_speaks THEN
		RETURN {schema}.longsession_add_record(p_session, p_id, p_branch, v_record);
	END IF;
	INSERT INTO {schema}.longsession_visible (session, event_id, branch, author, events, last_user, last_agent)
		VALUES (p_session, p_id, p_branch, p_author, 1,
			CASE WHEN p_author = 'user' AND jsonb_typeof(p_content) = 'object' THEN p_time END,
			CASE WHEN p_author NOT IN ('user', '') THEN p_time END);
	IF NOT v_speaks THEN
		RETURN v_clean;
	END IF;
	-- An answer belongs to the nearest call of its ID before it, first in its own branch, then in any.
	FOR v_row IN
		SELECT DISTINCT l.answer, CASE WHEN length(l.id) > 128 THEN md5(l.id) ELSE l.id END AS id FROM (
			SELECT true AS answer, coalesce(r ->> 'id', '') AS id FROM jsonb_path_query(v_parts, 'lax $[*].functionResponse') r WHERE jsonb_typeof(r) = 'object'
			UNION ALL
			SELECT false, coalesce(c ->> 'id', '') FROM jsonb_path_query(v_parts, 'lax $[*].functionCall') c WHERE jsonb_typeof(c) = 'object'
		) l ORDER BY l.answer DESC
	LOOP
		IF NOT v_links THEN
			-- A call and its answer must not pass each other in two transactions.
			PERFORM pg_advisory_xact_lock(hashtextextended('longsession_calls ' || p_session, 0));
			v_links := true;
		END IF;
		IF v_row.answer THEN
			v_unit := coalesce(
				(SELECT c.unit FROM {schema}.longsession_calls c WHERE c.session = p_session AND c.call_id = v_row.id
					AND NOT c.answer AND c.branch = p_branch AND c.time <= p_time AND c.event_id <> p_id ORDER BY c.time DESC LIMIT 1),
				(SELECT c.unit FROM {schema}.longsession_calls c WHERE c.session = p_session AND c.call_id = v_row.id
					AND NOT c.answer AND c.time <= p_time AND c.event_id <> p_id ORDER BY c.time DESC LIMIT 1));
			IF v_unit IS NULL THEN
				-- The view gives it to a call behind it, if there is one.
				v_clean := v_clean AND NOT EXISTS (SELECT FROM {schema}.longsession_calls c
					WHERE c.session = p_session AND c.call_id = v_row.id AND NOT c.answer);
			ELSE
				v_units := v_units || v_unit;
			END IF;
			INSERT INTO {schema}.longsession_calls (session, event_id, call_id, answer, orphan, branch, time, unit)
				VALUES (p_session, p_id, v_row.id, true, v_unit IS NULL, p_branch, p_time, p_id);
		ELSE
			-- This call may take answers from other calls that are stored already.
			v_clean := v_clean
				AND NOT EXISTS (SELECT FROM {schema}.longsession_calls c WHERE c.session = p_session
					AND c.call_id = v_row.id AND c.orphan AND c.event_id <> p_id)
				AND coalesce((SELECT c.time FROM {schema}.longsession_calls c WHERE c.session = p_session
					AND c.call_id = v_row.id AND c.event_id <> p_id ORDER BY c.time DESC LIMIT 1) < p_time, true);
			INSERT INTO {schema}.longsession_calls (session, event_id, call_id, answer, orphan, branch, time, unit)
				VALUES (p_session, p_id, v_row.id, false, false, p_branch, p_time, p_id);
		END IF;
	END LOOP;
	IF cardinality(v_units) > 0 THEN
		FOREACH v_unit IN ARRAY v_units || p_id LOOP
			CONTINUE WHEN v_unit = v_units[1];
			UPDATE {schema}.longsession_calls SET unit = v_units[1] WHERE session = p_session AND unit = v_unit;
		END LOOP;
	END IF;
	RETURN v_clean;
END
$body$;

-- longsession_add_record takes in one record. A record that is not exactly as this module writes records, or that
-- names anything which is not visible, makes the session conflicted.
CREATE FUNCTION {schema}.longsession_add_record(p_session bigint, p_id text, p_branch text, p_record jsonb)
	RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
	v_covered  jsonb := coalesce(p_record -> 'covered', '[]');
	v_absorbed jsonb := coalesce(p_record -> 'absorbed', '[]');
	v_record   text := p_record ->> 'record_id';
	v_after    jsonb := p_record -> 'after';
	v_anchor   text := '';
	v_agent    text := '';
	v_clean    boolean := true;
	v_id       text;
	v_gone     record;
	-- What the record replaces.
	v_events   bigint := 0;
	v_user     timestamptz;
	v_other    timestamptz;
BEGIN
	IF coalesce(jsonb_typeof(p_record) <> 'object' OR p_record -> 'version' <> '1'
		OR jsonb_typeof(p_record -> 'record_id') <> 'string' OR v_record = '' OR length(v_record) > 128
		OR p_record ->> 'kind' NOT IN ('summary', 'checkpoint')
		OR jsonb_typeof(p_record -> 'compacted_content_json') <> 'string'
		OR jsonb_typeof(p_record -> 'created_at') <> 'string'
		OR jsonb_typeof(p_record -> 'start_timestamp') <> 'string' OR jsonb_typeof(p_record -> 'end_timestamp') <> 'string'
		OR coalesce(p_record ->> 'branch', '') <> p_branch
		OR jsonb_typeof(v_covered) <> 'array' OR jsonb_typeof(v_absorbed) <> 'array', true)
	THEN
		RETURN false;
	END IF;
	IF jsonb_typeof(v_after) = 'object' AND v_after <> '{}' THEN
		v_anchor := coalesce(v_after ->> 'id', '');
		v_agent := coalesce(p_record ->> 'agent', '');
		IF v_anchor = '' OR v_agent IN ('', 'user')
			OR EXISTS (SELECT FROM {schema}.longsession_records r WHERE r.session = p_session AND r.event_id = v_anchor)
			OR NOT EXISTS (SELECT FROM {schema}.longsession_sessions s JOIN {schema}.events e
				ON e.id = v_anchor AND e.app_name = s.app_name AND e.user_id = s.user_id AND e.session_id = s.session_id
				WHERE s.key = p_session)
		THEN
			RETURN false;
		END IF;
	ELSIF v_after IS NOT NULL AND jsonb_typeof(v_after) <> 'null' AND v_after <> '{}' THEN
		RETURN false;
	END IF;
	INSERT INTO {schema}.longsession_records (session, record_id, event_id) VALUES (p_session, v_record, p_id)
		ON CONFLICT DO NOTHING;
	IF NOT FOUND THEN
		RETURN false; -- of several records with one ID, the view takes the first
	END IF;
	-- One row at a time: the plan of a join is made while the table is small, and may go through every row of the session.
	FOR v_id IN SELECT CASE jsonb_typeof(r) WHEN 'object' THEN r ->> 'id' END FROM jsonb_array_elements(v_covered) r LOOP
		DELETE FROM {schema}.longsession_visible v
			WHERE v.session = p_session AND v.event_id = v_id AND v.record_id IS NULL AND v.branch = p_branch
				AND (v_agent = '' OR v.author = v_agent)
			RETURNING v.events, v.last_user, v.last_agent INTO v_gone;
		IF NOT FOUND THEN
			v_clean := false;
			CONTINUE;
		END IF;
		v_events := v_events + v_gone.events;
		v_user := greatest(v_user, v_gone.last_user);
		v_other := greatest(v_other, v_gone.last_agent);
	END LOOP;
	FOR v_id IN SELECT CASE jsonb_typeof(r) WHEN 'string' THEN r #>> '{}' END FROM jsonb_array_elements(v_absorbed) r LOOP
		DELETE FROM {schema}.longsession_visible v
			WHERE v.session = p_session AND v.branch = p_branch AND v.record_id = v_id AND v.event_id =
				(SELECT r.event_id FROM {schema}.longsession_records r WHERE r.session = p_session AND r.record_id = v_id)
			RETURNING v.events, v.last_user, v.last_agent INTO v_gone;
		IF NOT FOUND THEN
			v_clean := false;
			CONTINUE;
		END IF;
		v_events := v_events + v_gone.events;
		v_user := greatest(v_user, v_gone.last_user);
		v_other := greatest(v_other, v_gone.last_agent);
	END LOOP;
	INSERT INTO {schema}.longsession_visible (session, event_id, branch, author, record_id, anchor, events, last_user, last_agent)
		VALUES (p_session, p_id, p_branch, '', v_record, nullif(v_anchor, ''), 1 + v_events, v_user, v_other);
	RETURN v_clean AND v_events > 0;
END
$body$;

-- longsession_append runs for each event that anybody stores. It never fails the statement that stores the event:
-- whatever goes wrong makes the session pending, and it is then loaded whole.
CREATE FUNCTION {schema}.longsession_append() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $body$
DECLARE
	v_session record;
	v_clean   boolean;
BEGIN
	BEGIN
		-- The lock waits for longsession_rebuild, and makes it wait for this transaction. Appends share it.
		SELECT s.key, s.state INTO v_session FROM {schema}.longsession_sessions s
			WHERE s.app_name = NEW.app_name AND s.user_id = NEW.user_id AND s.session_id = NEW.session_id FOR KEY SHARE;
		IF NOT FOUND THEN -- the session is older than this trigger
			INSERT INTO {schema}.longsession_sessions (app_name, user_id, session_id, state)
				VALUES (NEW.app_name, NEW.user_id, NEW.session_id, 'pending') ON CONFLICT DO NOTHING;
			SELECT s.key, s.state INTO v_session FROM {schema}.longsession_sessions s
				WHERE s.app_name = NEW.app_name AND s.user_id = NEW.user_id AND s.session_id = NEW.session_id FOR KEY SHARE;
		END IF;
		IF v_session.state <> 'exact' THEN
			RETURN NULL;
		END IF;
		v_clean := {schema}.longsession_add(v_session.key, NEW.id, NEW.timestamp, coalesce(NEW.author, ''), coalesce(NEW.branch, '') || {scope NEW},
			NEW.content, NEW.custom_metadata);
		IF v_clean IS NOT TRUE THEN
			UPDATE {schema}.longsession_sessions s SET state = 'conflicted' WHERE s.key = v_session.key;
		END IF;
		RETURN NULL;
	EXCEPTION
		WHEN undefined_table OR undefined_function THEN
			RETURN NULL; -- a part of the installation is gone
		WHEN OTHERS THEN
			NULL;
	END;
	UPDATE {schema}.longsession_sessions s SET state = 'pending'
		WHERE s.app_name = NEW.app_name AND s.user_id = NEW.user_id AND s.session_id = NEW.session_id;
	RETURN NULL;
END
$body$;

-- longsession_create makes a new session exact: it has no events.
CREATE FUNCTION {schema}.longsession_create() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	INSERT INTO {schema}.longsession_sessions (app_name, user_id, session_id, state)
		VALUES (NEW.app_name, NEW.user_id, NEW.id, 'exact') ON CONFLICT DO NOTHING;
	RETURN NULL;
EXCEPTION
	WHEN undefined_table THEN
		RETURN NULL;
END
$body$;

-- longsession_change runs when events were changed or deleted. ADK does so only with their whole session, which
-- takes its rows here along.
CREATE FUNCTION {schema}.longsession_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	IF TG_OP = 'TRUNCATE' THEN
		UPDATE {schema}.longsession_sessions SET state = 'pending';
		RETURN NULL;
	END IF;
	UPDATE {schema}.longsession_sessions s SET state = 'pending'
		FROM (SELECT DISTINCT o.app_name, o.user_id, o.session_id FROM changed o) c
		WHERE s.app_name = c.app_name AND s.user_id = c.user_id AND s.session_id = c.session_id AND s.state <> 'pending';
	RETURN NULL;
EXCEPTION
	WHEN undefined_table THEN
		RETURN NULL;
END
$body$;

-- longsession_rebuild makes the rows of one session again from its events. Appends to the session wait for it.
CREATE FUNCTION {schema}.longsession_rebuild(p_app text, p_user text, p_session text) RETURNS text LANGUAGE plpgsql
	SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
	v_key   bigint;
	v_clean boolean := true;
	v_event record;
BEGIN
	PERFORM FROM {schema}.sessions s WHERE s.app_name = p_app AND s.user_id = p_user AND s.id = p_session FOR KEY SHARE;
	IF NOT FOUND THEN
		RETURN 'gone';
	END IF;
	INSERT INTO {schema}.longsession_sessions (app_name, user_id, session_id, state)
		VALUES (p_app, p_user, p_session, 'pending') ON CONFLICT DO NOTHING;
	SELECT s.key INTO v_key FROM {schema}.longsession_sessions s
		WHERE s.app_name = p_app AND s.user_id = p_user AND s.session_id = p_session FOR UPDATE;
	-- With a new key, the rows that are gone are in nobody's way. An append that waits for this one finds the new row.
	DELETE FROM {schema}.longsession_sessions WHERE key = v_key;
	INSERT INTO {schema}.longsession_sessions (app_name, user_id, session_id, state)
		VALUES (p_app, p_user, p_session, 'pending') RETURNING key INTO v_key;
	-- Records last, because a record may have an earlier time than the events it covers if the clocks of processes
	-- differ. The level of a record is higher than that of each record that it absorbs.
	FOR v_event IN
		SELECT e.id, e.timestamp, e.author, coalesce(e.branch, '') || {scope e} AS lane, e.content, e.custom_metadata FROM {schema}.events e
			WHERE e.app_name = p_app AND e.user_id = p_user AND e.session_id = p_session
			ORDER BY coalesce(e.custom_metadata ? '_adk_compaction', false),
				coalesce(e.custom_metadata -> '_adk_compaction' -> 'level', '0'), e.timestamp, e.id
	LOOP
		v_clean := {schema}.longsession_add(v_key, v_event.id, v_event.timestamp, coalesce(v_event.author, ''),
			v_event.lane, v_event.content, v_event.custom_metadata);
		EXIT WHEN v_clean IS NOT TRUE;
	END LOOP;
	UPDATE {schema}.longsession_sessions SET state = CASE WHEN v_clean IS TRUE THEN 'exact' ELSE 'conflicted' END WHERE key = v_key;
	RETURN CASE WHEN v_clean IS TRUE THEN 'exact' ELSE 'conflicted' END;
END
$body$;

CREATE TRIGGER longsession_append AFTER INSERT ON {schema}.events FOR EACH ROW EXECUTE FUNCTION {schema}.longsession_append();
CREATE TRIGGER longsession_create AFTER INSERT ON {schema}.sessions FOR EACH ROW EXECUTE FUNCTION {schema}.longsession_create();
CREATE TRIGGER longsession_update AFTER UPDATE ON {schema}.events REFERENCING OLD TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION {schema}.longsession_change();
CREATE TRIGGER longsession_delete AFTER DELETE ON {schema}.events REFERENCING OLD TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION {schema}.longsession_change();
CREATE TRIGGER longsession_truncate AFTER TRUNCATE ON {schema}.events
	FOR EACH STATEMENT EXECUTE FUNCTION {schema}.longsession_change();

REVOKE EXECUTE ON FUNCTION {schema}.longsession_rebuild(text, text, text) FROM PUBLIC;

INSERT INTO {schema}.longsession_schema (version) VALUES ({version});
