-- Version 4 of a dyno store: what a load measured is one JSON text, its body. Version 1 is schema.sql, 2 held.sql, 3
-- conformance.sql; what the first says of names, units and types holds here, too.
--
-- The tables that held these values column by column are kept with what they hold, under their name and `_3`. Views have
-- taken their names: they give the rows of both, so that a question that was asked of the tables is answered as before.
-- Histograms out of a body are base64 texts, and those out of an older table are blobs.
--
-- trial_body is under trial_seal.summary_sha256, trial_detail under detail_sha256; each only if it has rows, so that the
-- seals of older versions are what they were.

DROP VIEW trial_summary;
DROP VIEW plateau_summary;

ALTER TABLE trial_load RENAME TO trial_load_3;
ALTER TABLE trial_failure RENAME TO trial_failure_3;
ALTER TABLE trial_distribution RENAME TO trial_distribution_3;
ALTER TABLE trial_slow RENAME TO trial_slow_3;
ALTER TABLE trial_lane RENAME TO trial_lane_3;
ALTER TABLE trial_window RENAME TO trial_window_3;
ALTER TABLE trial_window_failure RENAME TO trial_window_failure_3;
ALTER TABLE trial_hold RENAME TO trial_hold_3;
ALTER TABLE trial_plateau RENAME TO trial_plateau_3;
ALTER TABLE trial_plateau_loss RENAME TO trial_plateau_loss_3;
ALTER TABLE trial_plateau_distribution RENAME TO trial_plateau_distribution_3;
ALTER TABLE trial_broadcast RENAME TO trial_broadcast_3;
ALTER TABLE trial_hold_window RENAME TO trial_hold_window_3;

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


-- For people ----------------------------------------------------------------------------------
-- dyno itself reads none of these.

-- The load. Every column is explained in schema.sql, where it was a table.
CREATE VIEW trial_load AS
SELECT * FROM trial_load_3
UNION ALL
SELECT run, trial,
       body ->> '$.began',
       body ->> '$.recording.measured_from',
       body ->> '$.recording.measured_until',
       body ->> '$.recording.ended',
       CASE WHEN json_type(body, '$.recording.end') = 'object' THEN 'gave-up'
            ELSE lower(body ->> '$.recording.end') END,
       body ->> '$.recording.end.GaveUp',
       body ->> '$.recording.timeout',
       body ->> '$.recording.total.attempted',
       body ->> '$.recording.total.correct',
       body ->> '$.recording.total.correct_inside',
       body ->> '$.recording.total.under_way',
       body ->> '$.recording.total.answered',
       body ->> '$.recording.total.warmup_attempted',
       body ->> '$.recording.total.warmup_failed',
       body ->> '$.recording.total.connections.begun',
       body ->> '$.recording.total.connections.established',
       body ->> '$.recording.total.connections.failed',
       body ->> '$.recording.total.sessions.attempted',
       body ->> '$.recording.total.sessions.complete',
       body ->> '$.recording.total.sessions.failed',
       body ->> '$.recording.total.notes.stale_retries',
       body ->> '$.recording.total.notes.idle_closed',
       body ->> '$.recording.total.notes.surplus',
       body ->> '$.recording.total.notes.unsolicited',
       body ->> '$.recording.total.bytes_sent',
       body ->> '$.recording.total.bytes_received',
       body ->> '$.recording.total.in_flight_area',
       body ->> '$.recording.total.cpu',
       body ->> '$.recording.total.idle',
       body ->> '$.recording.total.polled',
       body ->> '$.recording.total.last_done'
FROM trial_body WHERE part = 'load';

-- Failures by class.
CREATE VIEW trial_failure AS
SELECT run, trial, class, count FROM trial_failure_3
UNION ALL
SELECT run, trial, key, value
FROM trial_body, json_each(body, '$.recording.total.failed') WHERE part = 'load';

-- Latencies.
CREATE VIEW trial_distribution AS
SELECT run, trial, name, count, censored, sum_ns, histogram FROM trial_distribution_3
UNION ALL
SELECT run, trial, key, value ->> '$.count', ifnull(value ->> '$.censored', 0), value ->> '$.sum',
       value ->> '$.histogram'
FROM trial_body, json_each(body, '$.recording.total')
WHERE part = 'load' AND key IN ('response', 'service', 'first_byte', 'late', 'blocked', 'connect');

-- The slowest exchanges, slowest first.
CREATE VIEW trial_slow AS
SELECT run, trial, place, intended_ns, sent_ns, first_byte_ns, done_ns, seq, status FROM trial_slow_3
UNION ALL
SELECT run, trial, key, value ->> '$.intended', value ->> '$.sent', value ->> '$.first_byte', value ->> '$.done',
       value ->> '$.seq', value ->> '$.status'
FROM trial_body, json_each(body, '$.recording.total.slowest') WHERE part = 'load';

-- The generator's threads.
CREATE VIEW trial_lane AS
SELECT run, trial, place, cpu, cpu_time_ns, wall_ns, idle_ns, polled_ns FROM trial_lane_3
UNION ALL
SELECT run, trial, key, value ->> '$.cpu', value ->> '$.cpu_time', value ->> '$.wall', value ->> '$.idle',
       value ->> '$.polled'
FROM trial_body, json_each(body, '$.recording.lanes') WHERE part = 'load';

-- The load, window by window.
CREATE VIEW trial_window AS
SELECT * FROM trial_window_3
UNION ALL
SELECT run, trial, key, value ->> '$.from', value ->> '$.until', value ->> '$.is_warmup', value ->> '$.attempted',
       value ->> '$.correct', value ->> '$.bytes_sent', value ->> '$.bytes_received', value ->> '$.in_flight',
       value ->> '$.cpu',
       value ->> '$.response.sum', ifnull(value ->> '$.response.censored', 0), value ->> '$.response.histogram',
       value ->> '$.service.sum', ifnull(value ->> '$.service.censored', 0), value ->> '$.service.histogram'
FROM trial_detail, json_each(body) WHERE part = 'load';

-- Failures of a window, by class.
CREATE VIEW trial_window_failure AS
SELECT run, trial, window, class, count FROM trial_window_failure_3
UNION ALL
SELECT run, trial, windows.key, failed.key, failed.value
FROM trial_detail, json_each(body) AS windows, json_each(windows.value, '$.failed') AS failed WHERE part = 'load';

-- Held connections. Every column of these is explained in held.sql, where it was a table.
CREATE VIEW trial_hold AS
SELECT run, trial, began_ns, closed_at_ns, was_halted FROM trial_hold_3
UNION ALL
SELECT run, trial, body ->> '$.began', body ->> '$.holding.closed_at', body ->> '$.holding.was_halted'
FROM trial_body WHERE part = 'held';

-- Their steps.
CREATE VIEW trial_plateau AS
SELECT * FROM trial_plateau_3
UNION ALL
SELECT run, trial, key, value ->> '$.times.connections', value ->> '$.times.from', value ->> '$.times.measured_from',
       value ->> '$.times.until', value ->> '$.measured', value ->> '$.begun', value ->> '$.begun_again',
       value ->> '$.opened', value ->> '$.open', value ->> '$.opening', value ->> '$.silent', value ->> '$.messages',
       value ->> '$.bytes', value ->> '$.missed', value ->> '$.stamped', value ->> '$.echoes.due',
       value ->> '$.echoes.blocked', value ->> '$.echoes.correct', value ->> '$.echoes.failed',
       value ->> '$.echoes.under_way', value ->> '$.cpu'
FROM trial_body, json_each(body, '$.holding.plateaus') WHERE part = 'held';

-- Connections that never were, and those that were and are no more.
CREATE VIEW trial_plateau_loss AS
SELECT run, trial, plateau, phase, cause, count FROM trial_plateau_loss_3
UNION ALL
SELECT run, trial, plateaus.key, phases.value, causes.key, causes.value
FROM trial_body, json_each(body, '$.holding.plateaus') AS plateaus, json_each('["failed", "lost"]') AS phases,
     json_each(plateaus.value, '$.' || phases.value) AS causes
WHERE part = 'held';

-- Times of a step.
CREATE VIEW trial_plateau_distribution AS
SELECT run, trial, plateau, name, count, censored, sum_ns, histogram FROM trial_plateau_distribution_3
UNION ALL
SELECT run, trial, plateaus.key, iif(names.value = 'echoes.response', 'echo', names.value),
       json_extract(plateaus.value, '$.' || names.value || '.count'),
       ifnull(json_extract(plateaus.value, '$.' || names.value || '.censored'), 0),
       json_extract(plateaus.value, '$.' || names.value || '.sum'),
       json_extract(plateaus.value, '$.' || names.value || '.histogram')
FROM trial_body, json_each(body, '$.holding.plateaus') AS plateaus,
     json_each('["agree", "connect", "echoes.response", "gap", "late", "own"]') AS names
WHERE part = 'held';

-- Texts that all connections were to hear.
CREATE VIEW trial_broadcast AS
SELECT run, trial, plateau, place, number, first_ns, last_ns, heard FROM trial_broadcast_3
UNION ALL
SELECT run, trial, plateaus.key,
       row_number() OVER (PARTITION BY run, trial, plateaus.key ORDER BY CAST(texts.key AS INTEGER)) - 1,
       texts.key, texts.value ->> '$.first', texts.value ->> '$.last', texts.value ->> '$.heard'
FROM trial_body, json_each(body, '$.holding.plateaus') AS plateaus,
     json_each(plateaus.value, '$.broadcasts') AS texts
WHERE part = 'held';

-- Held connections, window by window.
CREATE VIEW trial_hold_window AS
SELECT * FROM trial_hold_window_3
UNION ALL
SELECT run, trial, key, value ->> '$.from', value ->> '$.until', value ->> '$.open', value ->> '$.opening',
       value ->> '$.begun', value ->> '$.opened', value ->> '$.failed', value ->> '$.lost', value ->> '$.messages',
       value ->> '$.bytes',
       value ->> '$.open_after.sum', ifnull(value ->> '$.open_after.censored', 0), value ->> '$.open_after.histogram',
       value ->> '$.late.sum', ifnull(value ->> '$.late.censored', 0), value ->> '$.late.histogram'
FROM trial_detail, json_each(body) WHERE part = 'held';

-- Every trial in a line.
CREATE VIEW trial_summary AS
SELECT run, trial, subject, workload, point, point_unit, repeat, outcome,
       attempted, correct,
       (SELECT ifnull(sum(count), 0) FROM trial_failure
        WHERE trial_failure.run = trial.run AND trial_failure.trial = trial.trial) AS failed,
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
