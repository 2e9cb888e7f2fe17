-- Where organizations have their trail sent, a sealed batch at a time: to an address, or to s3://… with access_key_id.
-- The secret that signs, or that the object store demands, is in encrypted_secret under
-- trail-stream/<stream_id>/<secret_version>; the version before signs beside it until old_secret_until. writes_batch
-- and reads_batch are the last batches that the receiver has taken of each chain; reads_batch is null before reads
-- were first asked for. tries to fault concern the batch that is next.
CREATE TABLE trail_stream (
  org_id TEXT PRIMARY KEY REFERENCES org (org_id),
  stream_id TEXT NOT NULL,
  destination TEXT NOT NULL,
  access_key_id TEXT,
  include_reads INTEGER NOT NULL,
  writes_batch INTEGER NOT NULL,
  reads_batch INTEGER,
  tries INTEGER NOT NULL,
  first_try_at INTEGER,
  last_try_at INTEGER,
  next_try_at INTEGER NOT NULL,
  status INTEGER,
  fault TEXT,
  disabled_at INTEGER,
  disabled_reason TEXT,
  secret_version INTEGER NOT NULL,
  old_secret_until INTEGER,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL
);
CREATE INDEX trail_stream_rotated ON trail_stream (old_secret_until) WHERE old_secret_until IS NOT NULL;
