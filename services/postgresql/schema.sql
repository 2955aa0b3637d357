CREATE EXTENSION pg_stat_statements;
CREATE ROLE benchmarkdbuser LOGIN;

CREATE TABLE world (
    id integer NOT NULL PRIMARY KEY,
    randomnumber integer NOT NULL DEFAULT 0
);
CREATE TABLE fortune (
    id integer NOT NULL PRIMARY KEY,
    message varchar(2048) NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON world, fortune TO benchmarkdbuser;
