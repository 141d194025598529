-- Who may read the events may read the tables, and who may store events may take leases. Nobody but their owner writes the
-- other tables: the triggers do. This runs with each Install, for the roles that came later.
DO $body$
DECLARE
	v_grant record;
BEGIN
	FOR v_grant IN
		SELECT t.oid::regclass AS name, g.role, g.rights
			FROM (SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS role, a.grantee, r.rights, r.last, r.tables
				FROM pg_catalog.pg_class c CROSS JOIN aclexplode(c.relacl) a
				JOIN (VALUES ('SELECT', 'SELECT', 'SELECT', ARRAY['schema', 'sessions', 'visible', 'records', 'calls']),
					('INSERT', 'SELECT, INSERT, UPDATE, DELETE', 'DELETE', ARRAY['leases'])) r (privilege, rights, last, tables) ON r.privilege = a.privilege_type
				WHERE c.oid = '{schema}.events'::regclass) g
			CROSS JOIN unnest(g.tables) table_name
			JOIN pg_catalog.pg_class t ON t.oid = to_regclass('{schema}.longsession_' || table_name)
			WHERE pg_has_role(t.relowner, 'USAGE') AND g.grantee <> t.relowner
				AND NOT EXISTS (SELECT FROM aclexplode(t.relacl) has WHERE has.grantee = g.grantee AND has.privilege_type = g.last)
			GROUP BY 1, 2, 3
	LOOP
		EXECUTE format('GRANT %s ON %s TO %s', v_grant.rights, v_grant.name, v_grant.role);
	END LOOP;
END
$body$;
