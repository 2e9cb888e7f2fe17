-- The roster's further facts, the operators' tokens, and the seals of the audit trail.

ALTER TABLE org ADD COLUMN retired_at INTEGER;

ALTER TABLE member ADD COLUMN last_login_at INTEGER;
ALTER TABLE member ADD COLUMN suspended_at INTEGER;

-- A rule of kind email is an invitation until a member carries that address.
CREATE TABLE join_rule (
  rule_id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES org (org_id),
  kind TEXT NOT NULL,
  value TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  link_expires_at INTEGER
);
CREATE UNIQUE INDEX join_rule_value ON join_rule (org_id, kind, value);

CREATE TABLE operator_token (
  token_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  secret_sha256 TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
);

-- What an operator set for one cluster, in the place of its pool's.
ALTER TABLE cluster ADD COLUMN cap_cents INTEGER;
ALTER TABLE cluster ADD COLUMN env TEXT;

-- A batch of an organization's trail: reads and writes are sealed apart, for they are kept for
-- different times. The seal is a digest over the previous one and over row_digests' first 32 bytes,
-- the digest over the rows' digests; each row's id and the beginning of its digest follow, until the
-- rows are purged.
CREATE TABLE audit_seal (
  org_id TEXT NOT NULL,
  is_read INTEGER NOT NULL,
  batch INTEGER NOT NULL,
  first_id INTEGER NOT NULL,
  last_id INTEGER NOT NULL,
  row_count INTEGER NOT NULL,
  newest_at INTEGER NOT NULL,
  row_digests BLOB NOT NULL,
  seal TEXT NOT NULL,
  sealed_at INTEGER NOT NULL,
  purged_at INTEGER,
  PRIMARY KEY (org_id, is_read, batch)
);
CREATE INDEX audit_seal_kept ON audit_seal (is_read, newest_at) WHERE purged_at IS NULL;

-- How far the trail is sealed: every row up to this id is in a batch.
CREATE TABLE audit_sealed (
  name TEXT PRIMARY KEY,
  through_id INTEGER NOT NULL
);
