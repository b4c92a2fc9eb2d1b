-- What the user calls a run.
ALTER TABLE run ADD COLUMN name TEXT;
