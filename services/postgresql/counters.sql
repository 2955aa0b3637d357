-- What the server's role has done to the tables since they were seeded; `evicted` counts the statements that were
-- forgotten, with which the others are no longer the whole.
-- Comments, parentheses and PREPARE before a query are no part of it, and one that begins with WITH may be an update.
-- What is fetched from a cursor is counted for the tables of which any is declared; that itself is the query.
WITH bare AS (
    SELECT regexp_replace(statement.query,
        '^([\s(]|/\*([^*]|\*+[^*/])*\*+/|--[^\n]*\n|prepare\s+[^\s(]+\s*(\([^)]*\))?\s*as\s)+', '', 'i') AS query, calls, rows
    FROM pg_stat_statements AS statement
    JOIN pg_roles AS role ON role.oid = statement.userid
    WHERE role.rolname = 'benchmarkdbuser'
), own AS (
    SELECT *, CASE
        WHEN query ~* '^(update|insert|merge)\M' OR query ~* '^with\M.*\mupdate\M.*\mset\M' THEN 'update'
        WHEN query ~* '^(select|with|declare)\M' THEN 'read'
        WHEN query ~* '^fetch\M' THEN 'fetch'
    END AS kind
    FROM bare
), counted AS (
    SELECT names.name AS name,
        coalesce(sum(own.calls) FILTER (WHERE own.kind = 'read'), 0) AS reads,
        coalesce(sum(own.rows) FILTER (WHERE own.kind IN ('read', 'fetch')), 0) AS rows_read,
        coalesce(sum(own.calls) FILTER (WHERE own.kind = 'update'), 0) AS updates,
        coalesce(sum(own.rows) FILTER (WHERE own.kind = 'update'), 0) AS rows_updated
    FROM (VALUES ('world'), ('fortune')) AS names (name)
    LEFT JOIN own ON own.query ~* ('\m' || names.name || '\M') OR own.kind = 'fetch' AND EXISTS (
        SELECT FROM own AS declared WHERE declared.query ~* ('^declare\M.*\m' || names.name || '\M'))
    GROUP BY names.name
)
SELECT format('%1$s.reads=%2$s %1$s.rows_read=%3$s %1$s.updates=%4$s %1$s.rows_updated=%5$s',
    name, reads, rows_read, updates, rows_updated)
FROM counted
UNION ALL
SELECT format('evicted=%s', dealloc) FROM pg_stat_statements_info;
