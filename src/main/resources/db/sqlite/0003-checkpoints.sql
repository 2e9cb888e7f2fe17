-- Published files: what they are. Their bytes are in the blob store.

-- An item. The draft's bytes are awaited, the head is the newest complete revision, the live one is
-- what readers get. Each names a row of checkpoint_revision. The platform's org_id is empty.
CREATE TABLE checkpoint (
  item_id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL,
  visibility TEXT NOT NULL,
  filename TEXT NOT NULL,
  creator TEXT NOT NULL,
  publisher_name TEXT,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  last_revision INTEGER NOT NULL,
  version INTEGER NOT NULL,
  draft_revision INTEGER,
  head_revision INTEGER,
  live_revision INTEGER,
  search TEXT NOT NULL,
  feed_at INTEGER,
  feed_search TEXT
);
CREATE UNIQUE INDEX checkpoint_place ON checkpoint (org_id, visibility, filename);
CREATE INDEX checkpoint_of_org ON checkpoint (org_id, changed_at, item_id);
CREATE INDEX checkpoint_feed ON checkpoint (feed_at, item_id) WHERE feed_at IS NOT NULL;

CREATE TABLE checkpoint_revision (
  item_id TEXT NOT NULL REFERENCES checkpoint (item_id),
  revision INTEGER NOT NULL,
  state TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  filename TEXT NOT NULL,
  content_type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  declared_sha256 TEXT,
  resumable INTEGER NOT NULL,
  session_sha256 TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  sha256 TEXT,
  published_at INTEGER,
  review_id TEXT,
  findings TEXT NOT NULL,
  rejection_reason TEXT,
  PRIMARY KEY (item_id, revision)
);
CREATE UNIQUE INDEX checkpoint_session ON checkpoint_revision (session_sha256)
  WHERE session_sha256 IS NOT NULL;
CREATE INDEX checkpoint_awaited ON checkpoint_revision (state, expires_at);
CREATE UNIQUE INDEX checkpoint_review ON checkpoint_revision (review_id)
  WHERE review_id IS NOT NULL;

-- What an organization's items hold: bytes reserved or used, and items.
CREATE TABLE checkpoint_usage (
  org_id TEXT PRIMARY KEY,
  used_bytes INTEGER NOT NULL,
  items INTEGER NOT NULL
);

-- Uploads and blobs that no row names any more, until they are deleted.
CREATE TABLE checkpoint_garbage (
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  since INTEGER NOT NULL,
  PRIMARY KEY (name, kind)
);
CREATE INDEX checkpoint_garbage_age ON checkpoint_garbage (since, name, kind);
