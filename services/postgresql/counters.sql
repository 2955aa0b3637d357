-- What the server's role has done to the tables since they were seeded; `evicted` counts the statements that were
-- forgotten, with which the others are no longer the whole.
-- Comments, parentheses and PREPARE before a query are no part of it, and one that begins with WITH may be an update.
-- What is fetched from a cursor is counted for the tables of which any is declared; that itself is the query.
WITH bare AS (
    SELECT regexp_replace(regexp_replace(statement.query, '/\*([^*]|\*+[^*/])*\*+/|--[^\n]*', ' ', 'g'),
        '^([\s(]|prepare\s+[^\s(]+\s*(\([^)]*\))?\s*as\s)+', '', 'i') AS query, calls, rows, open
    FROM pg_stat_statements AS statement
    JOIN pg_roles AS role ON role.oid = statement.userid
    -- By the extended protocol, a statement is counted once the next one begins or its transaction ends.
    LEFT JOIN LATERAL (
        SELECT count(*) AS open FROM pg_stat_activity
        WHERE toplevel AND query_id = queryid AND usename = rolname AND state = 'idle in transaction'
            -- Its rows have been read, and its snapshot is kept.
            AND backend_xmin IS NOT NULL
    ) AS sessions ON true
    WHERE role.rolname = 'benchmarkdbuser'
), own AS (
    SELECT query, kind,
        calls + CASE kind WHEN 'read' THEN open ELSE 0 END AS calls,
        CASE
            -- This version counts the last rows alone of what is fetched in parts without a cursor's name.
            WHEN is_whole AND rows < 200 * calls THEN 201 * (calls + open)
            WHEN kind = 'read' THEN rows + open * ceil(rows::numeric / calls)
            ELSE rows
        END AS rows
    FROM bare, LATERAL (SELECT CASE
        WHEN query ~* '^(update|insert|merge)\M' OR query ~* '^with\M.*\mupdate\M.*\mset\M' THEN 'update'
        WHEN query ~* '^(select|with|declare)\M' THEN 'read'
        WHEN query ~* '^fetch\M' THEN 'fetch'
    END AS kind, query ~* '^select\M[^(]*\mfortune\M[^(]*$'
        AND query !~* '\m(where|limit|offset|fetch|distinct|join|group|having)\M' AS is_whole) AS kinds
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
SELECT format('evicted=%s', dealloc + (SELECT count(*) FROM seeded WHERE seeded.stats_reset <> info.stats_reset))
FROM pg_stat_statements_info AS info;
