-- What the app asked a summary to concentrate on, and its own note, which audits ask for. Nothing is stored anew.
DROP VIEW compactions;
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
	json_extract(m.record, '$.focus') AS focus,
	json_extract(m.record, '$.note') AS note,
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
