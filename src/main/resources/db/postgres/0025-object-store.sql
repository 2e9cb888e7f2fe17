-- Bytes in object stores, each named by its address: what exists there is what these rows say.

-- Uploads. The state is open, completing, complete or aborting; each opening raises the epoch, which
-- the commits of earlier ones then miss; its objects are called the base with an epoch behind it.
CREATE TABLE blob_upload (
  store TEXT COLLATE "C" NOT NULL,
  upload TEXT COLLATE "C" NOT NULL,
  epoch BIGINT NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  base TEXT COLLATE "C" NOT NULL,
  object TEXT COLLATE "C",
  multipart_id TEXT COLLATE "C",
  bytes BIGINT NOT NULL,
  changed_at BIGINT NOT NULL,
  PRIMARY KEY (store, upload)
);
CREATE INDEX blob_upload_state ON blob_upload (store, state, changed_at);
CREATE INDEX blob_upload_multipart ON blob_upload (store, multipart_id)
  WHERE multipart_id IS NOT NULL;

-- Parts of multipart uploads that the store has taken, and the tags it gave them.
CREATE TABLE blob_part (
  store TEXT COLLATE "C" NOT NULL,
  upload TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  tag TEXT COLLATE "C" NOT NULL,
  bytes BIGINT NOT NULL,
  PRIMARY KEY (store, upload, number)
);

-- Objects that hold an upload's bytes behind its last part; kept is 1 once the object is there.
CREATE TABLE blob_piece (
  store TEXT COLLATE "C" NOT NULL,
  object TEXT COLLATE "C" NOT NULL,
  upload TEXT COLLATE "C" NOT NULL,
  start BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  kept BIGINT NOT NULL,
  made_at BIGINT NOT NULL,
  PRIMARY KEY (store, object)
);
CREATE INDEX blob_piece_upload ON blob_piece (store, upload, start);

-- Blobs and their objects.
CREATE TABLE blob (
  store TEXT COLLATE "C" NOT NULL,
  blob_key TEXT COLLATE "C" NOT NULL,
  object TEXT COLLATE "C" NOT NULL,
  bytes BIGINT NOT NULL,
  stored_at BIGINT NOT NULL,
  PRIMARY KEY (store, blob_key)
);
