-- The rows of one session, without its key. A unit is named by the first of its events, since any of them may stand for it.
WITH s AS (SELECT key FROM longsession_sessions WHERE app_name = $1 AND user_id = $2 AND session_id = $3)
SELECT concat_ws(' ', 'visible', quote_nullable(event_id), quote_nullable(branch), quote_nullable(author), quote_nullable(record_id), quote_nullable(anchor), events,
		'user', coalesce(extract(epoch FROM last_user)::text, 'none'), 'agent', coalesce(extract(epoch FROM last_agent)::text, 'none'))
	FROM longsession_visible JOIN s ON key = session
UNION ALL
SELECT concat_ws(' ', 'record', quote_nullable(record_id), quote_nullable(event_id)) FROM longsession_records JOIN s ON key = session
UNION ALL
SELECT concat_ws(' ', 'call', quote_nullable(event_id), quote_nullable(call_id), answer, orphan, quote_nullable(branch), extract(epoch FROM time),
		quote_nullable(min(event_id COLLATE "C") OVER (PARTITION BY unit)))
	FROM longsession_calls JOIN s ON key = session
