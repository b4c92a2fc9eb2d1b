-- Throughput of tests over time.
CREATE TABLE course (
    id          INTEGER PRIMARY KEY,
    trial_id    INTEGER NOT NULL REFERENCES trial (id),
    test        TEXT NOT NULL,
    interval_ns INTEGER NOT NULL,
    -- Bytes in each interval.
    bytes_json  TEXT NOT NULL
);
CREATE INDEX course_by_trial ON course (trial_id);
