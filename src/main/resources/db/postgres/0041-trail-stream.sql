-- Where organizations have their trail sent, a sealed batch at a time: to an address, or to s3://… with access_key_id.
-- The secret that signs, or that the object store demands, is in encrypted_secret under
-- trail-stream/<stream_id>/<secret_version>; the version before signs beside it until old_secret_until. writes_batch
-- and reads_batch are the last batches that the receiver has taken of each chain; reads_batch is null before reads
-- were first asked for. tries to fault concern the batch that is next.
CREATE TABLE trail_stream (
  org_id TEXT COLLATE "C" PRIMARY KEY REFERENCES org (org_id),
  stream_id TEXT COLLATE "C" NOT NULL,
  destination TEXT COLLATE "C" NOT NULL,
  access_key_id TEXT COLLATE "C",
  include_reads BIGINT NOT NULL,
  writes_batch BIGINT NOT NULL,
  reads_batch BIGINT,
  tries BIGINT NOT NULL,
  first_try_at BIGINT,
  last_try_at BIGINT,
  next_try_at BIGINT NOT NULL,
  status BIGINT,
  fault TEXT COLLATE "C",
  disabled_at BIGINT,
  disabled_reason TEXT COLLATE "C",
  secret_version BIGINT NOT NULL,
  old_secret_until BIGINT,
  revision BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT COLLATE "C" NOT NULL
);
CREATE INDEX trail_stream_rotated ON trail_stream (old_secret_until) WHERE old_secret_until IS NOT NULL;
