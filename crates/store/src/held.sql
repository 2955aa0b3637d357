-- Version 2 of a dyno store: held connections. Version 1 is schema.sql; what it says of names, units and types
-- holds here, too.
--
-- A trial of held connections has a row in trial_hold, and none in trial_load. It is one whole ramp: its plateaus
-- are the steps in which connections were added. `run_plan.point_unit` is then `held connections`.
--
-- trial_hold, trial_plateau* and trial_broadcast are under trial_seal.summary_sha256, trial_hold_window is under
-- detail_sha256; each only if it has rows, so that the seals of version 1 are what they were.


-- Held connections, if such were asked for and it came that far.
CREATE TABLE trial_hold (
    run           INTEGER NOT NULL,
    trial         INTEGER NOT NULL,
    began_ns      INTEGER NOT NULL, -- the load's own clock began here; times below count from it
    closed_at_ns  INTEGER NOT NULL, -- connections began to be closed
    was_halted    INTEGER NOT NULL, -- 1: it was stopped before its end
    PRIMARY KEY (run, trial),
    FOREIGN KEY (run, trial) REFERENCES trial
) STRICT, WITHOUT ROWID;

-- One step: connections are added, and then held. Of connections, what happened since the step began;
-- of messages, what came in its measured part.
CREATE TABLE trial_plateau (
    run               INTEGER NOT NULL,
    trial             INTEGER NOT NULL,
    place             INTEGER NOT NULL,
    connections       INTEGER NOT NULL, -- so many are to be there
    from_ns           INTEGER NOT NULL, -- the step begins
    measured_from_ns  INTEGER NOT NULL, -- its connections have been begun and had time to settle
    until_ns          INTEGER NOT NULL, -- the next one begins, or all are closed
    measured_ns       INTEGER NOT NULL, -- how long the measured part came to be
    begun             INTEGER NOT NULL, -- connections begun, those begun again among them
    begun_again       INTEGER NOT NULL, -- of them, after a loss
    opened            INTEGER NOT NULL, -- connections over which messages could come from then on
    open              INTEGER NOT NULL, -- at the end of the step
    opening           INTEGER NOT NULL, -- at its end: begun, and neither open nor failed
    silent            INTEGER NOT NULL, -- at its end: open, and heard of nothing for too long
    messages          INTEGER NOT NULL,
    bytes             INTEGER NOT NULL, -- received, of everything
    missed            ANY     NOT NULL, -- beats that never came, by the server's numbers
    stamped           INTEGER NOT NULL, -- messages that said when they were due
    echoes_due        INTEGER NOT NULL, -- texts that were to come back
    echoes_blocked    INTEGER NOT NULL, -- of them, no connection was free
    echoes_correct    INTEGER NOT NULL, -- came back as they were said
    echoes_failed     INTEGER NOT NULL, -- did not
    echoes_under_way  INTEGER NOT NULL, -- neither when the step ended
    cpu_ns            INTEGER NOT NULL, -- CPU time of the generator's threads in the measured part
    PRIMARY KEY (run, trial, place),
    FOREIGN KEY (run, trial) REFERENCES trial_hold
) STRICT, WITHOUT ROWID;

-- Connections that never were, and those that were and are no more. Causes without any have no row.
CREATE TABLE trial_plateau_loss (
    run      INTEGER NOT NULL,
    trial    INTEGER NOT NULL,
    plateau  INTEGER NOT NULL, -- trial_plateau.place
    phase    TEXT    NOT NULL, -- `failed` or `lost`
    cause    TEXT    NOT NULL, -- such as `recv.reset`, `ws.goodbye`, or `connect.no_ports`, which is the generator's own
    count    INTEGER NOT NULL,
    PRIMARY KEY (run, trial, plateau, phase, cause),
    FOREIGN KEY (run, trial, plateau) REFERENCES trial_plateau
) STRICT, WITHOUT ROWID;

-- Times of a step: `connect` (to TCP's agreement), `agree` (from there to the head or the handshake), `late` (messages
-- against their beat), `gap` (from message to message), `own` (what our own turn may have added to `late`), `echo`.
CREATE TABLE trial_plateau_distribution (
    run        INTEGER NOT NULL,
    trial      INTEGER NOT NULL,
    plateau    INTEGER NOT NULL, -- trial_plateau.place
    name       TEXT    NOT NULL, -- as above
    count      INTEGER NOT NULL, -- values
    censored   INTEGER NOT NULL, -- of them, only known to be no less than the time-out
    sum_ns     ANY     NOT NULL, -- exact
    histogram  BLOB    NOT NULL, -- HdrHistogram V2, not compressed; nanoseconds, up to 100 s
    PRIMARY KEY (run, trial, plateau, name),
    FOREIGN KEY (run, trial, plateau) REFERENCES trial_plateau
) STRICT, WITHOUT ROWID;

-- Texts that all connections were to hear.
CREATE TABLE trial_broadcast (
    run       INTEGER NOT NULL,
    trial     INTEGER NOT NULL,
    plateau   INTEGER NOT NULL, -- trial_plateau.place
    place     INTEGER NOT NULL,
    number    ANY     NOT NULL, -- the text's own, as it was heard
    first_ns  INTEGER NOT NULL, -- the first receiver had it so long after it was due
    last_ns   INTEGER NOT NULL, -- the last
    heard     INTEGER NOT NULL, -- so many had it
    PRIMARY KEY (run, trial, plateau, place),
    FOREIGN KEY (run, trial, plateau) REFERENCES trial_plateau
) STRICT, WITHOUT ROWID;

-- Held connections, window by window, through all steps.
CREATE TABLE trial_hold_window (
    run                   INTEGER NOT NULL,
    trial                 INTEGER NOT NULL,
    place                 INTEGER NOT NULL,
    from_ns               INTEGER NOT NULL,
    until_ns              INTEGER NOT NULL,
    open                  INTEGER NOT NULL, -- at its end
    opening               INTEGER NOT NULL, -- at its end
    begun                 INTEGER NOT NULL, -- within it; so are the rest
    opened                INTEGER NOT NULL,
    failed                INTEGER NOT NULL,
    lost                  INTEGER NOT NULL,
    messages              INTEGER NOT NULL,
    bytes                 INTEGER NOT NULL, -- received
    open_after_sum_ns     ANY     NOT NULL, -- from the beginning of a connection until it was open
    open_after_censored   INTEGER NOT NULL,
    open_after_histogram  BLOB    NOT NULL, -- as in trial_plateau_distribution
    late_sum_ns           ANY     NOT NULL, -- messages against their beat
    late_censored         INTEGER NOT NULL,
    late_histogram        BLOB    NOT NULL,
    PRIMARY KEY (run, trial, place),
    FOREIGN KEY (run, trial) REFERENCES trial_hold
) STRICT, WITHOUT ROWID;


-- For people: every step in a line.
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
