-- Moving stored files from one store of bytes to another. There is one row for the last move that was
-- asked for; left_blobs is what its last walk found to be done still, -1 before the first.
CREATE TABLE blob_move (
  name TEXT PRIMARY KEY,
  from_store TEXT NOT NULL,
  to_store TEXT NOT NULL,
  state TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  ended_at INTEGER,
  moved_blobs INTEGER NOT NULL,
  moved_bytes INTEGER NOT NULL,
  left_blobs INTEGER NOT NULL
);

-- Blobs that are being copied; whoever takes one advances its attempts, and goes on telling so.
CREATE TABLE blob_move_claim (
  blob_key TEXT PRIMARY KEY,
  told_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL
);

-- Blobs that were moved, until they are deleted where they were.
CREATE TABLE blob_moved (
  blob_key TEXT NOT NULL,
  store TEXT NOT NULL,
  moved_at INTEGER NOT NULL,
  PRIMARY KEY (store, blob_key)
);
CREATE INDEX blob_moved_age ON blob_moved (store, moved_at);

-- Blobs that cannot be moved, because they are lost or changed where they are.
CREATE TABLE blob_move_fault (
  blob_key TEXT PRIMARY KEY,
  item_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  detail TEXT NOT NULL,
  found_at INTEGER NOT NULL
);
