-- On a host, what tells the disks under test from others: a run is never carried on on other disks.
ALTER TABLE run ADD COLUMN devices_json TEXT NOT NULL DEFAULT '[]';
