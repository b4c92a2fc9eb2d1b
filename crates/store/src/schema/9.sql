-- The seal of a run, in a table of its own: it changes with each trial that ends, and the run's row holds the whole plan.
CREATE TABLE run_seal (
    run_id INTEGER PRIMARY KEY REFERENCES run (id),
    seal TEXT NOT NULL
);
INSERT INTO run_seal SELECT id, seal FROM run WHERE seal IS NOT NULL;
ALTER TABLE run DROP COLUMN seal;
