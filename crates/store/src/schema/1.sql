-- Seeds and counts are unsigned 64-bit numbers, which SQLite has no integer for: seeds are kept as decimal text.

CREATE TABLE run (
    id                 INTEGER PRIMARY KEY,
    title              TEXT NOT NULL,
    study_source       TEXT NOT NULL,
    study_sha256       TEXT NOT NULL,
    plan_json          TEXT NOT NULL,
    seed               TEXT NOT NULL,
    machine            TEXT NOT NULL CHECK (machine IN ('lab', 'host')),
    only_json          TEXT NOT NULL,
    raidlab_version    TEXT NOT NULL,
    command            TEXT NOT NULL,
    started_at_unix_s  INTEGER NOT NULL,
    finished_at_unix_s INTEGER,
    -- Process that writes or wrote last; for messages only, the lock beside the store decides.
    writer_pid         INTEGER NOT NULL
);

CREATE INDEX run_by_study ON run (study_sha256, seed, machine);

CREATE TABLE trial (
    id              INTEGER PRIMARY KEY,
    run_id          INTEGER NOT NULL REFERENCES run (id),
    cell_key        TEXT NOT NULL,
    idx             INTEGER NOT NULL,
    seed            TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('running', 'done', 'failed', 'interrupted')),
    wall_ns         INTEGER,
    machine_ns      INTEGER,
    failure_step    TEXT,
    failure_message TEXT
);

-- A trial is repeated after a failure or an interruption, and both attempts are kept; but it is never under way
-- twice and never counted twice.
CREATE UNIQUE INDEX trial_once ON trial (run_id, cell_key, idx) WHERE status IN ('running', 'done');
CREATE INDEX trial_by_cell ON trial (run_id, cell_key, idx);

CREATE VIEW latest_trial AS
    SELECT * FROM trial AS this
    WHERE NOT EXISTS (SELECT 1 FROM trial AS later
                      WHERE later.run_id = this.run_id AND later.cell_key = this.cell_key
                        AND later.idx = this.idx AND later.id > this.id);

CREATE TABLE step (
    id       INTEGER PRIMARY KEY,
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    name     TEXT NOT NULL,
    at_ns    INTEGER NOT NULL
);
CREATE INDEX step_by_trial ON step (trial_id);

CREATE TABLE sample (
    id       INTEGER PRIMARY KEY,
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    test     TEXT NOT NULL,
    metric   TEXT NOT NULL,
    value    REAL NOT NULL,
    unit     TEXT NOT NULL,
    better   TEXT NOT NULL CHECK (better IN ('higher', 'lower', 'neither'))
);
CREATE INDEX sample_by_trial ON sample (trial_id);

CREATE TABLE latency (
    id               INTEGER PRIMARY KEY,
    trial_id         INTEGER NOT NULL REFERENCES trial (id),
    test             TEXT NOT NULL,
    operation        TEXT NOT NULL,
    count            INTEGER NOT NULL,
    min_ns           INTEGER NOT NULL,
    p50_ns           INTEGER NOT NULL,
    p90_ns           INTEGER NOT NULL,
    p99_ns           INTEGER NOT NULL,
    p999_ns          INTEGER NOT NULL,
    max_ns           INTEGER NOT NULL,
    -- HdrHistogram, V2 serialisation.
    histogram_base64 TEXT NOT NULL
);
CREATE INDEX latency_by_trial ON latency (trial_id);

CREATE TABLE guard (
    id       INTEGER PRIMARY KEY,
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    name     TEXT NOT NULL,
    -- NULL guards every test of the trial.
    test     TEXT,
    passed   INTEGER NOT NULL CHECK (passed IN (0, 1)),
    detail   TEXT NOT NULL
);
CREATE INDEX guard_by_trial ON guard (trial_id);

CREATE TABLE tool_call (
    id          INTEGER PRIMARY KEY,
    trial_id    INTEGER NOT NULL REFERENCES trial (id),
    argv_json   TEXT NOT NULL,
    exit        INTEGER,
    stdout      TEXT NOT NULL,
    stderr      TEXT NOT NULL,
    duration_ns INTEGER NOT NULL
);
CREATE INDEX tool_call_by_trial ON tool_call (trial_id);

CREATE TABLE provenance (
    id       INTEGER PRIMARY KEY,
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    key      TEXT NOT NULL,
    value    TEXT NOT NULL
);
CREATE INDEX provenance_by_trial ON provenance (trial_id);
