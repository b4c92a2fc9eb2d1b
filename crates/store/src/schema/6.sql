-- The part of the study's trials that a run is limited to (`run --shard`): NUMBER/COUNT, empty for all of them.
ALTER TABLE run ADD COLUMN shard TEXT NOT NULL DEFAULT '';
