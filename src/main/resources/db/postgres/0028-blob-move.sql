-- Moving stored files from one store of bytes to another. There is one row for the last move that was
-- asked for; left_blobs is what its last walk found to be done still, -1 before the first.
CREATE TABLE blob_move (
  name TEXT COLLATE "C" PRIMARY KEY,
  from_store TEXT COLLATE "C" NOT NULL,
  to_store TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  asked_at BIGINT NOT NULL,
  ended_at BIGINT,
  moved_blobs BIGINT NOT NULL,
  moved_bytes BIGINT NOT NULL,
  left_blobs BIGINT NOT NULL
);

-- Blobs that are being copied; whoever takes one advances its attempts, and goes on telling so.
CREATE TABLE blob_move_claim (
  blob_key TEXT COLLATE "C" PRIMARY KEY,
  told_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL
);

-- Blobs that were moved, until they are deleted where they were.
CREATE TABLE blob_moved (
  blob_key TEXT COLLATE "C" NOT NULL,
  store TEXT COLLATE "C" NOT NULL,
  moved_at BIGINT NOT NULL,
  PRIMARY KEY (store, blob_key)
);
CREATE INDEX blob_moved_age ON blob_moved (store, moved_at);

-- Blobs that cannot be moved, because they are lost or changed where they are.
CREATE TABLE blob_move_fault (
  blob_key TEXT COLLATE "C" PRIMARY KEY,
  item_id TEXT COLLATE "C" NOT NULL,
  revision BIGINT NOT NULL,
  detail TEXT COLLATE "C" NOT NULL,
  found_at BIGINT NOT NULL
);
