-- Results belong to cells: by their identity, not by what a study calls them. `migrate.rs` fills cell_id in from the
-- plans and then drops cell_key.
DROP VIEW latest_trial;
DROP INDEX trial_once;
DROP INDEX trial_by_cell;
ALTER TABLE trial ADD COLUMN cell_id TEXT NOT NULL DEFAULT '';
-- What else a trial's results depend on: raidlab's build and the kernel in the lab, machine and disks on a host. NULL
-- where it is not known: such a trial stands for no other run's.
ALTER TABLE trial ADD COLUMN origin TEXT;

-- Trials of another run whose results are this run's too.
CREATE TABLE reused (
    run_id   INTEGER NOT NULL REFERENCES run (id),
    cell_id  TEXT NOT NULL,
    idx      INTEGER NOT NULL,
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    PRIMARY KEY (run_id, cell_id, idx)
) WITHOUT ROWID;
