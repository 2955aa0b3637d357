-- Version 3 of a dyno store: conformance, how much of the RFCs a subject keeps. Version 1 is schema.sql; what it says of
-- names, units and types holds here, too.
--
-- A subject's check is kept in one transaction, when it is over: after its run began, and before its first trial. It has
-- a seal of its own, run_conformance_seal. trial_spot is under trial_seal.summary_sha256, if it has rows: so the seals of
-- versions 1 and 2 are what they were.


-- One subject's check. Without a row: it has not been checked.
CREATE TABLE run_conformance (
    run                INTEGER NOT NULL,
    entry              INTEGER NOT NULL, -- run_entry.place
    from_run           INTEGER,          -- the run that has found it, with the same build; NULL: this one
    wrong              TEXT,             -- why nothing was found; then the rest is empty
    catalogue_version  TEXT    NOT NULL, -- of what was asked: scores by different ones are not comparable
    catalogue_hash     TEXT    NOT NULL, -- over all that decides in it
    rounds             INTEGER NOT NULL, -- how often each case was asked
    took_ms            INTEGER NOT NULL,
    cut_short          TEXT    NOT NULL, -- why it ended before its end; empty if it did not
    PRIMARY KEY (run, entry),
    FOREIGN KEY (run, entry) REFERENCES run_entry (run, place)
) STRICT, WITHOUT ROWID;

-- What each case came to. demand, doubt and expected are there for failures and warnings, bytes for failures.
CREATE TABLE run_finding (
    run          INTEGER NOT NULL,
    entry        INTEGER NOT NULL, -- run_entry.place
    place        INTEGER NOT NULL, -- in the catalogue's order
    case_id      TEXT    NOT NULL, -- such as `H1-F03`
    title        TEXT    NOT NULL, -- what was tried
    area         TEXT    NOT NULL, -- such as `framing` or `ws-frames`
    clause       TEXT    NOT NULL, -- which demands it
    level        TEXT    NOT NULL, -- `MUST`, `SHOULD` or `OUGHT`
    weight       INTEGER NOT NULL,
    tags         TEXT    NOT NULL, -- what a breach can be used for, with spaces between them
    verdict      TEXT    NOT NULL, -- `pass`, `warn`, `fail`, `crash`, `n/t` (not testable) or `n/a`: the worst round's
    rounds       TEXT    NOT NULL, -- each round's, with spaces between them
    why          TEXT    NOT NULL, -- what the server did in the round that counts
    demand       TEXT    NOT NULL, -- what the clause demands
    doubt        TEXT    NOT NULL, -- why that which only warns is no failure
    expected     TEXT    NOT NULL, -- what would have passed
    sent         BLOB    NOT NULL, -- the beginning of what was sent
    sent_bytes   INTEGER NOT NULL, -- how much of it there was
    heard        BLOB    NOT NULL, -- the beginning of what came
    heard_bytes  INTEGER NOT NULL,
    PRIMARY KEY (run, entry, place),
    FOREIGN KEY (run, entry) REFERENCES run_conformance
) STRICT, WITHOUT ROWID;

-- SHA-256 over a subject's check: run_conformance and run_finding.
CREATE TABLE run_conformance_seal (
    run     INTEGER NOT NULL,
    entry   INTEGER NOT NULL,
    sha256  BLOB    NOT NULL,
    PRIMARY KEY (run, entry),
    FOREIGN KEY (run, entry) REFERENCES run_entry (run, place)
) STRICT, WITHOUT ROWID;

-- The cheapest cases, asked before and after a trial's load.
CREATE TABLE trial_spot (
    run      INTEGER NOT NULL,
    trial    INTEGER NOT NULL,
    place    INTEGER NOT NULL,
    phase    TEXT    NOT NULL, -- `before` or `after`
    case_id  TEXT    NOT NULL,
    verdict  TEXT    NOT NULL, -- as in run_finding
    why      TEXT    NOT NULL, -- what the server did
    PRIMARY KEY (run, trial, place),
    FOREIGN KEY (run, trial) REFERENCES trial
) STRICT, WITHOUT ROWID;


-- For people: every check in a line.
CREATE VIEW conformance_summary AS
SELECT conformance.run, name AS subject, from_run, wrong, catalogue_version, catalogue_hash,
       (SELECT count(*) FROM run_finding AS finding
        WHERE finding.run = conformance.run AND finding.entry = conformance.entry
          AND verdict = 'pass')                                                     AS pass,
       (SELECT count(*) FROM run_finding AS finding
        WHERE finding.run = conformance.run AND finding.entry = conformance.entry
          AND verdict = 'warn')                                                     AS warn,
       (SELECT count(*) FROM run_finding AS finding
        WHERE finding.run = conformance.run AND finding.entry = conformance.entry
          AND verdict IN ('fail', 'crash'))                                         AS fail,
       (SELECT count(*) FROM run_finding AS finding
        WHERE finding.run = conformance.run AND finding.entry = conformance.entry
          AND verdict IN ('fail', 'crash') AND level = 'MUST')                      AS must_broken
FROM run_conformance AS conformance
JOIN run_entry ON run_entry.run = conformance.run AND run_entry.place = conformance.entry;
