-- The slow check of stored bytes, which all processes do together.

-- Where it is: the blob that was taken up last, and what its pace is counted from. There is one row.
CREATE TABLE scrub_mark (
  name TEXT PRIMARY KEY,
  position TEXT NOT NULL,
  round INTEGER NOT NULL,
  round_since INTEGER NOT NULL,
  paced_from INTEGER NOT NULL,
  paced_bytes INTEGER NOT NULL,
  checked_blobs INTEGER NOT NULL,
  checked_bytes INTEGER NOT NULL,
  version INTEGER NOT NULL
);

-- The blobs that are being checked, or are to be checked next. Whoever takes one advances its
-- attempts, and goes on telling that it is at it.
CREATE TABLE scrub_claim (
  blob_key TEXT PRIMARY KEY,
  told_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL
);

-- Blobs that were found lost or changed, until they are found whole or are of no more use.
CREATE TABLE scrub_fault (
  blob_key TEXT PRIMARY KEY,
  item_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL,
  found_at INTEGER NOT NULL,
  checked_at INTEGER NOT NULL
);

-- How many blobs there are, and their bytes together.
CREATE INDEX checkpoint_stored ON checkpoint_revision (bytes) WHERE sha256 IS NOT NULL;
