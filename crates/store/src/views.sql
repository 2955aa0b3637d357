-- Version 5: a trial that was never loaded has no failures that could be counted.

DROP VIEW trial_summary;

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
