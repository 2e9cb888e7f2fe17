-- Bytes in object stores, each named by its address: what exists there is what these rows say.

-- Uploads. The state is open, completing, complete or aborting; each opening raises the epoch, which
-- the commits of earlier ones then miss; its objects are called the base with an epoch behind it.
CREATE TABLE blob_upload (
  store TEXT NOT NULL,
  upload TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  state TEXT NOT NULL,
  base TEXT NOT NULL,
  object TEXT,
  multipart_id TEXT,
  bytes INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (store, upload)
);
CREATE INDEX blob_upload_state ON blob_upload (store, state, changed_at);
CREATE INDEX blob_upload_multipart ON blob_upload (store, multipart_id)
  WHERE multipart_id IS NOT NULL;

-- Parts of multipart uploads that the store has taken, and the tags it gave them.
CREATE TABLE blob_part (
  store TEXT NOT NULL,
  upload TEXT NOT NULL,
  number INTEGER NOT NULL,
  tag TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (store, upload, number)
);

-- Objects that hold an upload's bytes behind its last part; kept is 1 once the object is there.
CREATE TABLE blob_piece (
  store TEXT NOT NULL,
  object TEXT NOT NULL,
  upload TEXT NOT NULL,
  start INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  kept INTEGER NOT NULL,
  made_at INTEGER NOT NULL,
  PRIMARY KEY (store, object)
);
CREATE INDEX blob_piece_upload ON blob_piece (store, upload, start);

-- Blobs and their objects.
CREATE TABLE blob (
  store TEXT NOT NULL,
  blob_key TEXT NOT NULL,
  object TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  stored_at INTEGER NOT NULL,
  PRIMARY KEY (store, blob_key)
);
