-- Wall time of a trial at which each of its steps began, for what the lab costs. Unlike the steps it differs between runs, so no
-- seal covers it; stores that are merged do not have it.
CREATE TABLE step_wall (
    step_id INTEGER PRIMARY KEY REFERENCES step (id),
    wall_ns INTEGER NOT NULL
);
