-- SHA-256 of a trial with all its rows, set when it ends; NULL for trials of earlier versions and unfinished ones.
ALTER TABLE trial ADD COLUMN seal TEXT;
-- SHA-256 of the run's own columns, combined with the seals of its trials; NULL for runs of earlier versions.
ALTER TABLE run ADD COLUMN seal TEXT;
