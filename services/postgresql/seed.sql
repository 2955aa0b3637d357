\copy world FROM 'tables/world.csv' (FORMAT csv)
\copy fortune FROM 'tables/fortune.csv' (FORMAT csv)
\set password `echo "$SERVER_PASSWORD"`
ALTER ROLE benchmarkdbuser PASSWORD :'password';
VACUUM (ANALYZE) world;
VACUUM (ANALYZE) fortune;
CHECKPOINT;
SELECT pg_stat_statements_reset() \g /dev/null
-- After a crash, counting begins anew.
CREATE TABLE seeded AS SELECT stats_reset FROM pg_stat_statements_info;
