-- Version 1 of a dyno store. Its promise, and queries to begin with: docs/store.md. What came with version 2: held.sql;
-- with version 3: conformance.sql.
--
-- Names end in their unit. Times in `_ns` are nanoseconds since the trial began, times in `_unix_ms`
-- are milliseconds since 1970. `place` is a row's place in its list, from 0. A number that is not
-- known, and a value that is not a number (NaN), is NULL.
--
-- INTEGER holds up to 2^63-1; what is larger is refused. The columns of type ANY hold numbers that
-- may grow beyond it: INTEGER as long as it fits, from there on TEXT, all digits.
--
-- Nothing is ever changed, but for run_end and its seal when a run ends once more. `dyno rm` deletes whole runs.
-- Every row of a run and of a trial is under a seal: see run_seal, trial_seal.


-- Runs ----------------------------------------------------------------------------------------

-- One run of one experiment.
CREATE TABLE run (
    run            INTEGER PRIMARY KEY, -- its number, as `dyno list` shows it
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
    point_unit  TEXT    NOT NULL, -- `connections`, `requests/s` or `sessions/s`
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
    detail_sha256   BLOB    NOT NULL, -- over trial_window*, trial_series and trial_point
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

-- The load, if it came that far. Counts are those of the measured time.
CREATE TABLE trial_load (
    run                      INTEGER NOT NULL,
    trial                    INTEGER NOT NULL,
    began_ns                 INTEGER NOT NULL, -- the load's own clock began here; times of the load count from it
    measured_from_ns         INTEGER NOT NULL, -- the measured time began
    measured_until_ns        INTEGER NOT NULL, -- the last request was due before this
    ended_ns                 INTEGER NOT NULL, -- what was under way had been waited for
    end                      TEXT    NOT NULL, -- `done`, `halted` or `gave-up`
    gave_up_by               TEXT,             -- the failure seen most, if it gave up
    timeout_ns               INTEGER NOT NULL, -- censored values stand for "no less than this"
    attempted                INTEGER NOT NULL, -- exchanges that were due
    correct                  INTEGER NOT NULL, -- answered as expected
    correct_inside           INTEGER NOT NULL, -- and done inside the measured time
    under_way                INTEGER NOT NULL, -- neither when the load ended
    answered                 INTEGER NOT NULL, -- correct answers that came, whenever asked for
    warmup_attempted         INTEGER NOT NULL, -- due during the warm-up
    warmup_failed            INTEGER NOT NULL, -- due during the warm-up and failed
    connections_begun        INTEGER NOT NULL,
    connections_established  INTEGER NOT NULL,
    connections_failed       INTEGER NOT NULL,
    sessions_attempted       INTEGER NOT NULL,
    sessions_complete        INTEGER NOT NULL,
    sessions_failed          INTEGER NOT NULL,
    stale_retries            INTEGER NOT NULL, -- a reused connection was closed; the request went out again
    idle_closed              INTEGER NOT NULL, -- the server closed an idle connection
    surplus                  INTEGER NOT NULL, -- bytes followed a whole answer
    unsolicited              INTEGER NOT NULL, -- answers that no request waited for
    bytes_sent               INTEGER NOT NULL,
    bytes_received           INTEGER NOT NULL,
    in_flight_area_ns        ANY     NOT NULL, -- exchanges under way, integrated over time
    cpu_ns                   INTEGER NOT NULL, -- CPU time of the generator's threads
    idle_ns                  INTEGER NOT NULL, -- time that they waited, asleep or polling
    polled_ns                INTEGER NOT NULL, -- of that, polling
    last_done_ns             INTEGER NOT NULL, -- the last exchange ended
    PRIMARY KEY (run, trial),
    FOREIGN KEY (run, trial) REFERENCES trial
) STRICT, WITHOUT ROWID;

-- Failures of the measured time, by class. Classes without any have no row.
CREATE TABLE trial_failure (
    run    INTEGER NOT NULL,
    trial  INTEGER NOT NULL,
    class  TEXT    NOT NULL, -- such as `recv.reset`; `own.…` are the generator's
    count  INTEGER NOT NULL,
    PRIMARY KEY (run, trial, class),
    FOREIGN KEY (run, trial) REFERENCES trial_load
) STRICT, WITHOUT ROWID;

-- Latencies of the measured time.
CREATE TABLE trial_distribution (
    run        INTEGER NOT NULL,
    trial      INTEGER NOT NULL,
    name       TEXT    NOT NULL, -- `response`, `service`, `first_byte`, `late`, `blocked`, `connect`
    count      INTEGER NOT NULL, -- values
    censored   INTEGER NOT NULL, -- of them, only known to be no less than the time-out
    sum_ns     ANY     NOT NULL, -- exact
    histogram  BLOB    NOT NULL, -- HdrHistogram V2, not compressed; nanoseconds
    PRIMARY KEY (run, trial, name),
    FOREIGN KEY (run, trial) REFERENCES trial_load
) STRICT, WITHOUT ROWID;

-- The slowest exchanges, slowest first.
CREATE TABLE trial_slow (
    run            INTEGER NOT NULL,
    trial          INTEGER NOT NULL,
    place          INTEGER NOT NULL,
    intended_ns    INTEGER NOT NULL, -- when it was meant to leave
    sent_ns        INTEGER NOT NULL, -- its first byte was written
    first_byte_ns  INTEGER NOT NULL, -- the answer's first byte came
    done_ns        INTEGER NOT NULL, -- the answer was whole
    seq            INTEGER NOT NULL, -- which request it was
    status         INTEGER NOT NULL, -- the answer's
    PRIMARY KEY (run, trial, place),
    FOREIGN KEY (run, trial) REFERENCES trial_load
) STRICT, WITHOUT ROWID;

-- The generator's threads, over the measured time.
CREATE TABLE trial_lane (
    run          INTEGER NOT NULL,
    trial        INTEGER NOT NULL,
    place        INTEGER NOT NULL,
    cpu          INTEGER,          -- the CPU it was pinned to
    cpu_time_ns  INTEGER NOT NULL,
    wall_ns      INTEGER NOT NULL,
    idle_ns      INTEGER NOT NULL, -- asleep or polling for nothing
    polled_ns    INTEGER NOT NULL, -- of that, polling
    PRIMARY KEY (run, trial, place),
    FOREIGN KEY (run, trial) REFERENCES trial_load
) STRICT, WITHOUT ROWID;

-- The load, window by window; the warm-up's too.
CREATE TABLE trial_window (
    run                 INTEGER NOT NULL,
    trial               INTEGER NOT NULL,
    place               INTEGER NOT NULL,
    from_ns             INTEGER NOT NULL, -- on the load's clock
    until_ns            INTEGER NOT NULL,
    is_warmup           INTEGER NOT NULL, -- 1: before the measured time
    attempted           INTEGER NOT NULL, -- became due within it
    correct             INTEGER NOT NULL, -- came within it
    bytes_sent          INTEGER NOT NULL,
    bytes_received      INTEGER NOT NULL,
    in_flight           REAL,             -- exchanges under way, on average
    cpu_ns              INTEGER NOT NULL, -- CPU time of the generator's threads
    response_sum_ns     ANY     NOT NULL,
    response_censored   INTEGER NOT NULL,
    response_histogram  BLOB    NOT NULL, -- as in trial_distribution
    service_sum_ns      ANY     NOT NULL,
    service_censored    INTEGER NOT NULL,
    service_histogram   BLOB    NOT NULL,
    PRIMARY KEY (run, trial, place),
    FOREIGN KEY (run, trial) REFERENCES trial_load
) STRICT, WITHOUT ROWID;

-- Failures of a window, by class.
CREATE TABLE trial_window_failure (
    run     INTEGER NOT NULL,
    trial   INTEGER NOT NULL,
    window  INTEGER NOT NULL, -- trial_window.place
    class   TEXT    NOT NULL,
    count   INTEGER NOT NULL,
    PRIMARY KEY (run, trial, window, class),
    FOREIGN KEY (run, trial, window) REFERENCES trial_window
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


-- For people ----------------------------------------------------------------------------------
-- dyno itself reads none of these.

-- Every run in a line.
CREATE VIEW run_summary AS
SELECT run, name, is_quick, began_unix_ms, ended_unix_ms,
       ifnull(how, 'under way or killed')                            AS how,
       (SELECT count(*) FROM run_plan   WHERE run_plan.run = run.run)   AS planned,
       (SELECT count(*) FROM trial_seal WHERE trial_seal.run = run.run) AS kept
FROM run LEFT JOIN run_end USING (run);

-- Every trial in a line.
CREATE VIEW trial_summary AS
SELECT run, trial, subject, workload, point, point_unit, repeat, outcome,
       attempted, correct,
       (SELECT ifnull(sum(count), 0) FROM trial_failure
        WHERE trial_failure.run = trial.run AND trial_failure.trial = trial.trial) AS failed,
       under_way, outcome_says
FROM trial LEFT JOIN trial_load USING (run, trial);

-- Every reading with its name.
CREATE VIEW reading AS
SELECT trial_series.run, trial_series.trial, name, unit, at_ns, value
FROM trial_series
JOIN trial_point ON trial_point.run = trial_series.run AND trial_point.trial = trial_series.trial
                AND trial_point.series = trial_series.place;
