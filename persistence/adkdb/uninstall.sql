DROP TRIGGER IF EXISTS longsession_append ON {schema}.events;
DROP TRIGGER IF EXISTS longsession_update ON {schema}.events;
DROP TRIGGER IF EXISTS longsession_delete ON {schema}.events;
DROP TRIGGER IF EXISTS longsession_truncate ON {schema}.events;
DROP TRIGGER IF EXISTS longsession_create ON {schema}.sessions;
DROP FUNCTION IF EXISTS {schema}.longsession_append(), {schema}.longsession_create(), {schema}.longsession_change(),
	{schema}.longsession_rebuild(text, text, text),
	{schema}.longsession_add(bigint, text, timestamptz, text, text, jsonb, jsonb),
	{schema}.longsession_add_record(bigint, text, text, jsonb);
DROP TABLE IF EXISTS {schema}.longsession_calls, {schema}.longsession_records, {schema}.longsession_visible,
	{schema}.longsession_sessions, {schema}.longsession_schema;
DROP INDEX IF EXISTS {schema}.longsession_events_by_time;
