-- for: postgres
-- The groups of commits that processes have stored, each in the transaction of its group. A sender counts its groups
-- without gaps. Changes are what other processes are to know, a line each; null in a tombstone, which keeps a group
-- whose outcome was unknown from being stored later. Times are the server's.
CREATE TABLE commit_log (
  sender TEXT NOT NULL,
  seq INTEGER NOT NULL,
  changes TEXT,
  at_ms INTEGER NOT NULL DEFAULT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT,
  PRIMARY KEY (sender, seq)
);
-- What the log replaces. Processes of an earlier release must be stopped first.
DROP TABLE IF EXISTS change_feed;
DROP TABLE IF EXISTS change_feed_horizon;
