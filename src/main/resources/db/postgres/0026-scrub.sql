-- The slow check of stored bytes, which all processes do together.

-- Where it is: the blob that was taken up last, and what its pace is counted from. There is one row.
CREATE TABLE scrub_mark (
  name TEXT COLLATE "C" PRIMARY KEY,
  position TEXT COLLATE "C" NOT NULL,
  round BIGINT NOT NULL,
  round_since BIGINT NOT NULL,
  paced_from BIGINT NOT NULL,
  paced_bytes BIGINT NOT NULL,
  checked_blobs BIGINT NOT NULL,
  checked_bytes BIGINT NOT NULL,
  version BIGINT NOT NULL
);

-- The blobs that are being checked, or are to be checked next. Whoever takes one advances its
-- attempts, and goes on telling that it is at it.
CREATE TABLE scrub_claim (
  blob_key TEXT COLLATE "C" PRIMARY KEY,
  told_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL
);

-- Blobs that were found lost or changed, until they are found whole or are of no more use.
CREATE TABLE scrub_fault (
  blob_key TEXT COLLATE "C" PRIMARY KEY,
  item_id TEXT COLLATE "C" NOT NULL,
  revision BIGINT NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  detail TEXT COLLATE "C" NOT NULL,
  found_at BIGINT NOT NULL,
  checked_at BIGINT NOT NULL
);

-- How many blobs there are, and their bytes together.
CREATE INDEX checkpoint_stored ON checkpoint_revision (bytes) WHERE sha256 IS NOT NULL;
