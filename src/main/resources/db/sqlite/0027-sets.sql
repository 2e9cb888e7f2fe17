-- Sets: items of several files. Their content is a manifest; files is how many it names, 0 for a single file.
ALTER TABLE checkpoint_revision ADD COLUMN files INTEGER NOT NULL DEFAULT 0;

-- A file of a set, by its place in the announcement. blob_key is null while its bytes are awaited.
CREATE TABLE checkpoint_file (
  item_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  number INTEGER NOT NULL,
  path TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  blob_key TEXT,
  PRIMARY KEY (item_id, revision, number)
);
CREATE INDEX checkpoint_file_blob ON checkpoint_file (blob_key) WHERE blob_key IS NOT NULL;
CREATE INDEX checkpoint_file_first ON checkpoint_file (item_id, revision) WHERE number = 0;
CREATE INDEX checkpoint_file_digest ON checkpoint_file (item_id, revision, sha256);

-- The bytes of files of sets, shared among the sets of an organization: refs is how many rows of
-- checkpoint_file name them. The row goes with the last of those.
CREATE TABLE checkpoint_blob (
  blob_key TEXT PRIMARY KEY,
  org_id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  findings TEXT NOT NULL,
  refs INTEGER NOT NULL
);
CREATE INDEX checkpoint_blob_digest ON checkpoint_blob (org_id, sha256);
