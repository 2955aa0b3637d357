\copy world FROM 'tables/world.csv' (FORMAT csv)
\copy fortune FROM 'tables/fortune.csv' (FORMAT csv)
\set password `echo "$SERVER_PASSWORD"`
ALTER ROLE benchmarkdbuser PASSWORD :'password';
VACUUM (ANALYZE) world;
VACUUM (ANALYZE) fortune;
CHECKPOINT;
SELECT pg_stat_statements_reset() \g /dev/null
