-- Published files: what they are. Their bytes are in the blob store.

-- An item. The draft's bytes are awaited, the head is the newest complete revision, the live one is
-- what readers get. Each names a row of checkpoint_revision. The platform's org_id is empty.
CREATE TABLE checkpoint (
  item_id TEXT COLLATE "C" PRIMARY KEY,
  org_id TEXT COLLATE "C" NOT NULL,
  visibility TEXT COLLATE "C" NOT NULL,
  filename TEXT COLLATE "C" NOT NULL,
  creator TEXT COLLATE "C" NOT NULL,
  publisher_name TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  changed_at BIGINT NOT NULL,
  last_revision BIGINT NOT NULL,
  version BIGINT NOT NULL,
  draft_revision BIGINT,
  head_revision BIGINT,
  live_revision BIGINT,
  search TEXT COLLATE "C" NOT NULL,
  feed_at BIGINT,
  feed_search TEXT COLLATE "C"
);
CREATE UNIQUE INDEX checkpoint_place ON checkpoint (org_id, visibility, filename);
CREATE INDEX checkpoint_of_org ON checkpoint (org_id, changed_at, item_id);
CREATE INDEX checkpoint_feed ON checkpoint (feed_at, item_id) WHERE feed_at IS NOT NULL;

CREATE TABLE checkpoint_revision (
  item_id TEXT COLLATE "C" NOT NULL REFERENCES checkpoint (item_id),
  revision BIGINT NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  title TEXT COLLATE "C" NOT NULL,
  description TEXT COLLATE "C" NOT NULL,
  filename TEXT COLLATE "C" NOT NULL,
  content_type TEXT COLLATE "C" NOT NULL,
  bytes BIGINT NOT NULL,
  declared_sha256 TEXT COLLATE "C",
  resumable BIGINT NOT NULL,
  session_sha256 TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  sha256 TEXT COLLATE "C",
  published_at BIGINT,
  review_id TEXT COLLATE "C",
  findings TEXT COLLATE "C" NOT NULL,
  rejection_reason TEXT COLLATE "C",
  PRIMARY KEY (item_id, revision)
);
CREATE UNIQUE INDEX checkpoint_session ON checkpoint_revision (session_sha256)
  WHERE session_sha256 IS NOT NULL;
CREATE INDEX checkpoint_awaited ON checkpoint_revision (state, expires_at);
CREATE UNIQUE INDEX checkpoint_review ON checkpoint_revision (review_id)
  WHERE review_id IS NOT NULL;

-- What an organization's items hold: bytes reserved or used, and items.
CREATE TABLE checkpoint_usage (
  org_id TEXT COLLATE "C" PRIMARY KEY,
  used_bytes BIGINT NOT NULL,
  items BIGINT NOT NULL
);

-- Uploads and blobs that no row names any more, until they are deleted.
CREATE TABLE checkpoint_garbage (
  name TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  since BIGINT NOT NULL,
  PRIMARY KEY (name, kind)
);
CREATE INDEX checkpoint_garbage_age ON checkpoint_garbage (since, name, kind);
