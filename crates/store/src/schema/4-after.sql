ALTER TABLE trial DROP COLUMN cell_key;

-- A trial is repeated after a failure or an interruption, and both attempts are kept; but it is never under way
-- twice and never counted twice.
CREATE UNIQUE INDEX trial_once ON trial (run_id, cell_id, idx) WHERE status IN ('running', 'done');
CREATE INDEX trial_by_run ON trial (run_id, cell_id, idx);
CREATE INDEX trial_by_cell ON trial (cell_id, seed, origin) WHERE status = 'done';

-- Every attempt at a trial of a run, and what other runs' trials stand for its own.
CREATE VIEW run_trial AS
    SELECT id, run_id, cell_id, idx, seed, status, wall_ns, machine_ns, failure_step, failure_message, 0 AS is_reused
      FROM trial
    UNION ALL
    SELECT trial.id, reused.run_id, reused.cell_id, reused.idx, seed, status, wall_ns, machine_ns, failure_step,
           failure_message, 1
      FROM reused JOIN trial ON trial.id = trial_id;

-- The attempt that counts: the one that was done, or else the last.
CREATE VIEW latest_trial AS
    SELECT * FROM run_trial AS this
    WHERE NOT EXISTS (SELECT 1 FROM run_trial AS other
                      WHERE other.run_id = this.run_id AND other.cell_id = this.cell_id AND other.idx = this.idx
                        AND ((other.status = 'done') > (this.status = 'done')
                             OR (other.status = 'done') = (this.status = 'done') AND other.id > this.id));
