-- Names that people give to runs.
CREATE TABLE run_name (
    name   TEXT PRIMARY KEY,
    run_id INTEGER NOT NULL UNIQUE REFERENCES run (id)
) WITHOUT ROWID;
