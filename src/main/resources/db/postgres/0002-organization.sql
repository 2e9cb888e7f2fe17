-- The roster's further facts, the operators' tokens, and the seals of the audit trail.

ALTER TABLE org ADD COLUMN retired_at BIGINT;

ALTER TABLE member ADD COLUMN last_login_at BIGINT;
ALTER TABLE member ADD COLUMN suspended_at BIGINT;

-- A rule of kind email is an invitation until a member carries that address.
CREATE TABLE join_rule (
  rule_id TEXT COLLATE "C" PRIMARY KEY,
  org_id TEXT COLLATE "C" NOT NULL REFERENCES org (org_id),
  kind TEXT COLLATE "C" NOT NULL,
  value TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT COLLATE "C" NOT NULL,
  link_expires_at BIGINT
);
CREATE UNIQUE INDEX join_rule_value ON join_rule (org_id, kind, value);

CREATE TABLE operator_token (
  token_id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL,
  secret_sha256 TEXT COLLATE "C" NOT NULL,
  created_by TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  revoked_at BIGINT
);

-- What an operator set for one cluster, in the place of its pool's.
ALTER TABLE cluster ADD COLUMN cap_cents BIGINT;
ALTER TABLE cluster ADD COLUMN env TEXT COLLATE "C";

-- A batch of an organization's trail: reads and writes are sealed apart, for they are kept for
-- different times. The seal is a digest over the previous one and over row_digests' first 32 bytes,
-- the digest over the rows' digests; each row's id and the beginning of its digest follow, until the
-- rows are purged.
CREATE TABLE audit_seal (
  org_id TEXT COLLATE "C" NOT NULL,
  is_read BIGINT NOT NULL,
  batch BIGINT NOT NULL,
  first_id BIGINT NOT NULL,
  last_id BIGINT NOT NULL,
  row_count BIGINT NOT NULL,
  newest_at BIGINT NOT NULL,
  row_digests BYTEA NOT NULL,
  seal TEXT COLLATE "C" NOT NULL,
  sealed_at BIGINT NOT NULL,
  purged_at BIGINT,
  PRIMARY KEY (org_id, is_read, batch)
);
CREATE INDEX audit_seal_kept ON audit_seal (is_read, newest_at) WHERE purged_at IS NULL;

-- How far the trail is sealed: every row up to this id is in a batch.
CREATE TABLE audit_sealed (
  name TEXT COLLATE "C" PRIMARY KEY,
  through_id BIGINT NOT NULL
);
