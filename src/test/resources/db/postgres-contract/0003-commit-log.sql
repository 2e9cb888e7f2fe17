-- The groups of commits that processes have stored, each in the transaction of its group. A sender counts its groups
-- without gaps. Changes are what other processes are to know, a line each; null in a tombstone, which keeps a group
-- whose outcome was unknown from being stored later. Times are the server's.
CREATE TABLE commit_log (
  sender TEXT COLLATE "C" NOT NULL,
  seq BIGINT NOT NULL,
  changes TEXT,
  at_ms BIGINT NOT NULL DEFAULT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT,
  PRIMARY KEY (sender, seq)
);
