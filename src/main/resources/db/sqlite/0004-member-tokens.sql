-- What members' signed tokens stand on.

-- The public halves of the keys that any process on this store signs with; expires_at is when the
-- last token signed with one has expired.
CREATE TABLE signing_key (
  kid TEXT PRIMARY KEY,
  public_jwk TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  retired_at INTEGER,
  expires_at INTEGER NOT NULL
);

-- Secrets that every process on this store has to agree on.
CREATE TABLE service_secret (
  name TEXT PRIMARY KEY,
  secret TEXT NOT NULL
);

-- Tokens that are refused though they have not expired; a row goes when they have.
CREATE TABLE revoked_grant (
  grant_id TEXT PRIMARY KEY,
  kept_until INTEGER NOT NULL
);
CREATE TABLE member_cutoff (
  org_id TEXT NOT NULL,
  username TEXT NOT NULL,
  issued_until INTEGER NOT NULL,
  kept_until INTEGER NOT NULL,
  PRIMARY KEY (org_id, username)
);
