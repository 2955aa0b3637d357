-- The tables of a dyno store. Its promise, and queries to begin with: docs/store.md.
--
-- Names end in their unit. Times in `_ns` are nanoseconds since the trial began, times in `_unix_ms`
-- are milliseconds since 1970. `place` is a row's place in its list, from 0. A number that is not
-- known, and a value that is not a number (NaN), is NULL.
--
-- INTEGER holds up to 2^63-1; what is larger is refused. The columns of type ANY hold numbers that
-- may grow beyond it: INTEGER as long as it fits, from there on TEXT, all digits.
--
-- Nothing is ever changed, but for run_end and its seal when a run ends once more. `dyno runs rm` deletes whole runs.
-- Every row of a run, of a subject's check and of a trial is under a seal: run_seal,
-- run_conformance_seal, run_profile_seal, trial_seal.


-- Runs ----------------------------------------------------------------------------------------

-- One run of one experiment.
CREATE TABLE run (
    run            INTEGER PRIMARY KEY, -- its number, as `dyno runs list` shows it
    name           TEXT    NOT NULL,    -- the experiment's
    is_quick       INTEGER NOT NULL,    -- 1: times and repeats were shrunk
    seed           ANY     NOT NULL,    -- where the order and all random values came from
    began_unix_ms  INTEGER NOT NULL,    -- wall time of its start
    dyno           TEXT    NOT NULL     -- version and commit of the dyno that began it
) STRICT;

-- The text of every file that shaped it: the experiment first, then workloads and manifests. The last is no file but the
-- experiment as it was run, with all that flags said of it: experiments/NAME.json.
CREATE TABLE run_file (
    run    INTEGER NOT NULL REFERENCES run,
    place  INTEGER NOT NULL,
    path   TEXT    NOT NULL, -- from the project's root
    text   TEXT    NOT NULL, -- as it was read
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

-- The machine.
CREATE TABLE run_fact (
    run    INTEGER NOT NULL REFERENCES run,
    place  INTEGER NOT NULL,
    name   TEXT    NOT NULL, -- such as `kernel` or `net.core.somaxconn`
    value  TEXT    NOT NULL, -- as it was read
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

-- Every subject that was to take part.
CREATE TABLE run_entry (
    run        INTEGER NOT NULL REFERENCES run,
    place      INTEGER NOT NULL,
    name       TEXT    NOT NULL, -- the subject's folder
    title      TEXT    NOT NULL, -- for people
    language   TEXT    NOT NULL, -- what it is written in
    processes  TEXT    NOT NULL, -- `one`, `per-cpu` or `many`
    tier       TEXT    NOT NULL, -- `default`, `tuned` or `reference`
    notes      TEXT    NOT NULL, -- what a reader of the numbers should know
    version    TEXT    NOT NULL, -- what its version command said; empty if it did not run
    build      TEXT    NOT NULL, -- the hash of what was built
    skipped    TEXT,             -- why it does not take part
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

-- What differs between the subjects: the table of fairness.
CREATE TABLE run_setting (
    run      INTEGER NOT NULL,
    entry    INTEGER NOT NULL, -- run_entry.place
    place    INTEGER NOT NULL,
    name     TEXT    NOT NULL, -- such as `backlog`
    default_ TEXT,             -- what the library does by itself
    change   TEXT,             -- what this entry says instead, and why
    PRIMARY KEY (run, entry, place),
    FOREIGN KEY (run, entry) REFERENCES run_entry (run, place)
) STRICT, WITHOUT ROWID;

-- Every trial in the order in which they run.
CREATE TABLE run_plan (
    run         INTEGER NOT NULL REFERENCES run,
    trial       INTEGER NOT NULL, -- its number, from 0
    subject     TEXT    NOT NULL, -- the server that is loaded
    workload    TEXT    NOT NULL, -- what is requested
    point       REAL    NOT NULL, -- how hard
    point_unit  TEXT    NOT NULL, -- `connections`, `requests/s`, `sessions/s` or `held connections`
    repeat      INTEGER NOT NULL, -- which round, from 0
    PRIMARY KEY (run, trial)
) STRICT, WITHOUT ROWID;

-- SHA-256 over all rows of a run: docs/store.md says of what exactly.
CREATE TABLE run_seal (
    run         INTEGER PRIMARY KEY REFERENCES run,
    sha256      BLOB    NOT NULL, -- over all tables above
    end_sha256  BLOB              -- over run_end, once there is a row: so that a lost one is missed
) STRICT;

-- How a run ended. Without a row: it is under way, or was killed.
CREATE TABLE run_end (
    run            INTEGER PRIMARY KEY REFERENCES run,
    ended_unix_ms  INTEGER NOT NULL, -- wall time
    how            TEXT    NOT NULL, -- `done` or `interrupted`
    kept           INTEGER NOT NULL  -- so many trials were kept then
) STRICT;


-- Conformance ---------------------------------------------------------------------------------

-- How much of the RFCs a subject keeps. Its check is kept in one transaction, when it is over: after its run began, and
-- before its first trial.

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


-- Profiles ------------------------------------------------------------------------------------

-- A sampled trial: where the CPU time of a server goes. It is kept when it is over, after the run's trials, and no
-- figure is made of it.
CREATE TABLE run_profile (
    run         INTEGER NOT NULL REFERENCES run,
    profile     INTEGER NOT NULL, -- its number, from 0
    subject     TEXT    NOT NULL, -- these five as in run_plan; repeat counts the profiles of one server and load
    workload    TEXT    NOT NULL,
    point       REAL    NOT NULL,
    point_unit  TEXT    NOT NULL,
    repeat      INTEGER NOT NULL,
    wrong       TEXT,             -- why nothing was found; then there is no body
    body        BLOB,             -- JSON, compressed by zlib
    PRIMARY KEY (run, profile)
) STRICT, WITHOUT ROWID;

-- SHA-256 over a profile.
CREATE TABLE run_profile_seal (
    run      INTEGER NOT NULL,
    profile  INTEGER NOT NULL,
    sha256   BLOB    NOT NULL,
    PRIMARY KEY (run, profile),
    FOREIGN KEY (run, profile) REFERENCES run_profile
) STRICT, WITHOUT ROWID;


-- Trials --------------------------------------------------------------------------------------

-- One trial that has been kept. It came into the store whole, in one transaction.
CREATE TABLE trial (
    run            INTEGER NOT NULL,
    trial          INTEGER NOT NULL, -- run_plan.trial
    subject        TEXT    NOT NULL, -- these five as in run_plan
    workload       TEXT    NOT NULL,
    point          REAL    NOT NULL,
    point_unit     TEXT    NOT NULL,
    repeat         INTEGER NOT NULL,
    began_unix_ms  INTEGER NOT NULL, -- wall time of its start
    outcome        TEXT    NOT NULL, -- `measured`, `skipped`, `not-ready`, `wrong`, `died`, …
    outcome_says   TEXT    NOT NULL, -- in a sentence; empty if there is nothing to say
    exit           TEXT    NOT NULL, -- how the process ended; empty if it never ran
    killed         INTEGER NOT NULL, -- processes that did not end when they were asked to
    output_tail    BLOB    NOT NULL, -- the last of what it wrote
    PRIMARY KEY (run, trial),
    FOREIGN KEY (run, trial) REFERENCES run_plan
) STRICT, WITHOUT ROWID;

-- SHA-256 over all rows of a trial; written last. A trial without its seal, or a seal without its
-- trial, is damage.
CREATE TABLE trial_seal (
    run             INTEGER NOT NULL,
    trial           INTEGER NOT NULL,
    summary_sha256  BLOB    NOT NULL, -- over all tables but the next column's
    detail_sha256   BLOB    NOT NULL, -- over trial_series, trial_point and trial_detail
    PRIMARY KEY (run, trial),
    FOREIGN KEY (run, trial) REFERENCES run_plan
) STRICT, WITHOUT ROWID;

-- The subject's process, if it came that far.
CREATE TABLE trial_launch (
    run             INTEGER NOT NULL,
    trial           INTEGER NOT NULL,
    pid             INTEGER NOT NULL,
    port            INTEGER NOT NULL, -- where it listens
    ready_after_ns  INTEGER,          -- from its start to the first right answer
    backlog         INTEGER,          -- of its listening socket, as the kernel says
    processes       INTEGER NOT NULL, -- when it was ready
    PRIMARY KEY (run, trial),
    FOREIGN KEY (run, trial) REFERENCES trial
) STRICT, WITHOUT ROWID;

-- The command as it was run, word by word.
CREATE TABLE trial_command (
    run    INTEGER NOT NULL,
    trial  INTEGER NOT NULL,
    place  INTEGER NOT NULL,
    word   TEXT    NOT NULL,
    PRIMARY KEY (run, trial, place),
    FOREIGN KEY (run, trial) REFERENCES trial_launch
) STRICT, WITHOUT ROWID;

-- What was done for the conditions, and what could not be.
CREATE TABLE trial_condition (
    run    INTEGER NOT NULL,
    trial  INTEGER NOT NULL,
    place  INTEGER NOT NULL,
    name   TEXT    NOT NULL, -- such as `memory`
    value  TEXT    NOT NULL, -- such as `1.5 GiB by cgroup v1`
    PRIMARY KEY (run, trial, place),
    FOREIGN KEY (run, trial) REFERENCES trial
) STRICT, WITHOUT ROWID;

-- Questions asked before and after the load.
CREATE TABLE trial_check (
    run         INTEGER NOT NULL,
    trial       INTEGER NOT NULL,
    place       INTEGER NOT NULL,
    phase       TEXT    NOT NULL, -- `before` or `after`
    ask         TEXT    NOT NULL, -- its name in the workload
    wrong       TEXT,             -- what was wrong; NULL if it was right
    request     BLOB    NOT NULL, -- the bytes sent
    response    BLOB    NOT NULL, -- the bytes received, up to a limit
    head_bytes  INTEGER NOT NULL, -- so much of the answer was head
    rest_bytes  INTEGER NOT NULL, -- and so much came after it, framing included
    digest      BLOB,             -- of the answer without what may differ
    PRIMARY KEY (run, trial, place),
    FOREIGN KEY (run, trial) REFERENCES trial
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

-- What a trial measured, but for its windows.
CREATE TABLE trial_body (
    run    INTEGER NOT NULL,
    trial  INTEGER NOT NULL,
    part   TEXT    NOT NULL, -- `load`, or `held`: connections that were held
    body   TEXT    NOT NULL, -- JSON: `began` and `recording`, or `began` and `holding`
    PRIMARY KEY (run, trial, part),
    FOREIGN KEY (run, trial) REFERENCES trial
) STRICT, WITHOUT ROWID;

-- Its windows: large, and seldom needed.
CREATE TABLE trial_detail (
    run    INTEGER NOT NULL,
    trial  INTEGER NOT NULL,
    part   TEXT    NOT NULL, -- as in trial_body
    body   TEXT    NOT NULL, -- JSON: a list of windows
    PRIMARY KEY (run, trial, part),
    FOREIGN KEY (run, trial) REFERENCES trial
) STRICT, WITHOUT ROWID;

-- What the monitors read.
CREATE TABLE trial_series (
    run    INTEGER NOT NULL,
    trial  INTEGER NOT NULL,
    place  INTEGER NOT NULL,
    name   TEXT    NOT NULL, -- such as `subject.memory.rss`
    unit   TEXT    NOT NULL, -- `bytes`, `ns`, `count`, `ratio`, …
    PRIMARY KEY (run, trial, place),
    FOREIGN KEY (run, trial) REFERENCES trial
) STRICT, WITHOUT ROWID;

-- Their values, in the order of time.
CREATE TABLE trial_point (
    run     INTEGER NOT NULL,
    trial   INTEGER NOT NULL,
    series  INTEGER NOT NULL, -- trial_series.place
    place   INTEGER NOT NULL,
    at_ns   INTEGER NOT NULL, -- since the trial began
    value   REAL,
    PRIMARY KEY (run, trial, series, place),
    FOREIGN KEY (run, trial, series) REFERENCES trial_series
) STRICT, WITHOUT ROWID;


-- For people: what bodies hold ----------------------------------------------------------------
-- dyno itself reads none of these. Histograms are base64 texts: HdrHistogram V2, not compressed; nanoseconds.

-- The load, if it came that far: times on its own clock, counts of the measured time.
CREATE VIEW trial_load AS
SELECT run, trial,
       body ->> '$.began'                                    AS began_ns, -- its own clock began
       body ->> '$.recording.measured_from'                  AS measured_from_ns,  -- the measured time began
       body ->> '$.recording.measured_until'                 AS measured_until_ns, -- the last request was due before
       body ->> '$.recording.ended'                          AS ended_ns, -- what was under way had been waited for
       CASE WHEN json_type(body, '$.recording.end') = 'object' THEN 'gave-up'
            ELSE lower(body ->> '$.recording.end') END       AS end,        -- `done`, `halted` or `gave-up`
       body ->> '$.recording.end.GaveUp'                     AS gave_up_by, -- the failure seen most, if it gave up
       body ->> '$.recording.timeout'                        AS timeout_ns,
       body ->> '$.recording.total.attempted'                AS attempted, -- exchanges that were due
       body ->> '$.recording.total.correct'                  AS correct,   -- answered as expected
       body ->> '$.recording.total.correct_inside'           AS correct_inside, -- and done inside the measured time
       body ->> '$.recording.total.under_way'                AS under_way, -- neither when the load ended
       body ->> '$.recording.total.answered'                 AS answered,  -- correct answers that came in it
       body ->> '$.recording.total.warmup_attempted'         AS warmup_attempted,
       body ->> '$.recording.total.warmup_failed'            AS warmup_failed,
       body ->> '$.recording.total.connections.begun'        AS connections_begun,
       body ->> '$.recording.total.connections.established'  AS connections_established,
       body ->> '$.recording.total.connections.failed'       AS connections_failed,
       body ->> '$.recording.total.sessions.attempted'       AS sessions_attempted,
       body ->> '$.recording.total.sessions.complete'        AS sessions_complete,
       body ->> '$.recording.total.sessions.failed'          AS sessions_failed,
       body ->> '$.recording.total.notes.stale_retries'      AS stale_retries, -- a request was sent again
       body ->> '$.recording.total.notes.idle_closed'        AS idle_closed,   -- the server closed an idle connection
       body ->> '$.recording.total.notes.surplus'            AS surplus,       -- bytes followed a whole answer
       body ->> '$.recording.total.notes.unsolicited'        AS unsolicited,   -- answers that no request waited for
       body ->> '$.recording.total.bytes_sent'               AS bytes_sent,
       body ->> '$.recording.total.bytes_received'           AS bytes_received,
       body ->> '$.recording.total.in_flight_area'           AS in_flight_area_ns, -- exchanges under way, over time
       body ->> '$.recording.total.cpu'                      AS cpu_ns,    -- CPU time of the generator's threads
       body ->> '$.recording.total.idle'                     AS idle_ns,   -- time that they waited, asleep or polling
       body ->> '$.recording.total.polled'                   AS polled_ns, -- of that, polling
       body ->> '$.recording.total.last_done'                AS last_done_ns -- the last exchange ended
FROM trial_body WHERE part = 'load';

-- Failures of the measured time, by class; `own.…` are the generator's. Classes without any have no row.
CREATE VIEW trial_failure AS
SELECT run, trial, key AS class, value AS count
FROM trial_body, json_each(body, '$.recording.total.failed') WHERE part = 'load';

-- Latencies of the measured time. Censored values are only known to be no less than the time-out.
CREATE VIEW trial_distribution AS
SELECT run, trial, key AS name, value ->> '$.count' AS count, ifnull(value ->> '$.censored', 0) AS censored,
       value ->> '$.sum' AS sum_ns, value ->> '$.histogram' AS histogram
FROM trial_body, json_each(body, '$.recording.total')
WHERE part = 'load' AND key IN ('response', 'service', 'first_byte', 'late', 'blocked', 'connect');

-- The slowest exchanges, slowest first: when each was meant to leave, its first byte was written, the answer's first
-- byte came, and the answer was whole.
CREATE VIEW trial_slow AS
SELECT run, trial, key AS place, value ->> '$.intended' AS intended_ns, value ->> '$.sent' AS sent_ns,
       value ->> '$.first_byte' AS first_byte_ns, value ->> '$.done' AS done_ns, value ->> '$.seq' AS seq,
       value ->> '$.status' AS status
FROM trial_body, json_each(body, '$.recording.total.slowest') WHERE part = 'load';

-- The generator's threads, over the measured time: the CPU that each was pinned to, and how long it was idle, asleep or
-- polling for nothing.
CREATE VIEW trial_lane AS
SELECT run, trial, key AS place, value ->> '$.cpu' AS cpu, value ->> '$.cpu_time' AS cpu_time_ns,
       value ->> '$.wall' AS wall_ns, value ->> '$.idle' AS idle_ns, value ->> '$.polled' AS polled_ns
FROM trial_body, json_each(body, '$.recording.lanes') WHERE part = 'load';

-- The load, window by window, the warm-up's too. `attempted` became due within it, `correct` came within it, and
-- `in_flight` were under way on average.
CREATE VIEW trial_window AS
SELECT run, trial, key AS place, value ->> '$.from' AS from_ns, value ->> '$.until' AS until_ns,
       value ->> '$.is_warmup' AS is_warmup, value ->> '$.attempted' AS attempted, value ->> '$.correct' AS correct,
       value ->> '$.bytes_sent' AS bytes_sent, value ->> '$.bytes_received' AS bytes_received,
       (value ->> '$.in_flight_area') * 1.0 / max(1, value ->> '$.until' - value ->> '$.from') AS in_flight,
       value ->> '$.cpu' AS cpu_ns,
       value ->> '$.response.sum' AS response_sum_ns, ifnull(value ->> '$.response.censored', 0) AS response_censored,
       value ->> '$.response.histogram' AS response_histogram,
       value ->> '$.service.sum' AS service_sum_ns, ifnull(value ->> '$.service.censored', 0) AS service_censored,
       value ->> '$.service.histogram' AS service_histogram
FROM trial_detail, json_each(body) WHERE part = 'load';

-- Failures of a window, by class.
CREATE VIEW trial_window_failure AS
SELECT run, trial, windows.key AS window, failed.key AS class, failed.value AS count
FROM trial_detail, json_each(body) AS windows, json_each(windows.value, '$.failed') AS failed WHERE part = 'load';

-- Held connections. A trial of them has a row here, and none in trial_load. It is one whole ramp: its plateaus are the
-- steps in which connections were added.
CREATE VIEW trial_hold AS
SELECT run, trial, body ->> '$.began' AS began_ns, -- the load's own clock began; times of the steps count from it
       body ->> '$.holding.closed_at' AS closed_at_ns, -- connections began to be closed
       body ->> '$.holding.was_halted' AS was_halted   -- 1: it was stopped before its end
FROM trial_body WHERE part = 'held';

-- One step: connections are added, and then held. Of connections, what happened since the step began; of messages, what
-- came in its measured part.
CREATE VIEW trial_plateau AS
SELECT run, trial, key AS place,
       value ->> '$.times.connections'    AS connections, -- so many are to be there
       value ->> '$.times.from'           AS from_ns,     -- the step begins
       value ->> '$.times.measured_from'  AS measured_from_ns, -- its connections have had time to settle
       value ->> '$.times.until'          AS until_ns,    -- the next one begins, or all are closed
       value ->> '$.measured'             AS measured_ns, -- how long the measured part came to be
       value ->> '$.begun'                AS begun,       -- connections begun, those begun again among them
       value ->> '$.begun_again'          AS begun_again, -- of them, after a loss
       value ->> '$.opened'               AS opened,      -- connections over which messages could come from then on
       value ->> '$.open'                 AS open,        -- at the end of the step
       value ->> '$.opening'              AS opening,     -- at its end: begun, and neither open nor failed
       value ->> '$.silent'               AS silent,      -- at its end: open, and heard of nothing for too long
       value ->> '$.messages'             AS messages,
       value ->> '$.bytes'                AS bytes,       -- received, of everything
       value ->> '$.missed'               AS missed,      -- beats that never came, by the server's numbers
       value ->> '$.stamped'              AS stamped,     -- messages that said when they were due
       value ->> '$.echoes.due'           AS echoes_due,  -- texts that were to come back
       value ->> '$.echoes.blocked'       AS echoes_blocked, -- of them, no connection was free
       value ->> '$.echoes.correct'       AS echoes_correct, -- came back as they were said
       value ->> '$.echoes.failed'        AS echoes_failed,  -- did not
       value ->> '$.echoes.under_way'     AS echoes_under_way, -- neither when the step ended
       value ->> '$.cpu'                  AS cpu_ns       -- CPU time of the generator's threads in the measured part
FROM trial_body, json_each(body, '$.holding.plateaus') WHERE part = 'held';

-- Connections that never were (`failed`), and those that were and are no more (`lost`). Causes without any have no row.
CREATE VIEW trial_plateau_loss AS
SELECT run, trial, plateaus.key AS plateau, phases.value AS phase, causes.key AS cause, causes.value AS count
FROM trial_body, json_each(body, '$.holding.plateaus') AS plateaus, json_each('["failed", "lost"]') AS phases,
     json_each(plateaus.value, '$.' || phases.value) AS causes
WHERE part = 'held';

-- Times of a step: `connect` (to TCP's agreement), `agree` (from there to the head or the handshake), `late` (messages
-- against their beat), `gap` (from message to message), `own` (what our own turn may have added to `late`), `echo`.
CREATE VIEW trial_plateau_distribution AS
SELECT run, trial, plateaus.key AS plateau, iif(names.value = 'echoes.response', 'echo', names.value) AS name,
       json_extract(plateaus.value, '$.' || names.value || '.count') AS count,
       ifnull(json_extract(plateaus.value, '$.' || names.value || '.censored'), 0) AS censored,
       json_extract(plateaus.value, '$.' || names.value || '.sum') AS sum_ns,
       json_extract(plateaus.value, '$.' || names.value || '.histogram') AS histogram
FROM trial_body, json_each(body, '$.holding.plateaus') AS plateaus,
     json_each('["agree", "connect", "echoes.response", "gap", "late", "own"]') AS names
WHERE part = 'held';

-- Texts that all connections were to hear: the text's own number, how long after it was due the first receiver and the
-- last one had it, and how many had it.
CREATE VIEW trial_broadcast AS
SELECT run, trial, plateaus.key AS plateau,
       row_number() OVER (PARTITION BY run, trial, plateaus.key ORDER BY CAST(texts.key AS INTEGER)) - 1 AS place,
       texts.key AS number, texts.value ->> '$.first' AS first_ns, texts.value ->> '$.last' AS last_ns,
       texts.value ->> '$.received' AS received
FROM trial_body, json_each(body, '$.holding.plateaus') AS plateaus,
     json_each(plateaus.value, '$.broadcasts') AS texts
WHERE part = 'held';

-- Held connections, window by window, through all steps: open and opening at its end, the rest within it.
CREATE VIEW trial_hold_window AS
SELECT run, trial, key AS place, value ->> '$.from' AS from_ns, value ->> '$.until' AS until_ns,
       value ->> '$.open' AS open, value ->> '$.opening' AS opening, value ->> '$.begun' AS begun,
       value ->> '$.opened' AS opened, value ->> '$.failed' AS failed, value ->> '$.lost' AS lost,
       value ->> '$.messages' AS messages, value ->> '$.bytes' AS bytes,
       value ->> '$.open_after.sum' AS open_after_sum_ns, -- from the beginning of a connection until it was open
       ifnull(value ->> '$.open_after.censored', 0) AS open_after_censored,
       value ->> '$.open_after.histogram' AS open_after_histogram,
       value ->> '$.late.sum' AS late_sum_ns, -- messages against their beat
       ifnull(value ->> '$.late.censored', 0) AS late_censored, value ->> '$.late.histogram' AS late_histogram
FROM trial_detail, json_each(body) WHERE part = 'held';


-- For people: summaries -----------------------------------------------------------------------

-- Every run in a line.
CREATE VIEW run_summary AS
SELECT run, name, is_quick, began_unix_ms, ended_unix_ms,
       ifnull(how, 'under way or killed')                            AS how,
       (SELECT count(*) FROM run_plan   WHERE run_plan.run = run.run)   AS planned,
       (SELECT count(*) FROM trial_seal WHERE trial_seal.run = run.run) AS kept
FROM run LEFT JOIN run_end USING (run);

-- Every trial in a line; what was not recorded is NULL.
CREATE VIEW trial_summary AS
SELECT run, trial, subject, workload, point, point_unit, repeat, outcome,
       attempted, correct,
       CASE WHEN attempted IS NOT NULL THEN
           (SELECT ifnull(sum(count), 0) FROM trial_failure
            WHERE trial_failure.run = trial.run AND trial_failure.trial = trial.trial)
       END AS failed,
       under_way, outcome_says
FROM trial LEFT JOIN trial_load USING (run, trial);

-- Every step of held connections in a line.
CREATE VIEW plateau_summary AS
SELECT run, trial, subject, workload, repeat, connections, open, opening, silent, begun_again,
       (SELECT ifnull(sum(count), 0) FROM trial_plateau_loss AS loss
        WHERE loss.run = plateau.run AND loss.trial = plateau.trial AND loss.plateau = plateau.place
          AND phase = 'failed')                                                     AS failed,
       (SELECT ifnull(sum(count), 0) FROM trial_plateau_loss AS loss
        WHERE loss.run = plateau.run AND loss.trial = plateau.trial AND loss.plateau = plateau.place
          AND phase = 'lost')                                                       AS lost,
       messages, missed, measured_ns
FROM trial_plateau AS plateau JOIN trial USING (run, trial);

-- Every reading with its name.
CREATE VIEW reading AS
SELECT trial_series.run, trial_series.trial, name, unit, at_ns, value
FROM trial_series
JOIN trial_point ON trial_point.run = trial_series.run AND trial_point.trial = trial_series.trial
                AND trial_point.series = trial_series.place;

-- Every check in a line.
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
