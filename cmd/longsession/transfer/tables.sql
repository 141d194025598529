CREATE TABLE sessions (
	app_name text NOT NULL,
	user_id text NOT NULL,
	id text NOT NULL,
	state jsonb,
	create_time timestamp(6) with time zone,
	update_time timestamp(6) with time zone,
	PRIMARY KEY (app_name, user_id, id)
);
CREATE TABLE events (
	id text NOT NULL,
	app_name text NOT NULL,
	user_id text NOT NULL,
	session_id text NOT NULL,
	invocation_id text,
	author text,
	actions bytea,
	long_running_tool_ids_json jsonb,
	branch text,
	"timestamp" timestamp(6) with time zone,
	content jsonb,
	grounding_metadata jsonb,
	custom_metadata jsonb,
	usage_metadata jsonb,
	citation_metadata jsonb,
	partial boolean,
	turn_complete boolean,
	error_code text,
	error_message text,
	interrupted boolean,
	PRIMARY KEY (id, app_name, user_id, session_id),
	CONSTRAINT fk_sessions_events FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE
);
CREATE TABLE app_states (
	app_name text NOT NULL,
	state jsonb,
	update_time timestamp(6) with time zone,
	PRIMARY KEY (app_name)
);
CREATE TABLE user_states (
	app_name text NOT NULL,
	user_id text NOT NULL,
	state jsonb,
	update_time timestamp(6) with time zone,
	PRIMARY KEY (app_name, user_id)
);
