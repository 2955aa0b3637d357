-- What the server's role has done to the tables since they were seeded; `evicted` counts the statements that were
-- forgotten, with which the others are no longer the whole.
WITH own AS (
    SELECT statement.query, statement.calls, statement.rows
    FROM pg_stat_statements AS statement
    JOIN pg_roles AS role ON role.oid = statement.userid
    WHERE role.rolname = 'benchmarkdbuser'
), counted AS (
    SELECT names.name AS name,
        coalesce(sum(own.calls) FILTER (WHERE own.query ~* '^\s*(select|with)'), 0) AS reads,
        coalesce(sum(own.rows) FILTER (WHERE own.query ~* '^\s*(select|with)'), 0) AS rows_read,
        coalesce(sum(own.calls) FILTER (WHERE own.query ~* '^\s*update'), 0) AS updates,
        coalesce(sum(own.rows) FILTER (WHERE own.query ~* '^\s*update'), 0) AS rows_updated
    FROM (VALUES ('world'), ('fortune')) AS names (name)
    LEFT JOIN own ON own.query ~* ('\m' || names.name || '\M')
    GROUP BY names.name
)
SELECT format('%1$s.reads=%2$s %1$s.rows_read=%3$s %1$s.updates=%4$s %1$s.rows_updated=%5$s',
    name, reads, rows_read, updates, rows_updated)
FROM counted
UNION ALL
SELECT format('evicted=%s', dealloc) FROM pg_stat_statements_info;
