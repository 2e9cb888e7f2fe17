-- Which processes of the store are there, until when this counts, and which tasks of upkeep each does,
-- a line each: the tasks are dealt out among them.
CREATE TABLE upkeep_process (
  process TEXT PRIMARY KEY,
  tasks TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
